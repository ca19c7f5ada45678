"""OmegaT projects, for which ``anaphora translate`` writes a memory of machine translations."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anaphora.cli.files import check_writable, writing
from anaphora.errors import AnaphoraError, ConfigError, DataError
from anaphora.wording import agreeing, counted

if TYPE_CHECKING:
    from anaphora.events import Report
    from anaphora.formats.omegat import Project
    from anaphora.prediction.options import SearchOptions
    from anaphora.tasks.translation import TranslationPredictor
    from anaphora.tasks.translation.documents import Translate

MEMORY = Path("mt", "anaphora.tmx")
"""Where in the folder of memories translations go."""


def translate_project(
    translator: "TranslationPredictor",
    folder: Path,
    output: Path | None,
    min_confidence: float | None,
    how: dict[str, Any],
) -> None:
    """Write translations of what a project lacks into ``tm/mt/anaphora.tmx`` or ``output``.

    What has a lower confidence than ``min_confidence`` is left out. ``how`` is passed to the translator; the glossaries
    of the project are used unless its options have one.
    """
    from anaphora.events import Note, Report
    from anaphora.formats.entries.writing import tmx_lines
    from anaphora.formats.omegat import read_project
    from anaphora.tasks.translation.projects import pretranslated, segments_of

    report: Report = how["report"]
    project = read_project(folder)
    _check_languages(project, translator)
    how = how | {"options": _with_glossary(how["options"], project, report)}
    file = output or _memory_of(project)
    check_writable(file)
    segments = segments_of(project)

    def refuse(number: int, error: AnaphoraError) -> None:
        report(Note(str(error).replace(f"Line {number} ", f"Segment '{segments.new[number - 1]}' "), warning=True))

    translate = translating(translator, min_confidence, how | {"refused": refuse})
    done = pretranslated(segments.new, translate, translator.languages[1])
    with writing(file) as write:
        for line in tmx_lines(done.pairs, project.languages):
            write(line)
    known = f"; {segments.known:,} {agreeing(segments.known, 'are')} translated already" if segments.known else ""
    report(Note(f"{file}: {len(done.pairs):,} of {counted(len(segments.new), 'new segment')}{known}."))
    for path in segments.unread:
        report(Note(f"{path} is in a format that is not read, and was left out.", warning=True))
    for why, left in done.left.items():
        one = agreeing(len(left), f"{why} were")
        report(Note(f"{counted(len(left), 'segment')} {one} left out (the first is '{left[0]}').", warning=True))


def translating(translator: "TranslationPredictor", min_confidence: float | None, how: dict[str, Any]) -> "Translate":
    """What translates the texts of a document; None for those of a lower confidence."""

    def translate(texts: Sequence[str], protects: bool) -> Iterator[str | None]:
        options = how["options"] if protects else how["options"]._replace(protect=())
        for one in translator.stream(iter(texts), **how | {"options": options}):
            yield None if one.is_below(min_confidence) else one.text

    return translate


def _check_languages(project: "Project", translator: "TranslationPredictor") -> None:
    from anaphora.text.language import bare

    if tuple(map(bare, project.languages)) != tuple(map(bare, translator.languages)):
        there, here = (" to ".join(languages) for languages in (project.languages, translator.languages))
        raise ConfigError(f"{project.folder} is translated from {there}, but the run translates {here}: name another.")


def _with_glossary(options: "SearchOptions", project: "Project", report: "Report") -> "SearchOptions":
    from anaphora.events import Note
    from anaphora.formats.term_bases import read_term_bases
    from anaphora.prediction.glossary import Glossary

    terms = [] if options.terms else read_term_bases(project.glossary, project.languages)
    if not terms:
        return options
    report(Note(f"{project.glossary}: {counted(len(terms), 'term')}."))
    options = options._replace(terms=Glossary(terms))
    options.check()
    return options


def _memory_of(project: "Project") -> Path:
    """The memory that is written, in a folder that is made where there is none."""
    file = project.memories / MEMORY
    try:
        file.parent.mkdir(parents=project.memories.is_relative_to(project.folder), exist_ok=True)
    except OSError as error:
        raise DataError(f"{file} cannot be written: {error.strerror}; name another with --output.") from None
    return file
