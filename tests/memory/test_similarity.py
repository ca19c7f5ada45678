"""Similarity: the edit distance between words, and an index that finds what is similar enough."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.memory.memory import END, Index, distance, percent, places, words, words_of_all

WORDS = st.lists(st.sampled_from("abcd"), max_size=9)


def plain_distance(one: list[str], other: list[str]) -> int:
    """The table of Wagner and Fischer (1974)."""
    row = list(range(len(other) + 1))
    for i, word in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, its in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (word != its))
    return row[-1]


@given(WORDS, WORDS)
def test_the_distance_is_that_of_the_table(one: list[str], other: list[str]) -> None:
    assert distance(places(one), len(one), other) == plain_distance(one, other)


@pytest.mark.parametrize("length", [63, 64, 65, 500])
def test_the_distance_of_long_texts_is_that_of_the_table(length: int) -> None:
    one = [str(number % 7) for number in range(length)]
    other = [str(number % 5) for number in range(length - 3)]
    assert distance(places(one), len(one), other) == plain_distance(one, other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Save the file.", ["save", "the", "file", "."]),
        ("don't %s", ["don", "'", "t", "%", "s"]),
        ("保存文件", ["保", "存", "文", "件"]),
        ("Ubuntuの設定", ["ubuntu", "の", "設", "定"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        (" \u3000\n", []),
    ],
)
def test_words_are_words_marks_and_characters_of_scripts_without_spaces(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_words_of_one_text_are_those_among_others() -> None:
    texts = ["Save the file.", "", "保存 file", "a\0b", " "]
    found = " ".join(words_of_all(texts)).split(END)
    assert [one.split() for one in found] == [*([*words(text.replace(END, " "))] for text in texts), []]


@pytest.mark.parametrize("begin", [*range(0, 0x3000, 0x400), 0x4E00, 0xFF00, 0x1F600])
def test_a_character_is_the_same_word_beside_any_other(begin: int) -> None:
    for character in map(chr, range(begin, begin + 0x400)):
        text = f"a{character}b {character} {character * 2} c"
        assert [*words(text), "本"] == words(f"{text} 本"), hex(ord(character))


def test_another_text_is_never_similar_by_100_percent() -> None:
    assert (percent(0, 3), percent(1, 4), percent(1, 3), percent(5, 5), percent(0, 0)) == (99, 75, 66, 0, 0)


@given(st.lists(WORDS, max_size=12), WORDS, st.integers(1, 100), st.integers(1, 5), st.integers(0, 12))
def test_the_index_finds_what_a_comparison_with_all_segments_finds(
    segments: list[list[str]], asked: list[str], least: int, most: int, pages: int
) -> None:
    index = Index()
    numbered = list(enumerate(map(" ".join, segments), 1))
    index.add(numbered[:pages])
    index.add(numbered[pages:])
    every = []
    for number, segment in enumerate(segments, 1):
        longer = max(len(segment), len(asked))
        edits = plain_distance(asked, segment)
        if asked and longer and (similarity := min(99, int(100 * Fraction(longer - edits, longer)))) >= least:
            every.append((similarity, number))
    wanted = sorted(every, reverse=True)[:most]
    found = index.similar(" ".join(asked), least, most)
    assert [one.percent for one in found] == [similarity for similarity, _ in wanted]
    assert {tuple(one) for one in found} <= set(every)
