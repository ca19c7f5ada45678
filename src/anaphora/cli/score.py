"""``anaphora score``: how likely a model finds lines of text, or translations of them."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anaphora.cli.opening import check_writable, given_lines, split_pairs
from anaphora.cli.options import RunFolder, Threads, use_threads
from anaphora.cli.progress import listening
from anaphora.cli.talk import say
from anaphora.errors import RunError

if TYPE_CHECKING:
    from anaphora.events import Report
    from anaphora.pipeline import LanguageModel, Translator

EXAMPLES = (
    "anaphora score runs/ptb sentences.txt",
    "echo 'the man walks' | anaphora score runs/ptb --json",
    "anaphora score runs/en-de pairs.tsv --output scores.txt",
)


def run(
    run_folder: RunFolder,
    file: Annotated[
        str, typer.Argument(metavar="[FILE|-]", help="Lines of text; for a translator source, tab, translation.")
    ] = "-",
    output: Annotated[Path | None, typer.Option(help="Write the scores here instead of printing them.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object a line instead of a number.")] = False,
    threads: Threads = 0,
) -> None:
    """Print log10 p of every line, its end included, each line read by itself."""
    check_writable(output)
    use_threads(threads)

    from anaphora.formats.lines import write_lines
    from anaphora.pipeline import Aligner, LanguageModel, load

    with listening() as report:
        model = load(run_folder, report=report)
        if isinstance(model, Aligner):
            raise RunError(f"{run_folder} is an aligner, which scores no text: see anaphora align.")
        lines = given_lines(file)
        found = list(
            _of_lines(model, lines, report) if isinstance(model, LanguageModel) else _of_pairs(model, lines, report)
        )
    printed = (json.dumps(one, ensure_ascii=False) if as_json else f"{one['log10']:.6f}" for one in found)
    if output is None:
        for line in printed:
            typer.echo(line)
    else:
        write_lines(output, printed)
    units, total = sum(one["units"] for one in found), sum(one["log10"] for one in found)
    if units:
        say(
            f"{len(found):,} lines, log10 p {total:.4f} in all, perplexity {10 ** (-total / units):.3f} "
            f"of {units:,} predictions, {sum(one['unknown'] for one in found):,} unknown."
        )


def _of_lines(model: "LanguageModel", lines: list[str], report: "Report") -> Iterator[dict[str, Any]]:
    for line in model.score_lines(lines, report=report):
        yield {"log10": line.log10, "units": line.units, "unknown": line.unknown, "perplexity": line.perplexity}


def _of_pairs(model: "Translator", lines: list[str], report: "Report") -> Iterator[dict[str, Any]]:
    sources, targets = split_pairs(lines)
    for scored in model.score_pairs(sources, targets, report=report):
        yield {
            "log10": scored.score / math.log(10),
            "units": len(scored.target_pieces),
            "unknown": sum(piece.endswith("<unk>") for piece in scored.target_pieces),
            "perplexity": math.exp(-scored.score / len(scored.target_pieces)),
        }
