"""Documents written in a test, filled and read again."""

from collections.abc import Callable
from pathlib import Path

from anaphora.formats.entries.document import Document
from anaphora.formats.entries.kinds import kind_of


def document_of(folder: Path, name: str, content: str | bytes, languages: tuple[str, str] = ("en", "de")) -> Document:
    """A file with this content, its format known by that."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Document.read(path, kind_of(path), languages)


def filled(document: Document, translate: Callable[[str], str] = str.upper) -> bytes:
    """The document with every run of every gap translated."""
    return document.filled(
        {
            number: [translate(run.text) for run in entry.gap.runs]
            for number, entry in enumerate(document.entries)
            if entry.gap
        }
    )


def filled_text(folder: Path, name: str, content: str, translate: Callable[[str], str] = str.upper) -> str:
    """The same from text to text; the document without translations is checked to stay as it is."""
    document = document_of(folder, name, content)
    assert document.filled({}) == content.encode()
    return filled(document, translate).decode()
