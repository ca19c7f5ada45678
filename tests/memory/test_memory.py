"""What a memory finds for a text, and in which order."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.evaluation.strings import edit_distance
from anaphora.memory import Memory, Segment
from anaphora.memory.memory import END, Index, distance, places, words, words_of_all


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path, create=True) as made:
        yield made


def targets(memory: Memory, source: str, before: str = "", after: str = "") -> list[str]:
    return [match.segment.target for match in memory.exact(source, before, after)]


def test_an_exact_match_differs_in_white_space_alone(memory: Memory) -> None:
    memory.add([Segment("Save the  file", "Datei speichern")], "a.tmx")
    assert targets(memory, " Save\tthe file\n") == ["Datei speichern"]
    assert targets(memory, "save the file") == targets(memory, "Save the file.") == []
    [match] = memory.exact("Save the file")
    assert (str(match), match.segment.origin, match.segment.source) == ("exact", "a.tmx", "Save the  file")


def test_the_same_neighbours_go_before_the_newest(memory: Memory) -> None:
    memory.add([Segment("Open", "Auf", "Door", "Window"), Segment("Open", "halb auf", "Door", "Cat")], "a")
    memory.confirm(Segment("Open", "Öffnen"))
    assert targets(memory, "Open")[0] == "Öffnen"
    assert targets(memory, "Open", "Door", "Window")[0] == "Auf"
    assert targets(memory, "Open", "", "Cat")[0] == "halb auf"
    assert targets(memory, "Open", "Dog")[0] == "Öffnen"


def test_the_newest_goes_before_the_most_frequent(memory: Memory) -> None:
    memory.add([Segment("Save", "Sichern"), Segment("Save", "Speichern"), Segment("Save", "Sichern")], "a")
    assert targets(memory, "Save") == ["Sichern", "Speichern"]
    memory.confirm(Segment("Save", "Ablegen"))
    assert targets(memory, "Save") == ["Ablegen", "Sichern", "Speichern"]
    memory.confirm(Segment("Save", "Speichern"))
    assert targets(memory, "Save") == ["Speichern", "Ablegen", "Sichern"]


def test_confirming_what_is_found_first_adds_nothing(memory: Memory) -> None:
    number = memory.confirm(Segment("Save", "Sichern"))
    assert number and memory.confirm(Segment("Save", "Sichern")) is None
    assert memory.confirm(Segment("Save", "Speichern")) and memory.confirm(Segment("Save", "Sichern"))
    assert len(memory) == 3


def test_a_file_can_be_added_again(memory: Memory) -> None:
    week = [Segment("Save", "Sichern"), Segment("Save", "Sichern"), Segment("Open", "Öffnen")]
    assert [memory.add(week, "week.tmx"), memory.add(week, "week.tmx"), len(memory)] == [2, 0, 2]
    assert memory.add([*week, Segment("Close", "Schließen")], "week.tmx") == 1
    assert memory.exact("Save")[0].segment.times == 2
    assert memory.origins() == {"week.tmx": 3}


def test_fuzzy_matches_have_their_score_and_exclude_the_text_itself(memory: Memory) -> None:
    memory.add([Segment(source, source.upper()) for source in ("open the file", "Open the door", "shut a door")], "a")
    [match] = memory.fuzzy("open the  file", least=30)
    assert (match.segment.source, match.percent, str(match)) == ("Open the door", 66, "fuzzy 66%")
    assert memory.fuzzy("open the file") == []
    assert [match.percent for match in memory.fuzzy("OPEN THE FILE", most=1)] == [99]


def test_fuzzy_matches_see_what_is_added_and_removed_later(memory: Memory, tmp_path: Path) -> None:
    assert memory.fuzzy("open the small file") == []
    with Memory(tmp_path) as other:
        number = other.confirm(Segment("open the large file", "A"))
        assert number
        assert [match.segment.target for match in memory.fuzzy("open the small file")] == ["A"]
        assert other.remove([number]) == 1
    assert memory.fuzzy("open the small file") == []


def test_exact_ones_do_not_take_the_place_of_fuzzy_ones(memory: Memory) -> None:
    memory.add([Segment("open the file", str(number)) for number in range(20)], "a")
    memory.add([Segment("open the file now", "B")], "b")
    assert [match.segment.target for match in memory.fuzzy("open the file", most=1)] == ["B"]


def test_find_has_the_same_texts_then_similar_ones(memory: Memory) -> None:
    memory.add([Segment("open the big file", "A"), Segment("open the big files", "B")], "a")
    assert [(m.segment.target, m.percent) for m in memory.find("open the big file")] == [("A", 100), ("B", 75)]
    assert [m.percent for m in memory.find("open the big fil")] == [75, 75]
    assert [m.percent for m in memory.find("Open the big file", 100)] == []


def test_removing_an_origin_removes_its_segments_alone(memory: Memory) -> None:
    memory.add([Segment("a", "A"), Segment("b", "B")], "one.po")
    memory.add([Segment("a", "AA")], "two.po")
    assert memory.remove_origin("one.po") == 2
    assert [one.target for one in memory] == ["AA"]
    assert memory.remove([99]) == 0


WORDS = st.lists(st.sampled_from("abcd"), max_size=9)


@given(WORDS, WORDS, st.sampled_from([1, 20]))
def test_the_distance_is_that_of_the_table_of_wagner_and_fischer(one: list[str], other: list[str], times: int) -> None:
    one *= times  # more than 64 words, too
    assert distance(places(one), len(one), other) == edit_distance(one, other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Save the file.", ["save", "the", "file", "."]),
        ("don't %s", ["don", "'", "t", "%", "s"]),
        ("保存文件", ["保", "存", "文", "件"]),
        ("Ubuntuの設定", ["ubuntu", "の", "設", "定"]),
        ("བོད་ཡིག", ["བོ", "ད", "་", "ཡི", "ག"]),
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


def test_a_character_is_the_same_word_beside_any_other() -> None:
    for character in map(chr, (*range(0x3000), *range(0x4E00, 0x4E80), *range(0xFF00, 0x10000), 0x1F600)):
        text = f"a{character}b {character} {character * 2} c"
        assert [*words(text), "本"] == words(f"{text} 本"), hex(ord(character))


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
        edits = edit_distance(asked, segment)
        if asked and longer and (similarity := min(99, int(100 * Fraction(longer - edits, longer)))) >= least:
            every.append((similarity, number))
    wanted = sorted(every, reverse=True)[:most]
    found = index.similar(" ".join(asked), least, most)
    assert [one.percent for one in found] == [similarity for similarity, _ in wanted]
    assert {tuple(one) for one in found} <= set(every)


@given(st.integers(250, 600), st.integers(0, 50))
def test_a_word_that_comes_some_hundred_times_is_found(count: int, more: int) -> None:
    index = Index()
    index.add([(1, f"from {'. ' * count} 5")])
    [found] = index.similar(f"from {'. ' * (count + more)} 6", 75, 1)
    assert found.percent == 100 * (count + 1) // (count + more + 2)
