"""Documents that ``anaphora translate`` writes back with their gaps filled, and projects of them."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anaphora.cli.projects import translate_project, translating
from anaphora.cli.talk import put
from anaphora.errors import ConfigError
from anaphora.wording import agreeing, counted

if TYPE_CHECKING:
    from anaphora.tasks.translation import TranslationPredictor

FOR_LINES = (
    "--nbest --alignments --soft-alignments --pairs --json --confidence --prefixes --suffixes --workers --shard-lines "
    "--engine"
)
"""Options for lines of text, not for documents."""
PROJECT = "project"
"""The kind of a folder that is a project of OmegaT."""


def document_kind(file: str, given: Sequence[str]) -> str:
    """The kind of a file that is a document with a reader, or of a project; empty for text.

    Raises ConfigError for a document with given options that are for lines of text.
    """
    from anaphora.formats.entries.kinds import READERS, kind_of

    kind = PROJECT if Path(file).is_dir() else kind_of(Path(file)) if file != "-" and Path(file).is_file() else ""
    if kind != PROJECT and kind not in READERS:
        return ""
    for option in filter(FOR_LINES.split().__contains__, given):
        what = "an OmegaT project" if kind == PROJECT else "a document"
        raise ConfigError(f"{option} is for lines of text, but {file} is {what}: leave it out.")
    return kind


def translate_document(
    translator: "TranslationPredictor",
    file: Path,
    kind: str,
    output: Path | None,
    min_confidence: float | None,
    how: dict[str, Any],
) -> None:
    """Write a document with its gaps filled to ``output``, or print it; what was left empty is reported.

    Of a project a memory is written. What has a lower confidence than ``min_confidence`` stays empty. ``how`` is passed
    to the translator.
    """
    if kind == PROJECT:
        return translate_project(translator, file, output, min_confidence, how)
    from anaphora.events import Note, Report
    from anaphora.formats.entries.document import REPLACED, Document
    from anaphora.tasks.translation.documents import fill

    report: Report = how["report"]
    document = Document.read(file, kind, translator.languages)
    filled = fill(document, translating(translator, min_confidence, how), translator.languages[1])
    _write(filled.content, output)
    total = filled.entries + sum(map(len, filled.left.values()))
    others = len(document.entries) - total
    reasons = Counter(entry.skipped for entry in document.entries if entry.skipped and not entry.gap)
    which = f" ({', '.join(f'{count:,} {why}' for why, count in reasons.items())})" if reasons else ""
    unchanged = f"; {counted(others, 'other entry')} {agreeing(others, 'are')} unchanged{which}" if others else ""
    gaps = f"{counted(total, 'missing translation')} {agreeing(total, 'were')}"
    outcome = "left in the source language" if kind in REPLACED else "left empty"
    report(Note(f"{filled.entries:,} of {gaps} filled{unchanged}."))
    if document.is_foreign:
        between = " and ".join(translator.languages)
        report(Note(f"{file} is in other languages than {between}, which are those of the run.", warning=True))
    for why, lines in filled.left.items():
        one = agreeing(len(lines), f"{why} were")
        report(Note(f"{counted(len(lines), 'entry')} {one} {outcome} ({_places(lines)}).", warning=True))
    if unmeasured := filled.unmeasured:
        which = f"{counted(len(unmeasured), 'entry')} {agreeing(len(unmeasured), 'were')} filled whose size the file"
        way = "limits in pixels or in another way that cannot be measured here: see whether all fit"
        report(Note(f"{which} {way} ({_places(unmeasured)}).", warning=True))


def _places(lines: Sequence[int]) -> str:
    """The first of many lines."""
    return f"line {', '.join(map(str, lines[:5]))}" + (", ..." if len(lines) > 5 else "")


def _write(content: bytes, output: Path | None) -> None:
    """Write a file whole, packed where its name ends in ``.gz``, or print it where there is none."""
    from anaphora.formats.lines import packed_by_name
    from anaphora.formats.replacing import replacing

    if output is None:
        put(content)
        return
    with replacing(output) as plain, packed_by_name(output, plain) as stream:
        stream.write(content)
