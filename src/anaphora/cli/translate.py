"""``anaphora translate``: lines in, translated lines out.

Examples:
    anaphora translate runs/en-de test.en --output test.de
    anaphora translate runs/en-de-1 runs/en-de-2 runs/en-de-3 test.en --beam 8
    anaphora translate runs/en-de test.en --language-model runs/german --fusion-weight 0.2
    anaphora translate runs/en-de test.en --beam 10 --nbest 10 --output test.nbest
    anaphora translate runs/en-de test.en --beam 10 --nbest 5 --groups 5 --json
    anaphora translate runs/en-de test.en --sample --temperature 0.8 --top-p 0.9 --seed 3
    anaphora translate runs/en-de test.en --sample --minimum-risk 16
    anaphora translate runs/en-de test.en --replace-unknown --dictionary en-de.tsv
    anaphora translate runs/en-de test.en --prefixes begun.de --suffixes ends.de --beam 8
    anaphora translate runs/de-en news.de --no-split --pairs made.tsv --translation-first
    anaphora translate runs/en-de app.po --output app.de.po
    anaphora translate runs/en-de omegat-project
    anaphora translate runs/en-de app.po --memory --adapt --output app.de.po
    anaphora translate runs/en-de app.po --min-confidence 0.7 --output app.de.po
    anaphora translate runs/en-de test.en --confidence --min-confidence 0.5
    anaphora translate runs/en-de test.en --shortlist --precision int8
    anaphora translate runs/en-de crawl.en.gz --workers 2 --output crawl.de.gz
    echo 'A man is walking.' | anaphora translate runs/en-de --alignments links.txt
    anaphora translate runs/three test.es --to gn --output test.gn
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain, repeat, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from anaphora.cli.bulk import Workers
from anaphora.cli.files import given_lines, given_texts, is_interactive, typed_texts
from anaphora.cli.options import Combination, Machine, SourceOption, ToOption
from anaphora.cli.progress import listening
from anaphora.cli.searching import SearchTable
from anaphora.cli.tables import changed_options, declared_option, files_in
from anaphora.cli.talk import complain
from anaphora.cli.translations import Outputs
from anaphora.errors import AnaphoraError, ConfigError
from anaphora.events import Note, Report
from anaphora.options import Argument, Excludes, Needs, Option
from anaphora.prediction.options import MAX_TOKENS, SearchOptions
from anaphora.wording import agreeing, inflect

if TYPE_CHECKING:
    from anaphora.memory import Memory
    from anaphora.prediction.adaptation import Adaptation
    from anaphora.tasks.translation.constraints import Framed
    from anaphora.tasks.translation.predictor import TranslationPredictor


NoSplit = Annotated[bool, Option("Translate each line as one sentence, without outer white space.", name="--no-split")]


@dataclass(frozen=True)
class Framing:
    """Prefixes and suffixes of the translations of a text."""

    heading: ClassVar = "Search"

    prefixes: Annotated[Path | None, Option("Beginnings of translations, one a line, or empty.", metavar="FILE")] = None
    suffixes: Annotated[Path | None, Option("Ends of translations, one a line, or empty.", metavar="FILE")] = None

    conflicts: ClassVar = (Excludes("--prefixes --suffixes", "--memory", "What comes from a memory is not framed"),)

    def frame(self, lines: Iterable[str], faults: list[str]) -> "Iterator[str | Framed]":
        """Yield the lines, each with its prefix and suffix, which a line after the last of them lacks.

        What is wrong with a file of more lines than the text is put into ``faults``. Errors as for ``given_lines``.
        """
        files = self.prefixes, self.suffixes
        if not any(files):
            yield from lines
            return
        from anaphora.tasks.translation.constraints import Framed

        prefixes, suffixes = (repeat("") if file is None else given_lines(str(file)) for file in files)
        number = 0
        for number, line in enumerate(lines, 1):  # noqa: B007
            yield Framed(line, next(prefixes, None), next(suffixes, None))
        for file, given in zip(files, (prefixes, suffixes), strict=True):
            if file is not None and next(given, None) is not None:
                faults.append(f"{file} has more lines than the text, which has {number:,}: give one for every line.")


@dataclass(frozen=True)
class Remembering:
    """Use of the memory, and the minimum similarity of shown segments."""

    heading: ClassVar = "Memory"

    memory: Annotated[bool, Option("Use the translations of the run's memory.")] = False
    fuzzy: Annotated[
        int | None,
        Option("Least similarity (%) of what --json shows, documents take.", min=0, max=100, default="75 with --json"),
    ] = None
    adapt: Annotated[bool, Option("Mix what the memory has of similar texts into predictions.")] = False

    conflicts: ClassVar = (
        Needs("--fuzzy", "--memory"),
        Needs("--adapt", "--memory"),
        Excludes("--memory", "--alignments --soft-alignments", "What comes from a memory has no word alignments"),
    )

    def check(self, file: str, kind: str, outputs: Outputs) -> None:
        """Raise ConfigError where similar segments are neither shown nor can be marked for review."""
        from anaphora.formats.entries.document import REVIEWED

        if self.fuzzy is not None and kind not in REVIEWED and not outputs.as_json:
            what = f"{file} has no state for that" if kind else "lines show them with --json"
            raise ConfigError(f"--fuzzy fills documents for review (PO, XLIFF), but {what}: leave it out.")

    def wrap(
        self, translator: "TranslationPredictor", run_folder: Path, outputs: Outputs, kind: str
    ) -> "TranslationPredictor":
        """Return the translator, with the memory of a run if that is asked for.

        Similar segments are looked for if shown, or written into a document of a ``kind``.
        """
        if not self.memory:
            return translator
        from anaphora.memory.memory import THRESHOLD
        from anaphora.tasks.translation.tm_lookup import RememberingTranslator

        fuzzy = self.fuzzy if self.fuzzy is not None else THRESHOLD if outputs.as_json else 100
        return RememberingTranslator(translator, _memory(run_folder, *translator.languages), fuzzy, writes=bool(kind))

    def adaptation(self, run_folder: Path, source: str, to: str) -> "Adaptation | None":
        """Return the memory that the search is adapted to, if that is asked for."""
        if not self.adapt:
            return None
        from anaphora.tasks.translation.tm_lookup import adaptation_to

        return adaptation_to(_memory(run_folder, source, to))


def run(
    given: Annotated[
        list[str],
        Argument("Run folder, or several as an ensemble, then a text, document or project.", metavar="RUN... [FILE|-]"),
    ],
    outputs: Outputs,
    search: SearchTable,
    framing: Framing,
    remembering: Remembering,
    workers: Workers,
    combination: Combination,
    no_split: NoSplit = False,
    to: ToOption = "",
    source: SourceOption = "",
    max_tokens: Annotated[int, declared_option(SearchOptions, "max_tokens")] = MAX_TOKENS,
    *,
    machine: Machine,
) -> None:
    """Translate lines, or what documents lack.

    Documents are PO, TMX, XLIFF, HTML, SRT, VTT and OmegaT files. At a terminal, translate each line that is typed,
    until Ctrl-D.
    """
    runs, file = _runs_and_file(given)
    outputs.check(read=[*runs, file, *files_in(combination, search, framing)])
    workers.check(outputs)
    where: Any = {**machine.options, "to": to, "source": source}
    options = search.options(
        alternatives=max(0, outputs.nbest - 1),
        attention=outputs.attention,
        confidence=outputs.judges,
        adaptation=remembering.adaptation(runs[0], source, to),
        suffixes=framing.suffixes is not None,
        max_tokens=max_tokens,
    )

    from anaphora.cli.documents import document_kind, translate_document

    faults, split = _Faults(), not no_split
    kind = document_kind(file, changed_options(outputs, framing, workers), runs[0], to, source)
    remembering.check(file, kind, outputs)
    mean, fusion = combination.mean_of(len(runs)), combination.fusion
    if outputs.output and workers.count:
        from anaphora.bulk.translation import LoadTranslator, threads_each

        threads = machine.threads or threads_each(workers.count, workers.engine)
        load = LoadTranslator(tuple(runs), options, split, mean, fusion, **where, threads=threads)
        faults.refused = workers.translate(file, outputs.output, load)
        return faults.end()
    from anaphora.tasks.translation.predictor import load_together

    with listening(bars=not is_interactive(file)) as report:
        translator = remembering.wrap(load_together(runs, mean, fusion, report=report, **where), runs[0], outputs, kind)
        if outputs.confidence:
            options = _with_calibration(options, translator, outputs.min_confidence is not None, report)
        how = {"options": options, "split": split, "report": report}
        if kind:
            return translate_document(translator, Path(file), kind, outputs, how)
        _translate_lines(translator, file, outputs, framing, faults, runs[0].name if remembering.memory else "", how)
    faults.end()


def _with_calibration(
    options: SearchOptions, translator: "TranslationPredictor", needed: bool, report: Report
) -> SearchOptions:
    """Return options without confidence, and report why, where that was not calibrated and is not needed."""
    from anaphora.tasks.translation.confidence import VERSION

    try:
        found = translator.calibration(options)
        if found.version < VERSION:
            meant = "the probability that chrF2 is at least 50, and not that no or one word has to be edited"
            report(Note(f"Confidence was calibrated by an older version: it is {meant}. Run anaphora calibrate again."))
    except ConfigError as error:
        if needed:
            raise
        report(Note(f"{error} Translations are written without confidence.", warning=True))
        return options._replace(confidence=False)
    return options


def _translate_lines(
    translator: "TranslationPredictor",
    file: str,
    outputs: Outputs,
    framing: Framing,
    faults: "_Faults",
    model: str,
    how: dict[str, Any],
) -> None:
    """Translate the lines of a file as they come; ``how`` is passed to the translator."""
    typed, waiting = is_interactive(file), deque[str]()
    aligned = outputs.aligner(translator, how["report"])
    lines = _record_lines(typed_texts() if typed else given_texts(file), waiting)
    asked = framing.frame(lines, faults.others)
    texts: Iterable[Iterable[str | Framed]] = ([line] for line in asked) if typed else [asked]
    answers = (translator.stream(some, refused=faults.refuse, **how) for some in texts)
    outputs.write(waiting, chain.from_iterable(answers), how["report"], aligned, model=model)


class _Faults:
    """Faults of refused lines, and of files beside the text."""

    def __init__(self) -> None:
        self.refused, self.others = 0, list[str]()

    def refuse(self, number: int, error: AnaphoraError) -> None:
        """Report why a line is refused."""
        self.refused += 1
        complain(str(error))

    def end(self) -> None:
        """Report how many lines were refused and what else was wrong, and exit with that, if anything was."""
        found = [*self.others]
        if self.refused:
            have = agreeing(self.refused, "have no translation")
            found.append(f"{inflect(self.refused, 'line', 'were refused')} and {have}.")
        for fault in found:
            complain(fault)
        if found:
            raise typer.Exit(AnaphoraError.exit_code)


def _record_lines(lines: Iterable[str], waiting: deque[str]) -> Iterator[str]:
    """Yield the lines, each put where it waits for its translation: they are read ahead, by another thread."""
    for line in lines:
        waiting.append(line)
        yield line


def _runs_and_file(given: list[str]) -> tuple[list[Path], str]:
    """Return the run folders, and the file or project after them.

    "-" where there is none. The first is always a run.
    """
    from anaphora.formats.omegat import is_project

    first, *others = map(Path, given)
    runs = [first, *takewhile(lambda path: path.is_dir() and not is_project(path), others)]
    files = given[len(runs) :]
    if len(files) > 1:
        raise ConfigError(f"Run folders come first and then one text, but something follows {files[0]}: give one text.")
    return runs, files[0] if files else "-"


@cache
def _memory(run_folder: Path, source: str, to: str) -> "Memory":
    from anaphora.memory import Memory
    from anaphora.tasks.runs import direction_at

    return Memory(run_folder, pair="-".join(direction_at(run_folder, to, source) or ()))
