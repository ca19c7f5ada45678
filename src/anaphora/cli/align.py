"""``anaphora align``: which words of a sentence and of its translation belong together.

Examples:
    anaphora align runs/links pairs.tsv --output pairs.links
    anaphora align runs/en-de pairs.tsv --soft
    anaphora align runs/en-de --source test.en --target test.de --gold test.links
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from anaphora.cli.files import check_writable, given_texts, name_of, writing
from anaphora.cli.options import Threads, ToOption
from anaphora.cli.progress import listening
from anaphora.cli.talk import print_json, say
from anaphora.errors import ConfigError, RunError
from anaphora.formats.json_text import figures_as_json
from anaphora.formats.pharaoh import Links, each_links, to_pharaoh, words_between_spaces
from anaphora.formats.tsv import split_pairs
from anaphora.inference.alignment.symmetrise import Symmetrise
from anaphora.options import Argument, Excludes, Needs, Option
from anaphora.wording import inflect

if TYPE_CHECKING:
    from anaphora.evaluation.alignment import SoftLinks
    from anaphora.events import Report


CONFLICTS = (
    Needs("--source", "--target"),
    Needs("--target", "--source"),
    Needs("--possible", "--gold"),
    Needs("--json", "--gold"),
    Excludes("FILE", "--source", "Pairs come from one file, or from --source and --target"),
    Excludes("--soft", "--gold --symmetrise", "--soft prints weights and no links"),
)


def run(
    run_folder: Annotated[Path, Argument("Run folder of an aligner or a translator.", metavar="RUN")],
    file: Annotated[str, Argument("File of pairs: source, tab, translation.", metavar="[FILE|-]")] = "-",
    source: Annotated[Path | None, Option("Source file, instead of a file of pairs.")] = None,
    target: Annotated[Path | None, Option("Target file, line-aligned with --source.")] = None,
    symmetrise: Annotated[
        Symmetrise | None, Option("Symmetrisation of an aligner, e.g. union.", default="the run's own", metavar="NAME")
    ] = None,
    gold: Annotated[Path | None, Option("Reference alignments to score against.")] = None,
    possible: Annotated[Path | None, Option("Alignments that are allowed beside those of --gold.")] = None,
    output: Annotated[Path | None, Option("Write alignments to this file instead of printing them.")] = None,
    as_json: Annotated[bool, Option("With --gold: print JSON scores; alignments to --output.", name="--json")] = False,
    soft: Annotated[bool, Option("Print a translator's attention between words, as lines of JSON.")] = False,
    to: ToOption = "",
    threads: Threads = 0,
) -> None:
    """Print word alignments of sentence pairs.

    There is one line for each pair, in the Pharaoh format.
    """
    check_writable(output, read=[file, source, target, gold, possible])

    from anaphora.evaluation.alignment import agreement

    pairs = _align(source, target) if source and target else split_pairs(given_texts(file), name_of(file))
    sure: list[Links] = []
    allowed: list[Links] = []
    if gold is not None:
        given = list(pairs)
        lengths = [(len(words_between_spaces(one)), len(words_between_spaces(other))) for one, other in given]
        sure, allowed = ([*each_links(path, lengths)] if path else [] for path in (gold, possible))
        pairs = iter(given)
    found: list[Links] = []
    with listening() as report, writing(output) as write:
        if soft:
            for weights in _soft_links(run_folder, to, pairs, report):
                write(figures_as_json(weights.json()))
            return
        for links in _links(run_folder, to, pairs, symmetrise, report):
            if output or not as_json:
                write(to_pharaoh(links))
            if gold is not None:
                found.append(links)
    if gold is not None:
        scores = agreement(found, sure, allowed)
        if as_json:
            return print_json({"pairs": len(found), **scores._asdict(), "f1": scores.f1})
        say(f"{inflect(len(found), 'pair')}: {scores}")


def _align(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    """Line by line; DataError, before anything is printed, where one file is longer."""
    from anaphora.data.corpora import AlignedFiles

    pairs = AlignedFiles(source, target)
    for _ in pairs:
        pass
    return iter(pairs)


def _links(
    run_folder: Path, to: str, pairs: Iterable[tuple[str, str]], symmetrise: Symmetrise | None, report: "Report"
) -> Iterator[Links]:
    from anaphora.tasks.runs import kind_at, load

    model = load(run_folder, to=to, report=report)
    if not hasattr(model, "align_stream"):
        raise RunError(f"{run_folder} should be an aligner or a translator, but is {kind_at(run_folder).noun}.")
    found: Iterator[Links] = model.align_stream(pairs, symmetrise=symmetrise, report=report)
    return found


def _soft_links(run_folder: Path, to: str, pairs: Iterable[tuple[str, str]], report: "Report") -> "Iterator[SoftLinks]":
    from anaphora.tasks.runs import load
    from anaphora.tasks.translation.predictor import TranslationPredictor
    from anaphora.tasks.translation.translation import NO_LINKS

    model = load(run_folder, kind=TranslationPredictor, to=to, report=report)
    if not model.attends:
        raise ConfigError(NO_LINKS)
    return (found.soft_links() for found in model.score_stream(pairs, attention=True, report=report))
