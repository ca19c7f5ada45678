"""``anaphora evaluate``: how good a run is, in figures that can be cited."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anaphora.cli.options import Beam, Json, LengthPenalty, RunFolder, Threads, use_threads
from anaphora.cli.progress import listening
from anaphora.errors import ConfigError

if TYPE_CHECKING:
    from anaphora.evaluation.perplexity import Prediction

EXAMPLES = (
    "anaphora evaluate runs/en-de",
    "anaphora evaluate runs/en-de --source test.en --reference test.de --json",
    "anaphora evaluate runs/book --text other.txt",
)


def run(
    run_folder: RunFolder,
    source: Annotated[Path | None, typer.Option(help="Text to translate (for a translator).")] = None,
    reference: Annotated[Path | None, typer.Option(help="Its translation by people.")] = None,
    text: Annotated[Path | None, typer.Option(help="Text to predict (for a language model).")] = None,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    as_json: Json = False,
    threads: Threads = 0,
) -> None:
    """Score a run on given text, or on the test parts that it was configured with."""
    if (source is None) != (reference is None):
        raise ConfigError("--source and --reference belong together, but only one of them was given.")
    if source is not None and text is not None:
        raise ConfigError("--source and --reference are for translators and --text for language models: give one kind.")
    use_threads(threads)

    from anaphora.experiment.assess import TranslationScores, assess

    pairs = (source, reference) if source is not None and reference is not None else None
    with listening() as report:
        results = assess(run_folder, pairs=pairs, text=text, beam=beam, length_penalty=length_penalty, report=report)
    if as_json:
        parts = {part: result.json() for part, result in results.items()}
        typer.echo(json.dumps({"run": str(run_folder), "parts": parts}, ensure_ascii=False))
        return
    for part, result in results.items():
        shown = str(result) if isinstance(result, TranslationScores) else _in_words(result)
        typer.echo(f"{part}\n{shown}")


def _in_words(prediction: "Prediction") -> str:
    return (
        f"{prediction.bits_per_character:.4f} bits per character, {prediction.bits_per_byte:.4f} bits per byte, "
        f"perplexity {prediction.perplexity:.3f} of {prediction.tokens:,} predictions, {prediction.unknown:,} unknown"
    )
