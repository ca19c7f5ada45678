"""Kinds of files of entries, known by their content: which file is read how, and in which languages it is."""

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path

from anaphora.errors import DataError
from anaphora.formats.documents import recognize
from anaphora.formats.entries.encoded import Encoding
from anaphora.formats.entries.entry import Entry, Reader, places_of
from anaphora.formats.entries.html import Html
from anaphora.formats.entries.markup import Markup
from anaphora.formats.entries.po import Po
from anaphora.formats.entries.subtitles import Subtitles
from anaphora.formats.entries.table import csv_entries, json_entries, languages_of_table, translations_in_json
from anaphora.formats.entries.tmx import Tmx, language_of
from anaphora.formats.entries.xliff import Xliff
from anaphora.formats.lines import read_unpacked
from anaphora.formats.tsv import PLAIN, Layout

READERS: dict[str, type[Reader]] = {"tmx": Tmx, "xliff": Xliff, "po": Po, "html": Html, "subtitles": Subtitles}
"""Readers of formats whose gaps can be filled, by their names in ``formats.documents``."""
KINDS = ("tmx", "xliff", "po", "csv", "jsonl")
"""Files with entries of two languages."""


def kind_of(path: Path) -> str:
    """Return the reader's name of a file in ``formats.documents``, by its first bytes; empty for none.

    Raises DataError for a file that cannot be read.
    """
    found = recognize(next(read_unpacked(path), b""), str(path))
    return found.reader if found else ""


def read_entries(path: Path, kind: str, languages: tuple[str, str], layout: Layout = PLAIN) -> Iterator[Entry]:
    """Return the entries of a file of a ``kind`` that is read, gzipped or not, in constant memory.

    ``languages`` are those of source and target, of a catalogue or XLIFF in either direction; ``layout`` is for tables.
    Raises DataError, with the line, for what is not in its format, and as ``formats.lines.read_unpacked`` does.
    """
    if kind == "csv":
        return csv_entries(_in_utf8(path, kind), str(path), languages, layout)
    if kind == "jsonl":
        return json_entries(_in_utf8(path, kind), str(path), languages)
    if not is_backward(path, kind, languages):
        return READERS[kind](str(path), languages).read(_in_utf8(path, kind))
    entries = READERS[kind](str(path), languages[::-1]).read(_in_utf8(path, kind))
    return (entry._replace(source=entry.target, target=entry.source) for entry in entries)


def is_backward(path: Path, kind: str, languages: tuple[str, str]) -> bool:
    """True if a file with a direction of its own goes from the second language to the first."""
    if kind not in ("po", "xliff"):
        return False
    side, other = languages if kind == "xliff" else languages[::-1]  # a catalogue names the target alone
    declared = languages_in(path, kind)[:1]
    return bool(places_of(declared, other, side)) and not places_of(declared, side, other)


def languages_in(path: Path, kind: str) -> tuple[str, ...]:
    """The languages that the beginning of a file names, that of the source first as far as it says which that is.

    Raises DataError as ``read_entries``.
    """
    pieces = islice(_in_utf8(path, kind), _LOOKED_AT)
    if kind == "csv":
        return languages_of_table(pieces, str(path))
    if kind == "jsonl":
        return tuple(next(translations_in_json(pieces, str(path)))[1])
    if kind == "po":
        catalogue = Po(str(path), ("", ""))
        next(catalogue.read(pieces), None)
        return (catalogue.language,) if catalogue.language else ()
    declared = LanguageDeclarations(str(path), ("", ""))
    try:
        deque(declared.parse(pieces), maxlen=0)
    except DataError:
        if not declared.languages:
            raise
    return tuple(declared.languages)


def _in_utf8(path: Path, kind: str) -> Iterator[bytes]:
    pieces = read_unpacked(path)
    first = next(pieces, b"")
    return Encoding(first, str(path), kind).decode(chain((first,), pieces))


_LOOKED_AT = 16
"""Pieces of 64 KB of a file that tell its languages."""


_ATTRIBUTES = ("srclang", "source-language", "srcLang", "target-language", "trgLang")
_ANY = "*all*"


class LanguageDeclarations(Markup):
    """Gathers the languages, that of the source first."""

    def __init__(self, name: str, languages: tuple[str, str]) -> None:
        """Of a file that messages call ``name``."""
        super().__init__(name, languages)
        self.languages: dict[str, None] = {}
        """In the order in which they come, each once."""

    def begins(self, name: str, attributes: Mapping[str, str], at: int) -> bool:
        found = [attributes.get(attribute, "") for attribute in _ATTRIBUTES if name in ("header", "file", "xliff")]
        found += [language_of(attributes)] if name == "tuv" else []
        for language in found:
            if language and language != _ANY and language.casefold() not in map(str.casefold, self.languages):
                self.languages[language] = None
        return False
