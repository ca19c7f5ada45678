import unicodedata
from pathlib import Path

import pytest

from anaphora.errors import DataError
from anaphora.formats.dictionary import Entry, read_dictionary, write_dictionary


def test_translations_are_read_from_the_likeliest_on_and_equals_as_they_come(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    write_dictionary(
        path, [Entry("a", "un", 0.4), Entry("a", "une", 0.6), Entry("to", "à", 0.5), Entry("to", "de", 0.5)]
    )
    assert read_dictionary(path) == {"a": ["une", "un"], "to": ["à", "de"]}


def test_words_are_composed_as_all_text_is(tmp_path: Path) -> None:
    (tmp_path / "d.tsv").write_text(unicodedata.normalize("NFD", "schön\tnước\n"), encoding="utf-8")
    assert read_dictionary(tmp_path / "d.tsv") == {"schön": ["nước"]}


def test_a_dictionary_of_two_columns_needs_no_probabilities(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text("cat\tchat\ncat\tchatte\n")
    assert read_dictionary(path) == {"cat": ["chat", "chatte"]}


@pytest.mark.parametrize("line", ["", "cat", "cat\t", "\tchat", "cat\tchat\thigh", "cat\tchat\t1.5", "cat\tchat\tnan"])
def test_a_line_that_is_no_entry_is_refused_with_its_number(line: str, tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text(f"cat\tchat\n{line}\n")
    with pytest.raises(DataError, match=r"words\.tsv:2 should read WORD, tab, TRANSLATION"):
        read_dictionary(path)


def test_a_dictionary_without_an_entry_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.touch()
    with pytest.raises(DataError, match=r"words\.tsv should hold a dictionary, .* but is empty: give another"):
        read_dictionary(path)
