"""Pairs in two columns."""

from pathlib import Path

import pytest

from anaphora.errors import DataError
from anaphora.formats.tsv import HEADING, Layout, has_two_columns, languages_of_heading, read_pairs


def test_lines_of_other_than_two_columns_are_rejected_and_told(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text('a\tb\nno tab\n"quoted"\t\nc\td\te\nf\tg\n', encoding="utf-8")
    told: list[tuple[int, str]] = []
    rows = list(read_pairs(path, rejected=lambda *place: told.append(place)))
    assert [row[:3] for row in rows] == [(1, "a", "b"), (3, '"quoted"', ""), (5, "f", "g")]
    assert told == [(2, "1 column"), (4, "3 columns")]


def test_a_file_without_any_pair_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("one, two\nthree, four\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"pairs\.tsv should have two columns .* line 1 has 1"):
        list(read_pairs(path))
    path.write_text("")
    assert list(read_pairs(path)) == []


@pytest.mark.parametrize(
    ("text", "layout", "expected", "told"),
    [
        ("English\tFrench\nHold.\tTiens.\n", Layout(), [("Hold.", "Tiens.")], [(1, HEADING)]),
        ("Hold.\tTiens.\nEnglish\tFrench\n", Layout(), [("Hold.", "Tiens."), ("English", "French")], []),
        ("a\tb\t\nc\t\t\n\td\n", Layout(), [("a", "b"), ("c", ""), ("", "d")], []),
        ("a\tb\tby x\nc\td\n", Layout((1, 2)), [("a", "b"), ("c", "d")], []),
        ("1\ta\t9\tb\n2\tc\n", Layout((2, 4)), [("a", "b")], [(2, "1 column")]),
        ("1\tsource\ttarget\n2\ta\tb\n", Layout((3, 2)), [("b", "a")], [(1, HEADING)]),
        ("id\tFrench\tText EN\n1\ta\tb\n", Layout(("text en", "French")), [("b", "a")], [(1, HEADING)]),
        ("id\tx\ty\n1\ta\tb\n", Layout(("x", 3)), [("a", "b")], [(1, HEADING)]),
        ('"a"\t"b ""c"""\nd\te\n', Layout(quoted=True), [("a", 'b "c"'), ("d", "e")], []),
        ('"a\tb"\t"c"\n"open\td\n', Layout(quoted=True), [("a\tb", "c")], [(2, "0 columns")]),
    ],
)
def test_a_layout_says_where_pairs_stand(
    tmp_path: Path, text: str, layout: Layout, expected: list[tuple[str, str]], told: list[tuple[int, str]]
) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(text, encoding="utf-8")
    rejected: list[tuple[int, str]] = []
    rows = list(read_pairs(path, layout, rejected=lambda *place: rejected.append(place)))
    assert [row[1:3] for row in rows] == expected
    assert rejected == told


@pytest.mark.parametrize(
    "heading",
    [
        *("en\tfr", "EN\tFR ", "en\tFrench", "source\tfr", "English\tfrançais", "anglais\tfrançais"),
        *("en-US\tfr-FR", "en_GB\tfr_CA", "en\tfr-FR", "eng-US\tzh-Hant-TW", "pt-BR\tsr-Latn"),
        *("Englisch\tFranzösisch", "Source text\tTarget text", "sentence_en\tsentence_fr", "# en\tfr", "src\ttgt"),
    ],
)
def test_a_heading_may_be_of_the_codes_of_both_languages(heading: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(f"{heading}\na\tb\n", encoding="utf-8")
    assert [row[1:3] for row in read_pairs(path, sides=("en", "fr"))] == [("a", "b")]


def test_other_short_words_are_no_heading(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text("no\tit\nen\ten\nGerman\tDeutsch\n", encoding="utf-8")
    assert [row[1:3] for row in read_pairs(path, sides=("en", "fr"))] == [
        ("no", "it"),
        ("en", "en"),
        ("German", "Deutsch"),
    ]


@pytest.mark.parametrize(("columns", "expected"), [(("fr", "Text de"), ("fr", "de")), ((3, 2), ("fr", "de"))])
def test_chosen_columns_say_their_languages(
    tmp_path: Path, columns: tuple[int | str, int | str], expected: tuple[str, str]
) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("id\tText de\tfr\n1\ta\tb\n", encoding="utf-8")
    assert languages_of_heading(path, Layout(columns)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\tb\n" * 3, True),
        ("a\tb\n" * 9 + "c\n", True),
        ("c\t\n" + "a\tb\n" * 19, True),
        ("a\tb\n" * 2, False),
        ("a\tb\nc\nd\te\n", False),
        ("\ta b\n" * 5, False),
    ],
)
def test_a_table_of_pairs_is_known_by_its_first_lines(tmp_path: Path, text: str, expected: bool) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text(text, encoding="utf-8")
    assert has_two_columns(path) == expected


@pytest.mark.parametrize("heading", ["fr\ten", "French\tEnglish", "target\tsource", "fr-FR\ten-US"])
def test_a_heading_with_the_target_first_is_refused_unless_columns_are_chosen(heading: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(f"{heading}\na\tb\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"pairs\.tsv:1 .* target before source: set data\.columns = \[2,1\]"):
        list(read_pairs(path, sides=("en", "fr")))
    rows = read_pairs(path, Layout((2, 1)), sides=("en", "fr"))
    assert [row[1:3] for row in rows] == [("b", "a")]


def test_a_column_that_the_first_line_does_not_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("id\ttext\n1\ta\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"pairs\.tsv:1 should have columns 'text' and 'French', but has 2 columns"):
        list(read_pairs(path, Layout(("text", "French"))))
