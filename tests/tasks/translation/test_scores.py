"""What is said of unknown words is what became of them."""

import pytest

from anaphora.prediction.options import SearchOptions
from anaphora.tasks.translation import Translation
from anaphora.tasks.translation.evaluation import TranslationScores


@pytest.mark.parametrize(
    ("text", "replacement", "left", "said"),
    [
        ("A <unk> and <unk>", None, 2, "2 unknown words left"),
        ("A cat and <unk>", None, 1, "2 unknown words of which 1 left"),
        ("A cat and dog", None, 0, "2 unknown words replaced"),
        ("A cat and dog", {}, 0, "2 unknown words replaced"),
    ],
)
def test_words_that_were_filled_in_are_not_said_to_be_left(
    text: str, replacement: dict[str, str] | None, left: int, said: str
) -> None:
    output = Translation(text, -1.0, True, unknown=2)
    search = SearchOptions(beam=1, length_penalty=0.0, replace_unknown=replacement)
    scores = TranslationScores(search, "en", ["raw"], ["x"], ["A cat"], [output])
    assert (scores.unknown, scores.left) == (2, left)
    assert said in str(scores)
    assert scores.json()["unknown_words"] == 2 and scores.json()["unknown_replaced"] == (left < 2)


def test_what_decodes_to_another_sign_is_left_too() -> None:
    output = Translation("a \N{REPLACEMENT CHARACTER}", -1.0, True, unknown=1)
    search = SearchOptions(beam=1, length_penalty=0.0)
    scores = TranslationScores(search, "en", ["raw"], ["x"], ["a b"], [output])
    assert (scores.unknown, scores.left) == (1, 1) and "1 unknown words left" in str(scores)
