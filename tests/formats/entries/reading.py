"""Reading entries of texts written in a test."""

from pathlib import Path

from anaphora.formats.entries.entry import Entry
from anaphora.formats.entries.kinds import kind_of, read_entries


def entries_of(folder: Path, name: str, content: str | bytes, languages: tuple[str, str] = ("en", "de")) -> list[Entry]:
    """The entries of a file with this content, its format known by that."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_entries(path, kind_of(path), languages))


def pairs_of(
    folder: Path, name: str, content: str | bytes, languages: tuple[str, str] = ("en", "de")
) -> list[tuple[str, str]]:
    """The pairs among them."""
    return [(entry.source, entry.target) for entry in entries_of(folder, name, content, languages) if not entry.skipped]


def skipped_of(folder: Path, name: str, content: str | bytes) -> list[tuple[int, str]]:
    """The lines of the others, and why they are none."""
    return [(entry.line, entry.skipped) for entry in entries_of(folder, name, content) if entry.skipped]
