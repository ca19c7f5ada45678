"""``anaphora score``: how likely a model finds lines of text, or translations of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anaphora.cli.files import check_writable, given_lines, split_pairs
from anaphora.cli.options import (
    DynamicOption,
    NeuralCacheOption,
    RunFolder,
    Threads,
    adaptation_of,
    use_threads,
)
from anaphora.cli.progress import listening
from anaphora.cli.talk import say
from anaphora.errors import RunError

if TYPE_CHECKING:
    from anaphora.evaluation.adaptation import Adaptation
    from anaphora.events import Report
    from anaphora.pipeline import LanguageModel, Translator

EXAMPLES = (
    "anaphora score runs/ptb sentences.txt",
    "echo 'the man walks' | anaphora score runs/ptb --json",
    "anaphora score runs/en-de pairs.tsv --output scores.txt",
    "anaphora score runs/ptb-lstm text.txt --dynamic 0",
)


def run(
    run_folder: RunFolder,
    file: Annotated[
        str, typer.Argument(metavar="[FILE|-]", help="Lines of text; for a translator source, tab, translation.")
    ] = "-",
    output: Annotated[Path | None, typer.Option(help="Write the scores here instead of printing them.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object a line instead of a number.")] = False,
    neural_cache: NeuralCacheOption = "",
    dynamic: DynamicOption = "",
    threads: Threads = 0,
) -> None:
    """Print log10 p of every line, its end included, each by itself; or in their order where the model adapts."""
    adaptation = adaptation_of(neural_cache, dynamic)
    check_writable(output, read=[file, run_folder])
    use_threads(threads)

    from anaphora.evaluation.perplexity import perplexity_of_log10
    from anaphora.experiment.scoring.adaptation import adapted_to_data, refuse_adaptation
    from anaphora.formats.figures import figures_as_json
    from anaphora.formats.lines import write_lines
    from anaphora.pipeline import Aligner, LanguageModel, load

    with listening() as report:
        model = load(run_folder, report=report)
        if isinstance(model, Aligner):
            raise RunError(f"{run_folder} is an aligner, which scores no text: see anaphora align.")
        lines = given_lines(file)
        if isinstance(model, LanguageModel):
            adaptation = adapted_to_data(model, run_folder, adaptation, report)
            found = list(_of_lines(model, lines, adaptation, report))
        else:
            refuse_adaptation(run_folder, adaptation)
            found = list(_of_pairs(model, *split_pairs(lines, file), report))
    printed = (figures_as_json(one) if as_json else f"{one['log10']:.6f}" for one in found)
    if output is None:
        for line in printed:
            typer.echo(line)
    else:
        write_lines(output, printed)
    units, total = sum(one["units"] for one in found), sum(one["log10"] for one in found)
    if not units:
        say("There is nothing to score: the text is empty.")
    else:
        say(
            f"{len(found):,} lines, log10 p {total:.4f} in all, perplexity {perplexity_of_log10(total, units):,.3f} "
            f"of {units:,} predictions, {sum(one['unknown'] for one in found):,} unknown"
            f"{'; ' + str(adaptation) if str(adaptation) else ''}."
        )


def _of_lines(
    model: "LanguageModel", lines: list[str], adaptation: "Adaptation", report: "Report"
) -> Iterator[dict[str, Any]]:
    for line in model.score_lines(lines, adaptation, report=report):
        yield {"log10": line.log10, "units": line.units, "unknown": line.unknown, "perplexity": line.perplexity}


def _of_pairs(
    model: "Translator", sources: list[str], targets: list[str], report: "Report"
) -> Iterator[dict[str, Any]]:
    from anaphora.evaluation.perplexity import perplexity
    from anaphora.formats.figures import LN_10
    from anaphora.text.coder import is_unknown

    for scored in model.score_pairs(sources, targets, report=report):
        yield {
            "log10": scored.score / LN_10,
            "units": len(scored.target_pieces),
            "unknown": sum(map(is_unknown, scored.target_pieces)),
            "perplexity": perplexity(-scored.score, len(scored.target_pieces)),
        }
