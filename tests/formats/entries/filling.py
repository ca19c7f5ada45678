"""Documents written in a test, read as entries, filled and read again."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from anaphora.formats.entries.document import Document
from anaphora.formats.entries.entry import Entry
from anaphora.formats.entries.kinds import kind_of, read_entries


def document_of(folder: Path, name: str, content: str | bytes, languages: tuple[str, str] = ("en", "de")) -> Document:
    """A file with this content, its format known by that."""
    path = _written(folder, name, content)
    return Document.read(path, kind_of(path), languages)


def read_document(name: str, content: str | bytes, languages: tuple[str, str] = ("en", "de")) -> Document:
    with TemporaryDirectory() as folder:
        return document_of(Path(folder), name, content, languages)


def entries_of(folder: Path, name: str, content: str | bytes, languages: tuple[str, str] = ("en", "de")) -> list[Entry]:
    path = _written(folder, name, content)
    return list(read_entries(path, kind_of(path), languages))


def _written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def fill_each(document: Document, texts: Mapping[int, str]) -> bytes:
    """The document with a text in each of some gaps, which have one run."""
    gaps = {number: document.entries[number].gap for number in texts}
    return document.fill({number: {gap.runs[0]: texts[number]} for number, gap in gaps.items() if gap})


def filled(document: Document, translate: Callable[[str], str] = str.upper) -> bytes:
    """The document with every run of every gap translated."""
    return document.fill(
        {
            number: {run: translate(run.text) for run in entry.gap.runs}
            for number, entry in enumerate(document.entries)
            if entry.gap
        }
    )


def filled_text(name: str, content: str, translate: Callable[[str], str] = str.upper) -> str:
    """The same from text to text; the document without translations is checked to stay as it is."""
    document = read_document(name, content)
    assert document.fill({}) == content.encode()
    return filled(document, translate).decode()


def in_capitals(text: str) -> str:
    """The same with the letters after underscores in capitals."""
    return re.sub("_.", lambda found: found[0].upper(), text)


def pairs_of(name: str, content: str | bytes, languages: tuple[str, str] = ("en", "de")) -> list[tuple[str, str]]:
    return [(entry.source, entry.target) for entry in _entries_of(name, content, languages) if not entry.skipped]


def skipped_of(name: str, content: str | bytes) -> list[tuple[int, str]]:
    """The lines of the others, and why they are none."""
    return [(entry.line, entry.skipped) for entry in _entries_of(name, content, ("en", "de")) if entry.skipped]


def _entries_of(name: str, content: str | bytes, languages: tuple[str, str]) -> list[Entry]:
    with TemporaryDirectory() as folder:
        return entries_of(Path(folder), name, content, languages)
