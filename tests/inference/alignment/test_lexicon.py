import numpy as np
import pytest

from anaphora.inference.alignment.lexicon import FLOOR, Lexicon

KEYS = np.array([4 * 10 + 5, 4 * 10 + 6, 7 * 10 + 5])


def test_the_words_of_a_source_share_its_counts_and_what_was_never_seen_has_the_least_probability() -> None:
    lexicon = Lexicon.even(KEYS, 10).maximise(np.array([3.0, 1.0, 5.0]))
    found = lexicon.of(lexicon.entries(np.array([45, 46, 75, 44, 99])))
    np.testing.assert_allclose(found, [0.75, 0.25, 1, FLOOR, FLOOR])
    empty = Lexicon(KEYS[:0], np.empty(0), 10)
    assert empty.of(empty.entries(KEYS)).tolist() == [FLOOR] * 3
    rare = lexicon.maximise(np.array([1.0, 1e-12, 0.0]))
    pruned = rare.prune()
    assert pruned.keys.tolist() == [45] and rare.probs[2] == pytest.approx(FLOOR)
    np.testing.assert_array_equal(pruned.of(pruned.entries(KEYS)), rare.probs)
