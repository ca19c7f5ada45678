"""Glossaries read, and refused by line where they are none."""

from anaphora.formats.glossary import GlossaryEntry, read_glossary

from .conftest import Written


def test_a_line_is_a_form_and_its_translations(written: Written) -> None:
    path = written("terms.tsv", "bank\tBank | Banken|!Ufer\n\n big  house \t Villa \n*\t!Weib\n")
    assert read_glossary(path) == [
        GlossaryEntry(f"{path}:1", "bank", ("Bank", "Banken"), ("Ufer",)),
        GlossaryEntry(f"{path}:3", "big  house", ("Villa",), ()),
        GlossaryEntry(f"{path}:4", "*", (), ("Weib",)),
    ]
