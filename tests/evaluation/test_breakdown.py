import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.evaluation.breakdown import by_length, by_unknown_words, words_of_text


@given(st.lists(st.integers(0, 70)))
def test_every_sentence_is_in_the_group_of_its_length_and_in_no_other(lengths: list[int]) -> None:
    groups = by_length(" ".join(["word"] * length) for length in lengths)
    assert sorted(number for numbers in groups.values() for number in numbers) == list(range(len(lengths)))
    borders = [int(name.split()[-2].split("-")[0]) for name in groups]  # from short to long
    assert borders == sorted(borders)
    for name, numbers in groups.items():
        if "over" in name:
            assert all(lengths[number] > 50 for number in numbers)
        else:
            low, high = map(int, name.split()[1].split("-"))
            assert all(low <= lengths[number] <= high for number in numbers)


def test_one_unknown_word_makes_a_sentence_one_with_unknown_words() -> None:
    known = frozenset({"a", "man", "walks"})
    sources = ["a man walks.", "a dog walks.", "", "A man"]
    found = by_unknown_words(sources, known, lowercase=False)
    assert found == {"words seen in training": [0, 2], "words new to training": [1, 3]}
    assert by_unknown_words(sources, known, lowercase=True)["words new to training"] == [1]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("वह पानी पीता है।", ["वह", "पानी", "पीता", "है"]),
        ("猫が", ["猫", "が"]),
        ("uống nước", ["uống", "nước"]),
        ("“Löwe”, can't 3-4!", ["Löwe", "can", "t", "3", "4"]),
    ],
)
def test_words_are_whole_in_every_script_and_composed(text: str, found: list[str]) -> None:
    for form in ("NFC", "NFD"):
        assert words_of_text(unicodedata.normalize(form, text), lowercase=False) == found
    assert words_of_text(text, lowercase=True) == [word.lower() for word in found]
