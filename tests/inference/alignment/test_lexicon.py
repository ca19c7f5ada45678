import numpy as np
import pytest

from anaphora.inference.alignment.lexicon import FLOOR, Lexicon

KEYS = np.array([4 * 10 + 5, 4 * 10 + 6, 7 * 10 + 5])


def test_the_words_of_a_source_share_its_counts() -> None:
    lexicon = Lexicon.even(KEYS, 10).maximise(np.array([3.0, 1.0, 5.0]))
    np.testing.assert_allclose(lexicon.probs, [0.75, 0.25, 1.0])


def test_a_pair_that_was_never_seen_has_the_least_probability() -> None:
    lexicon = Lexicon.even(KEYS, 10)
    np.testing.assert_allclose(
        lexicon.of(lexicon.entries(np.array([[45, 75], [44, 99]]))), [[0.5, 1.0], [FLOOR, FLOOR]]
    )
    empty = Lexicon(KEYS[:0], np.empty(0), 10)
    assert empty.of(empty.entries(KEYS)).tolist() == [FLOOR] * 3


def test_what_is_no_likelier_than_an_unseen_pair_is_left_out_and_reads_the_same() -> None:
    lexicon = Lexicon.even(KEYS, 10).maximise(np.array([1.0, 1e-12, 0.0]))
    pruned = lexicon.prune()
    assert pruned.keys.tolist() == [45]
    np.testing.assert_array_equal(pruned.of(pruned.entries(KEYS)), lexicon.probs)
    assert lexicon.probs[2] == pytest.approx(FLOOR)
