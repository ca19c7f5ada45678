"""Scores of strings; tests/memory compares the edit distance with that of another algorithm."""

from hypothesis import given
from hypothesis import strategies as st

from anaphora.evaluation.strings import StringScores, edit_distance, in_common

strings = st.text("abc", max_size=6)


def test_the_edit_distance_counts_symbols() -> None:
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance(["AA1", "K"], ["AA2", "K", "S"]) == 2


def test_the_nearest_of_several_answers_counts() -> None:
    scores = StringScores.of(["ab", "xyz"], [["abc", "ab"], ["xy", "abcdef"]])
    assert (scores.accuracy, scores.word_error_rate) == (0.5, 0.5)
    assert (scores.edit_distance, scores.symbol_error_rate) == (0.5, 1 / 4)


@given(strings, strings)
def test_what_is_in_common_is_a_longest_common_subsequence(first: str, second: str) -> None:
    kept = [symbol for symbol, right in zip(first, in_common(first, second), strict=True) if right]
    rest = iter(second)
    assert all(symbol in rest for symbol in kept)
    # without replacements, what is not in common is inserted or deleted
    longest = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, one in enumerate(first, 1):
        for j, other in enumerate(second, 1):
            longest[i][j] = longest[i - 1][j - 1] + 1 if one == other else max(longest[i - 1][j], longest[i][j - 1])
    assert len(kept) == longest[-1][-1]
