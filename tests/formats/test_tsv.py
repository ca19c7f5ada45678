"""Pairs in two columns."""

import pytest

from anaphora.errors import DataError
from anaphora.formats.tsv import HEADING, Layout, has_two_columns, languages_of_heading, read_pairs

from .conftest import Written

CODES = ("en", "fr")


@pytest.mark.parametrize(
    ("text", "layout", "expected", "told"),
    [
        (
            'a\tb\nno tab\n"quoted"\t\nc\td\te\nf\tg\n',
            Layout(),
            [("a", "b"), ('"quoted"', ""), ("f", "g")],
            [(2, "1 column"), (4, "3 columns")],
        ),
        ("English\tFrench\nHold.\tTiens.\n", Layout(), [("Hold.", "Tiens.")], [(1, HEADING)]),
        ("Hold.\tTiens.\nEnglish\tFrench\n", Layout(), [("Hold.", "Tiens."), ("English", "French")], []),
        ("no\tit\nen\ten\n", Layout(), [("no", "it"), ("en", "en")], []),
        ("a\tb\t\nc\t\t\n\td\n", Layout(), [("a", "b"), ("c", ""), ("", "d")], []),
        ("a\tb\tby x\nc\td\n", Layout((1, 2)), [("a", "b"), ("c", "d")], []),
        ("1\ta\t9\tb\n2\tc\n", Layout((2, 4)), [("a", "b")], [(2, "1 column")]),
        ("id\tFrench\tText EN\n1\ta\tb\n", Layout(("text en", "French")), [("b", "a")], [(1, HEADING)]),
        ("id\tx\ty\n1\ta\tb\n", Layout(("x", 3)), [("a", "b")], [(1, HEADING)]),
        ('"a"\t"b ""c"""\nd\te\n', Layout(quoted=True), [("a", 'b "c"'), ("d", "e")], []),
        ('"a\tb"\t"c"\n"open\td\n', Layout(quoted=True), [("a\tb", "c")], [(2, "0 columns")]),
        *(
            (f"{heading}\na\tb\n", Layout(), [("a", "b")], [(1, HEADING)])
            for heading in (
                *("en\tfr", "EN\tFR ", "en\tFrench", "source\tfr", "English\tfrançais", "anglais\tfrançais"),
                *("en-US\tfr-FR", "en_GB\tfr_CA", "en\tfr-FR", "eng-US\tzh-Hant-TW", "pt-BR\tsr-Latn"),
                *("Englisch\tFranzösisch", "Source text\tTarget text", "sentence_en\tsentence_fr", "# en\tfr"),
                "src\ttgt",
            )
        ),
    ],
)
def test_a_layout_and_a_heading_say_where_pairs_stand(
    text: str, layout: Layout, expected: list[tuple[str, str]], told: list[tuple[int, str]], written: Written
) -> None:
    rejected: list[tuple[int, str]] = []
    rows = list(read_pairs(written("a.tsv", text), layout, sides=CODES, rejected=lambda *row: rejected.append(row)))
    assert [row[1:3] for row in rows] == expected
    assert [row.line for row in rows] == [n for n in range(1, text.count("\n") + 1) if n not in dict(told)]
    assert rejected == told


@pytest.mark.parametrize(("columns", "expected"), [(("fr", "Text de"), ("fr", "de")), ((3, 2), ("fr", "de"))])
def test_chosen_columns_say_their_languages(
    columns: tuple[int | str, int | str], expected: tuple[str, str], written: Written
) -> None:
    path = written("pairs.tsv", "id\tText de\tfr\n1\ta\tb\n")
    assert languages_of_heading(path, Layout(columns)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a\tb\n" * 9 + "c\n", True), ("c\t\n" + "a\tb\n" * 19, True), ("a\tb\n" * 2, False), ("a\tb\nc\nd\te\n", False)],
)
def test_a_table_of_pairs_is_known_by_its_first_lines(text: str, expected: bool, written: Written) -> None:
    assert has_two_columns(written("pairs.txt", text)) == expected


@pytest.mark.parametrize("heading", ["fr\ten", "French\tEnglish", "target\tsource", "fr-FR\ten-US"])
def test_a_heading_with_the_target_first_is_refused_unless_columns_are_chosen(heading: str, written: Written) -> None:
    path = written("pairs.tsv", f"{heading}\na\tb\n")
    with pytest.raises(DataError, match=r"pairs\.tsv:1 .* target before source: set data\.columns = \[2,1\]"):
        list(read_pairs(path, sides=CODES))
    rows = read_pairs(path, Layout((2, 1)), sides=CODES)
    assert [row[1:3] for row in rows] == [("b", "a")]


@pytest.mark.parametrize("name", ["fr-en.tsv", "Ted_fr2en.tsv"])
def test_a_name_with_the_target_first_is_refused_unless_columns_are_chosen(name: str, written: Written) -> None:
    path = written(name, "a\tb\n")
    with pytest.raises(DataError, match=r"is named fr-en, but .* set data\.columns = \[2,1\] where fr comes first"):
        list(read_pairs(path, sides=CODES))
    assert [row[1:3] for row in read_pairs(path, Layout((2, 1)), sides=CODES)] == [("b", "a")]
    for other in "en-fr.tsv", "fr-en-fr.tsv", "afr-en.tsv":
        assert [row[1:3] for row in read_pairs(written(other, "a\tb\n"), sides=CODES)] == [("a", "b")]


def test_blank_lines_alone_are_refused(written: Written) -> None:
    with pytest.raises(DataError, match=r"pairs\.tsv has blank lines alone: write a source, a tab"):
        list(read_pairs(written("pairs.tsv", "\n \n\n")))


def test_a_column_that_the_first_line_does_not_name_is_refused(written: Written) -> None:
    path = written("pairs.tsv", "id\ttext\n1\ta\n")
    with pytest.raises(DataError, match=r"pairs\.tsv:1 should have columns 'text' and 'French', but has 2 columns"):
        list(read_pairs(path, Layout(("text", "French"))))
