"""Glossaries and term bases read; refusals are in ``test_refusals.py``."""

from pathlib import Path

import pytest

from anaphora.formats.glossary import GlossaryEntry, read_glossary, read_term_bases

from .conftest import Written


def test_a_line_is_a_form_and_its_translations(written: Written) -> None:
    path = written("terms.tsv", "bank\tBank | Banken|!Ufer\n\n big  house \t Villa \n*\t!Weib\n")
    assert read_glossary(path) == [
        GlossaryEntry(f"{path}:1", "bank", ("Bank", "Banken"), ("Ufer",)),
        GlossaryEntry(f"{path}:3", "big  house", ("Villa",), ()),
        GlossaryEntry(f"{path}:4", "*", (), ("Weib",)),
    ]


TBX_2 = """<?xml version="1.0"?><!DOCTYPE martif SYSTEM "TBXcoreStructV02.dtd"><martif type="TBX"><text><body>
<termEntry id="1"><note>x</note><langSet xml:lang="en-US"><tig><term>house</term></tig><tig><term>home</term></tig>
</langSet><langSet xml:lang="fr"><tig><term>maison</term></tig></langSet>
<langSet xml:lang="de"><ntig><termGrp><term>Haus</term></termGrp></ntig></langSet></termEntry>
<termEntry id="2"><langSet xml:lang="en"><tig><term>only</term></tig></langSet></termEntry></body></text></martif>"""
TBX_3 = """<tbx type="TBX-Basic"><text><body><conceptEntry id="c"><langSec xml:lang="en"><termSec><term>tree</term>
</termSec></langSec><langSec xml:lang="de"><termSec><term>Baum</term></termSec></langSec></conceptEntry></body></text>
</tbx>"""


def terms_of(folder: Path) -> dict[str, tuple[str, ...]]:
    return {entry.source: entry.required for entry in read_term_bases(folder, ("en", "de"))}


@pytest.mark.parametrize("name", ["a.txt", "a.tab", "a.tsv", "a.utf8", "a.UTF8", "deep/a.txt"])
def test_a_line_of_a_table_is_term_translation_and_comment(name: str, tmp_path: Path, written: Written) -> None:
    lines = "\ufeff# heading\tx", "bank\tBank\ta comment", "", "no columns", " big  house \tVilla", "*\tx", "empty\t"
    written(name, "".join(f"{line}\r\n" for line in lines))
    assert terms_of(tmp_path) == {"bank": ("Bank",), "big house": ("Villa",)}
    assert read_term_bases(tmp_path, ("en", "de"))[0].where == f"{tmp_path / name}:2"


def test_a_term_may_be_translated_by_all_that_any_file_says(tmp_path: Path, written: Written) -> None:
    assert read_term_bases(tmp_path / "missing", ("en", "de")) == read_term_bases(tmp_path, ("en", "de")) == []
    written("a.txt", "bank\tBank\nBank\tX\nbank\tUfer\n")
    written("b.csv", 'bank,"Ufer"\n"bank, river","Ufer, hohes",c\n')
    written("c.docx", "bank\tno glossary")
    assert read_term_bases(tmp_path, ("en", "de")) == [
        GlossaryEntry(f"{tmp_path}/a.txt:1", "bank", ("Bank", "Ufer"), ()),
        GlossaryEntry(f"{tmp_path}/a.txt:2", "Bank", ("X",), ()),
        GlossaryEntry(f"{tmp_path}/b.csv:2", "bank, river", ("Ufer, hohes",), ()),
    ]


@pytest.mark.parametrize(
    ("content", "expected"), [(TBX_2, {"house": ("Haus",), "home": ("Haus",)}), (TBX_3, {"tree": ("Baum",)})]
)
def test_a_concept_has_terms_in_languages(content: str, expected: dict[str, tuple[str, ...]], written: Written) -> None:
    assert terms_of(written("a.tbx", content).parent) == expected


def test_a_term_of_a_variety_is_of_the_side_that_names_it(written: Written) -> None:
    folder = written("a.tbx", TBX_2.replace('"fr"', '"en-GB"')).parent
    found = {entry.source: entry.required for entry in read_term_bases(folder, ("en", "en-GB"))}
    assert found == {"house": ("maison",), "home": ("maison",)}
