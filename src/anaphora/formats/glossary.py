"""Glossaries: a source form, a tab and its translations, with `` | `` between them and ``!`` before what is forbidden.

    bicycle<TAB>Fahrrad | Fahrrads
    bank<TAB>Bank | Banken | !Ufer
    *<TAB>!Weib

One of the translations without ``!`` must be written where the source has the form, none of those with it may. ``*`` is
every source. Empty lines are skipped.
"""

import unicodedata
from pathlib import Path
from typing import NamedTuple

from anaphora.errors import DataError
from anaphora.formats.lines import read_lines

ANY = "*"
"""The source form that every sentence has."""
_FORBIDDEN = "!"


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
