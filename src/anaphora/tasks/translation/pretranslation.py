"""Projects of OmegaT: each segment without a translation is translated once, as a pair for a memory.

Segments are what OmegaT shows: paragraphs, or sentences where the project segments them, with short tags for inline
codes. Where its rules of segmentation differ from ours (``text.sentences``), it finds the pairs by their similarity.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from anaphora.formats.entries.document import Document
from anaphora.formats.entries.entry import Reason
from anaphora.formats.entries.kinds import READERS, kind_of, read_entries
from anaphora.formats.lines import read_lines
from anaphora.formats.omegat import Project
from anaphora.languages import bare
from anaphora.memory.segment import key_of
from anaphora.tasks.translation.documents import Translate, fault, with_key
from anaphora.text.accelerators import label
from anaphora.text.masking import split_around
from anaphora.text.placeholders import PATTERNS, USUAL
from anaphora.text.quality import is_translatable
from anaphora.text.sentences import Splitter

_TEXTS = (".txt", ".text")
_BOTH_SIDES = "tmx"
"""A kind that is no document of a project."""


class Segments(NamedTuple):
    """The segments of a project, each text once."""

    new: list[str]
    """Segments without a translation, in their order."""
    known: int
    """Number of entries that it has a translation of."""
    unread: list[Path]
    """Documents in formats that are not read."""


class Pretranslation(NamedTuple):
    """Segments with translations, and what became of the others."""

    pairs: list[tuple[str, str]]
    left: dict[str, list[str]]
    """Segments without a translation, by the reason."""


def segments_of(project: Project) -> Segments:
    """Return the segments of the documents of a project.

    Raises DataError for a document or a memory of the project that is not in its format.
    """
    languages = bare(project.languages[0]), bare(project.languages[1])
    splitter = Splitter(*languages)
    saved = read_entries(project.saved, "tmx", languages) if project.saved.is_file() else ()
    done = {_key(entry.source) for entry in saved if not entry.skipped}
    found, unread = dict[str, str](), list[Path]()
    for path in project.documents():
        texts = _paragraphs(path, languages)
        if texts is None:
            unread.append(path)
        for text in texts or ():
            parts = split_around(splitter, text, USUAL).sentences if project.by_sentences else (text.strip(),)
            for segment in filter(is_translatable, parts):
                found.setdefault(_key(segment), segment)
    return Segments([one for key, one in found.items() if key not in done], len(found.keys() & done), unread)


def pretranslate(segments: Sequence[str], translate: Translate, language: str) -> Pretranslation:
    """The segments with translations into ``language``; what lost a placeholder or a tag, or is not sure, has none."""
    pairs, left = list[tuple[str, str]](), dict[str, list[str]]()
    labels = [label(segment) for segment in segments]
    translations = translate([one.text for one in labels])
    for segment, one, translation in zip(segments, labels, translations, strict=True):
        if why := fault(one.text, translation):
            left.setdefault(why, []).append(segment)
        else:
            pairs.append((segment, with_key(one, translation, language)))
    return Pretranslation(pairs, left)


def _key(segment: str) -> str:
    """Return a segment without its tags, which may be numbered otherwise."""
    return key_of(PATTERNS["tags"].sub(" ", segment))


def _paragraphs(path: Path, languages: tuple[str, str]) -> Iterator[str] | None:
    """Return the texts of a document that have no translation there; None for one in another format."""
    kind = kind_of(path)
    if kind in READERS and kind != _BOTH_SIDES:
        document = Document.read(path, kind, languages)
        gaps = (entry.gap for entry in document.entries if entry.gap and entry.skipped == Reason.UNTRANSLATED)
        return (text for gap in gaps for text in document.sentences(gap))
    return read_lines(path) if path.suffix.lower() in _TEXTS else None
