"""``anaphora align``: which words of a sentence and of its translation belong together."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from anaphora.cli.files import check_writable, given_lines, split_pairs
from anaphora.cli.options import Threads, use_threads
from anaphora.cli.progress import listening
from anaphora.cli.talk import say
from anaphora.errors import ConfigError, RunError

if TYPE_CHECKING:
    from anaphora.events import Report
    from anaphora.formats.pharaoh import Links

EXAMPLES = (
    "anaphora align runs/links pairs.tsv --output pairs.links",
    "anaphora align runs/en-de --source test.en --target test.de --gold test.links",
)


def run(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder of an aligner or a translator.")],
    file: Annotated[str, typer.Argument(metavar="[FILE|-]", help="Pairs: source, tab, translation.")] = "-",
    source: Annotated[Path | None, typer.Option(help="The sources alone, instead of pairs.")] = None,
    target: Annotated[Path | None, typer.Option(help="Their translations, line by line.")] = None,
    symmetrise: Annotated[
        str,
        typer.Option(
            metavar="WAY",
            help="Of an aligner: grow-diag-final-and, intersection, union, source-to-target, target-to-source. "
            "[default: the run's own]",
        ),
    ] = "",
    gold: Annotated[Path | None, typer.Option(help="Reference links to score against.")] = None,
    possible: Annotated[Path | None, typer.Option(help="Links that are allowed beside those of --gold.")] = None,
    output: Annotated[Path | None, typer.Option(help="Write the links here instead of printing them.")] = None,
    threads: Threads = 0,
) -> None:
    """Print the links between the space-separated words of every pair, a line each: 0-0 1-2 (Pharaoh format)."""
    if (source is None) != (target is None):
        raise ConfigError("--source and --target belong together, but only one of them was given.")
    if source is not None and file != "-":
        raise ConfigError(f"Pairs come from {file} or from --source and --target, but both were given: keep one.")
    if possible is not None and gold is None:
        raise ConfigError("--possible holds what is allowed beside --gold FILE, which is missing.")
    check_writable(output, read=[file, source, target, gold, possible])
    use_threads(threads)

    from anaphora.evaluation.alignment import agreement
    from anaphora.formats.lines import write_lines
    from anaphora.formats.pharaoh import to_pharaoh

    if source is not None and target is not None:
        sources, targets = given_lines(str(source)), given_lines(str(target))
    else:
        sources, targets = split_pairs(given_lines(file), file)
    sure, allowed = (_given_links(path, sources, targets) if path else [] for path in (gold, possible))
    with listening() as report:
        found = _links(run_folder, sources, targets, symmetrise, report)
    if output is None:
        for links in found:
            typer.echo(to_pharaoh(links))
    else:
        write_lines(output, map(to_pharaoh, found))
    if gold is not None:
        say(f"{len(found):,} pairs: {agreement(found, sure, allowed)}")


def _given_links(path: Path, sources: list[str], targets: list[str]) -> "list[Links]":
    from anaphora.formats.pharaoh import check_links, read_links, words_between_spaces

    links = read_links(path, len(sources))
    lengths = ([len(words_between_spaces(text)) for text in side] for side in (sources, targets))
    check_links(path, links, zip(*lengths, strict=False))
    return links


def _links(
    run_folder: Path, sources: list[str], targets: list[str], symmetrise: str, report: "Report"
) -> "list[Links]":
    from anaphora.config import unknown
    from anaphora.models.alignment.symmetrise import Symmetrise
    from anaphora.pipeline import LanguageModel, Translator, load
    from anaphora.pipeline.translation import NO_LINKS

    if symmetrise and symmetrise not in get_args(Symmetrise):
        raise ConfigError(unknown("--symmetrise", symmetrise, get_args(Symmetrise)))
    model = load(run_folder, report=report)
    if isinstance(model, LanguageModel):
        raise RunError(f"{run_folder} should be an aligner or a translator, but is a language model.")
    if not isinstance(model, Translator):
        how = cast(Symmetrise, symmetrise) if symmetrise else None
        return model.align(sources, targets, symmetrise=how, report=report)
    if symmetrise:
        raise ConfigError(f"--symmetrise joins two directions, but {run_folder} is a translator, which has one.")
    if not model.attends:
        raise ConfigError(NO_LINKS)
    return model.align(sources, targets, report=report)
