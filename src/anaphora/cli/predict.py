"""``anaphora predict``: the class, the tags or the output string of each line."""

import json
from pathlib import Path
from typing import Annotated

import typer

from anaphora.cli.files import check_writable, given_lines, given_texts, named, writing, writing_exact
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
from anaphora.errors import ConfigError, RunError

EXAMPLES = (
    "anaphora predict runs/reviews reviews.txt",
    "echo 'a lovely film' | anaphora predict runs/reviews --json",
    "anaphora predict runs/upos new.conllu --output tagged.conllu",
    "echo 'A man walks.' | anaphora predict runs/upos --format text",
    "echo anaphora | anaphora predict runs/cmudict",
)


def run(
    run_folder: RunFolder,
    file: Annotated[
        str, typer.Argument(metavar="[FILE|-]", help="File of texts, one per line, or a file to tag.")
    ] = "-",
    output: Annotated[
        Path | None, typer.Option(help="Write predictions to this file instead of printing them.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object for each text or sentence, with all details.")
    ] = False,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            help="For a tagger: conllu, columns, jsonl or text. [default: by the file and its first line]",
        ),
    ] = "",
    threads: Threads = 0,
    device: DeviceOption = "cpu",
    precision: PrecisionOption = "fp32",
) -> None:
    """Print the prediction for each line; a tagger prints the file with its tags."""
    check_writable(output, read=[file, run_folder])
    use_threads(threads)
    where = known_device(device), known_precision(precision)

    from anaphora.tasks.runs import load, task_at

    with listening() as report:
        model = load(run_folder, device=where[0], precision=where[1], report=report)
        if not hasattr(model, "predict_stream"):
            task = task_at(run_folder)
            raise RunError(f"{run_folder} is {task.noun}, which predicts no labels: {task.see}.")
        of_lines = hasattr(model, "predict_lines")
        if format_ and not of_lines:
            raise ConfigError(f"--format is for taggers, but {run_folder} is {task_at(run_folder).noun}: leave it out.")
        if hasattr(model, "predict_file"):
            if file == "-":
                raise ConfigError(f"{run_folder} is {task_at(run_folder).noun}: name a file or folder of its features.")
            found = model.predict_file(Path(file), report=report)
        elif of_lines:
            lines = given_lines(file, exact=True)
            found = model.predict_lines(lines, named(file), format=format_, report=report)
        else:
            found = model.predict_stream(given_texts(file), report=report)
        with (writing_exact if of_lines and not as_json else writing)(output) as write:
            for prediction in found:
                if not as_json:
                    write(str(prediction))
                elif not of_lines or prediction.words:  # not of what is between sentences
                    write(json.dumps(prediction.json(), ensure_ascii=False))
