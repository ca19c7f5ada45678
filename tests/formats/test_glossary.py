"""Glossaries read, and refused by line where they are none."""

import pytest

from anaphora.errors import DataError
from anaphora.formats.glossary import GlossaryEntry, read_glossary

from .conftest import Written


def test_a_line_is_a_form_and_its_translations(written: Written) -> None:
    path = written("terms.tsv", "bank\tBank | Banken|!Ufer\n\n big  house \t Villa \n*\t!Weib\n")
    assert read_glossary(path) == [
        GlossaryEntry(f"{path}:1", "bank", ("Bank", "Banken"), ("Ufer",)),
        GlossaryEntry(f"{path}:3", "big  house", ("Villa",), ()),
        GlossaryEntry(f"{path}:4", "*", (), ("Weib",)),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("bank\tBank\tnoun", r":2 should read SOURCE FORM, tab, .*\(2 tabs\): correct it"),
        ("bank", r":2 should read SOURCE FORM, tab, .*\(0 tabs\)"),
        ("bank\t", ":2 should read"),
        ("\tBank", ":2 should read"),
        ("bank\tBank | ", ":2 should read"),
        ("bank\t!", ":2 should read"),
        ("bank\tBank | !Bank", ":2 both requires and forbids 'Bank'"),
        ("*\tBank", ":2 requires 'Bank' of every translation"),
    ],
)
def test_a_line_that_is_no_entry_is_refused_by_its_number(line: str, said: str, written: Written) -> None:
    with pytest.raises(DataError, match=said):
        read_glossary(written("terms.tsv", f"river\tFluss\n{line}\n"))


def test_an_empty_glossary_is_refused(written: Written) -> None:
    with pytest.raises(DataError, match="is empty"):
        read_glossary(written("terms.tsv", "\n\n"))
