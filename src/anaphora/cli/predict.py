"""``anaphora predict``: what a classifier or a tagger says of each line."""

import json
from pathlib import Path
from typing import Annotated

import typer

from anaphora.cli.files import check_writable, given_texts, writing
from anaphora.cli.options import (
    DeviceOption,
    PrecisionOption,
    RunFolder,
    Threads,
    known_device,
    known_precision,
    use_threads,
)
from anaphora.cli.progress import listening
from anaphora.errors import RunError

EXAMPLES = (
    "anaphora predict runs/reviews reviews.txt",
    "echo 'a lovely film' | anaphora predict runs/reviews --json",
)


def run(
    run_folder: RunFolder,
    file: Annotated[str, typer.Argument(metavar="[FILE|-]", help="Texts, one a line.")] = "-",
    output: Annotated[Path | None, typer.Option(help="Write the predictions here instead of printing them.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object a line, with all probabilities.")
    ] = False,
    threads: Threads = 0,
    device: DeviceOption = "cpu",
    precision: PrecisionOption = "fp32",
) -> None:
    """Print the prediction for each line."""
    check_writable(output, read=[file, run_folder])
    use_threads(threads)
    where = known_device(device), known_precision(precision)

    from anaphora.tasks.runs import load, task_at

    with listening() as report, writing(output) as write:
        model = load(run_folder, device=where[0], precision=where[1], report=report)
        if not hasattr(model, "predict_stream"):
            task = task_at(run_folder)
            raise RunError(f"{run_folder} is {task.noun}, which predicts no labels: {task.see}.")
        for prediction in model.predict_stream(given_texts(file), report=report):
            write(json.dumps(prediction.json(), ensure_ascii=False) if as_json else str(prediction))
