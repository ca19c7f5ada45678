"""Documents that ``anaphora translate`` writes back with their gaps filled, and projects of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from anaphora.cli.files import check_writable, writing
from anaphora.cli.talk import put
from anaphora.cli.translations import FOR_LINES, Outputs
from anaphora.errors import AnaphoraError, ConfigError, refuse_os_errors
from anaphora.events import Note, Report
from anaphora.formats.entries.document import REPLACED, Document
from anaphora.formats.entries.kinds import READERS, kind_of
from anaphora.formats.entries.tmx import tmx_lines
from anaphora.formats.glossary import read_term_bases
from anaphora.formats.lines import packed_by_name, replacing
from anaphora.formats.omegat import read_project
from anaphora.languages import bare
from anaphora.memory import Match
from anaphora.prediction.glossary import Glossary
from anaphora.prediction.options import SearchOptions
from anaphora.tasks.runs import direction_at
from anaphora.tasks.translation.documents import Translate, fill
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.pretranslation import pretranslate, segments_of
from anaphora.wording import agreeing, inflect

_SHOWN = 10
"""Entries filled from similar segments that are reported one by one."""
PROJECT = "project"
"""The kind of a folder that is a project of OmegaT."""


def document_kind(file: str, given: Sequence[str], run: Path, to: str, source: str) -> str:
    """Return the kind of a file that is a document with a reader, or of a project; empty for text.

    Raises ConfigError for a document with given options that are for lines of text, and where a ``run`` of several
    languages leaves its pair open.
    """
    kind = PROJECT if Path(file).is_dir() else kind_of(Path(file)) if file != "-" and Path(file).is_file() else ""
    if kind != PROJECT and kind not in READERS:
        return ""
    for option in filter(f"{FOR_LINES} --workers --shard-lines --engine".split().__contains__, given):
        what = "an OmegaT project" if kind == PROJECT else "a document"
        remedy = "leave it out"
        if option == "--confidence":
            remedy = "take --min-confidence P, which leaves doubtful entries empty"
        raise ConfigError(f"{option} is for lines of text, but {file} is {what}: {remedy}.")
    direction_at(run, to, source)
    return kind


def translate_document(
    translator: TranslationPredictor, file: Path, kind: str, outputs: Outputs, how: dict[str, Any]
) -> None:
    """Write a document with its gaps filled, or print it; what was left empty is reported.

    Of a project a memory is written. What has a lower confidence than is asked for stays empty. ``how`` is passed to
    the translator.
    """
    if kind == PROJECT:
        return translate_project(translator, file, outputs, how)
    report: Report = how["report"]
    document = Document.read(file, kind, translator.languages)
    similar = dict[str, Match]()
    translate = translating(translator, outputs.min_confidence, how, similar)
    filled = fill(document, translate, translator.languages[1], similar)
    if outputs.output is None:
        put(filled.content)
    else:
        with replacing(outputs.output) as plain, packed_by_name(outputs.output, plain) as stream:
            stream.write(filled.content)
    total = filled.entries + sum(map(len, filled.left.values()))
    others = len(document.entries) - total
    reasons = Counter(entry.skipped for entry in document.entries if entry.skipped and not entry.gap)
    which = f" ({', '.join(f'{count:,} {why}' for why, count in reasons.items())})" if reasons else ""
    unchanged = f"; {inflect(others, 'other entry', 'are')} unchanged{which}" if others else ""
    outcome = "left in the source language" if kind in REPLACED else "left empty"
    report(Note(f"{filled.entries:,} of {inflect(total, 'missing translation', 'were')} filled{unchanged}."))
    if document.is_foreign:
        between = " and ".join(translator.languages)
        report(Note(f"{file} is in other languages than {between}, which are those of the run.", warning=True))
    for why, lines in filled.left.items():
        were = inflect(len(lines), "entry", f"{why} were")
        report(Note(f"{were} {outcome} ({_places(lines)}).", warning=True))
    for line, match in filled.similar[:_SHOWN]:
        report(Note(f"line {line}: {match}, {match.difference}, from '{match.segment.source}'."))
    if filled.similar:
        which = inflect(len(filled.similar), "entry", "were")
        report(Note(f"{which} filled with the target of a similar segment: review them.", warning=True))
    if unmeasured := filled.unmeasured:
        which = f"{inflect(len(unmeasured), 'entry', 'were')} filled whose size the file"
        way = "limits in pixels or in another way that cannot be measured here: see whether all fit"
        report(Note(f"{which} {way} ({_places(unmeasured)}).", warning=True))


def _places(lines: Sequence[int]) -> str:
    """Return the numbers of lines, of many the first."""
    more = ", ..." if len(lines) > 5 else ""
    return f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines[:5]))}{more}"


MEMORY = Path("mt", "anaphora.tmx")
"""Place of translations in the folder of memories."""


def translate_project(translator: TranslationPredictor, folder: Path, outputs: Outputs, how: dict[str, Any]) -> None:
    """Write translations of what a project lacks into ``tm/mt/anaphora.tmx`` or the output.

    What has a lower confidence than is asked for is left out. ``how`` is passed to the translator; the glossaries of
    the project are used unless its options have one.
    """
    report: Report = how["report"]
    project = read_project(folder)
    if tuple(map(bare, project.languages)) != tuple(map(bare, translator.languages)):
        there, here = (" to ".join(languages) for languages in (project.languages, translator.languages))
        raise ConfigError(f"{project.folder} is translated from {there}, but the run translates {here}: name another.")
    options: SearchOptions = how["options"]
    if terms := [] if options.terms else read_term_bases(project.glossary, project.languages):
        report(Note(f"{project.glossary}: {inflect(len(terms), 'term')}."))
        options = options._replace(terms=Glossary(terms))
        options.check()
    file = outputs.output or project.memories / MEMORY
    if outputs.output is None:
        with refuse_os_errors(f"{file} cannot be written: ", "; name another with --output."):
            file.parent.mkdir(parents=project.memories.is_relative_to(project.folder), exist_ok=True)
    check_writable(file)
    segments = segments_of(project)

    def refuse(number: int, error: AnaphoraError) -> None:
        report(Note(str(error).replace(f"Line {number} ", f"Segment '{segments.new[number - 1]}' "), warning=True))

    translate = translating(translator, outputs.min_confidence, how | {"options": options, "refused": refuse}, {})
    done = pretranslate(segments.new, translate, translator.languages[1])
    with writing(file) as write:
        for line in tmx_lines(done.pairs, project.languages):
            write(line)
    known = f"; {segments.known:,} {agreeing(segments.known, 'are')} translated already" if segments.known else ""
    report(Note(f"{file}: {len(done.pairs):,} of {inflect(len(segments.new), 'new segment')}{known}."))
    for path in segments.unread:
        report(Note(f"{path} is in a format that is not read, and was left out.", warning=True))
    for why, left in done.left.items():
        were = inflect(len(left), "segment", f"{why} were")
        report(Note(f"{were} left out (the first is '{left[0]}').", warning=True))


def translating(
    translator: TranslationPredictor, min_confidence: float | None, how: dict[str, Any], similar: dict[str, Match]
) -> Translate:
    """Return a function that translates the texts of a document; None for those of a lower confidence.

    It puts segments whose targets are used for ``similar`` texts there.
    """

    def translate(texts: Sequence[str]) -> Iterator[str | None]:
        translations = translator.stream(iter(texts), **how)
        for text, one in zip(texts, translations, strict=True):
            similar.update((text, match) for match in one.matches if match.text and not match.is_exact)
            for term in one.missing_terms:
                how["report"](Note(f"the translation of '{text}' lacks the term for '{term}'", warning=True))
            yield None if one.is_below(min_confidence) else one.text

    return translate
