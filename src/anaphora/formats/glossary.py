"""Glossaries: a source form, a tab and its translations, with `` | `` between them and ``!`` before what is forbidden.

    bicycle<TAB>Fahrrad | Fahrrads
    bank<TAB>Bank | Banken | !Ufer
    *<TAB>!Weib

One of the translations without ``!`` must be written where the source has the form, none of those with it may. ``*`` is
every source. Empty lines are skipped.

Folders of glossaries are read as OmegaT has them: tables of source term, translation and comment, and term bases (TBX).
A term with translations on several lines, or in several files, may be translated by any of them.
"""

import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from anaphora.errors import DataError
from anaphora.formats.entries.entry import places_of
from anaphora.formats.lines import read_lines
from anaphora.formats.safe_xml import xml_elements
from anaphora.formats.table_rows import table_rows

ANY = "*"
"""The source form that every sentence has."""
_FORBIDDEN = "!"
_ENDINGS = (".txt", ".tab", ".tsv", ".utf8", ".csv")
"""Endings of tables."""
_LANGUAGE, _CONCEPT = ("langSet", "langSec"), ("termEntry", "conceptEntry")
"""Elements of TBX 2 and 3."""


class GlossaryEntry(NamedTuple):
    """One line of a glossary."""

    where: str
    """File and line."""
    source: str
    required: tuple[str, ...]
    """Forms of which the translation has at least one; none where nothing is required."""
    forbidden: tuple[str, ...]
    """Forms that it has not."""


def read_glossary(path: Path) -> list[GlossaryEntry]:
    """Return the entries of a glossary.

    DataError as ``read_lines``, for the first line that is none, and without any.
    """
    lines = enumerate(read_lines(path), 1)
    entries = [_entry(line, f"{path}:{number}") for number, line in lines if line.strip()]
    if not entries:
        raise DataError(
            f"{path} should hold a glossary, SOURCE FORM, tab, TRANSLATIONS a line, but is empty: give another."
        )
    return entries


def _entry(line: str, where: str) -> GlossaryEntry:
    source, *rest = (unicodedata.normalize("NFC", part.strip()) for part in line.split("\t"))
    forms = [form.strip() for form in rest[0].split("|")] if len(rest) == 1 else []
    required = tuple(form for form in forms if not form.startswith(_FORBIDDEN))
    forbidden = tuple(form[1:].strip() for form in forms if form.startswith(_FORBIDDEN))
    if not source or not forms or not all((*required, *forbidden)):
        tabs = "" if len(rest) == 1 else f" ({len(rest)} tabs)"
        raise DataError(
            f"{where} should read SOURCE FORM, tab, TRANSLATION[ | TRANSLATION ..], not '{line[:60]}'{tabs}: "
            f"correct it."
        )
    if source == ANY and required:
        raise DataError(f"{where} requires '{required[0]}' of every translation: forbid forms for {ANY} alone, with !.")
    both = [form for form in required if form in forbidden]
    if both:
        raise DataError(f"{where} both requires and forbids '{both[0]}': leave out one of them.")
    return GlossaryEntry(where, source, required, forbidden)


Term = tuple[str, str, str]
"""File and line of a term, the term, and one translation of it."""


def read_term_bases(folder: Path, languages: tuple[str, str]) -> list[GlossaryEntry]:
    """Return the terms of all glossaries in a folder and those in it; ``languages`` are those of source and target.

    Lines without two columns, and those that begin with ``#``, are left out. Raises DataError as ``read_lines`` and
    ``xml_elements``, and for wrong quotes in a CSV file.
    """
    found: dict[str, GlossaryEntry] = {}
    for path in sorted(folder.rglob("*")):
        for where, *both in read_terms(path, languages) if path.is_file() else ():
            source, target = map(_plain, both)
            if source and target and source != ANY:
                entry = found.get(source, GlossaryEntry(where, source, (), ()))
                found[source] = entry._replace(required=tuple(dict.fromkeys((*entry.required, target))))
    return list(found.values())


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.split()))


def read_terms(path: Path, languages: tuple[str, str]) -> Iterator[Term]:
    """Return the terms of one glossary, as it has them; none of a file that is called otherwise. Errors as above."""
    ending = path.suffix.lower()
    if ending in _ENDINGS:
        rows = table_rows(read_lines(path, any_format=True), str(path))
        found = (row for row in rows if len(row.cells) > 1 and not row.lines.startswith("#"))
        return ((f"{path}:{row.number}", row.cells[0], row.cells[1]) for row in found)
    return _of_concepts(path, languages) if ending == ".tbx" else iter(())


def _of_concepts(path: Path, languages: tuple[str, str]) -> Iterator[Term]:
    terms: list[tuple[str, str]] = []
    named = 0  # how many of them have their language
    for element in xml_elements(path):
        if element.name == "term":
            terms.append(("", element.text))
        elif element.name in _LANGUAGE:
            language = element.attributes.get("xml:lang", "")
            terms[named:] = [(language, text) for _, text in terms[named:]]
            named = len(terms)
        elif element.name in _CONCEPT:
            codes = [code for code, _ in terms]
            sources, targets = (
                [terms[place][1] for place in places_of(codes, *sides)] for sides in (languages, languages[::-1])
            )
            yield from ((f"{path}:{element.line}", one, other) for one in sources for other in targets)
            terms, named = [], 0
