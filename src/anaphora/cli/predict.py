"""``anaphora predict``: the class, the tags or the output string of each line or sequence, or captions of images.

Examples:
    anaphora predict runs/reviews reviews.txt
    echo 'a lovely film' | anaphora predict runs/reviews --json
    anaphora predict runs/upos new.conllu --output tagged.conllu
    echo 'A man walks.' | anaphora predict runs/upos --format text
    echo anaphora | anaphora predict runs/cmudict
    anaphora predict runs/cmudict words.txt --confidence
    anaphora predict runs/frames frames.npz
    anaphora predict runs/reader strokes.jsonl
    anaphora predict runs/scenes features.npz --pictures pictures
    anaphora predict runs/sensors sensors.npz --steps 24
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from anaphora.cli.files import check_writable, given_lines, given_texts, name_of, writing
from anaphora.cli.options import ColumnsOption, InitialState, Machine, RunFolder, columns_in
from anaphora.cli.progress import listening
from anaphora.errors import ConfigError, RunError
from anaphora.options import Argument, Excludes, Needs, Option

if TYPE_CHECKING:
    from anaphora.events import Report
    from anaphora.tasks.describe.predictor import Description


@dataclass(frozen=True)
class Forecasts:
    """Forecasts of signals."""

    heading: ClassVar = "Forecasts"

    steps: Annotated[int | None, Option("For signals: forecast so many steps of each sequence.", min=1)] = None
    samples: Annotated[int | None, Option("Draw so many continuations; --json has them.", min=1, default="200")] = None
    interval: Annotated[float, Option("Probability of the interval around each number.", min=0, max=1)] = 0.9
    seed: Annotated[int, Option("Random seed of the continuations.", min=0)] = 0

    conflicts: ClassVar = (
        Needs("--samples --interval --seed", "--steps"),
        Excludes("--steps", "--format --columns --pictures --initial-state", "{option} is for signals, {other} is not"),
    )

    def lines(
        self, model: Any, run_folder: Path, file: str, noun: str, as_json: bool, report: "Report"
    ) -> Iterator[str]:
        """Yield what is printed of each sequence of a file; ConfigError for a model of anything but signals."""
        if not hasattr(model, "forecast_file"):
            raise ConfigError(f"--steps is for signals, but {run_folder} is {noun}: leave it out.")
        path = _array_file(file, run_folder, noun)
        drawn = {} if self.samples is None else {"samples": self.samples}
        for one in model.forecast_file(
            path, self.steps, **drawn, interval=self.interval, seed=self.seed, report=report
        ):
            more = {"samples": one.samples_STD.tolist()} if self.samples else {}
            yield json.dumps(one.json() | more) if as_json else str(one)


def run(
    run_folder: RunFolder,
    file: Annotated[str, Argument("Texts, one per line, a file to tag, arrays or strokes.", metavar="[FILE|-]")] = "-",
    output: Annotated[Path | None, Option("Write predictions to this file instead of printing them.")] = None,
    as_json: Annotated[bool, Option("Print a JSON object per text or sentence, with details.", name="--json")] = False,
    format_: Annotated[
        str,
        Option("For a tagger: conllu, columns, jsonl or text.", default="by the file", metavar="NAME", name="--format"),
    ] = "",
    columns: ColumnsOption = "",
    confidence: Annotated[bool, Option("For a transducer: write the confidence before each output.")] = False,
    pictures: Annotated[Path | None, Option("For images: draw each word's attention as PNG.", metavar="FOLDER")] = None,
    initial_state: InitialState = None,
    *,
    forecasts: Forecasts,
    machine: Machine,
) -> None:
    """Print the prediction for each line or image.

    A tagger prints the tagged file.
    """
    check_writable(output, read=[file, run_folder])

    from anaphora.tasks.runs import kind_at, load

    with listening() as report:
        model = load(run_folder, initial_state=initial_state, report=report, **machine.options)
        task = kind_at(run_folder)
        if forecasts.steps:
            lines, exact = forecasts.lines(model, run_folder, file, task.noun, as_json, report), False
        else:
            _check_options(model, run_folder, task, format_, confidence, pictures)
            if reads_arrays(model):
                _array_file(file, run_folder, task.noun)
            found, exact = _predictions(model, run_folder, file, format_, columns_in(columns), confidence, report)
            if confidence and exact and not as_json:
                raise ConfigError(f"{file} is a table, whose rows have no place for --confidence: add --json.")
            lines = _lines(found, pictures, confidence, as_json)
        with writing(output, exact=exact and not as_json) as write:
            for line in lines:
                write(line)


def _check_options(
    model: Any, run_folder: Path, task: Any, format_: str, confidence: bool, pictures: Path | None
) -> None:
    """Raise ConfigError for options of other models, RunError for a model that predicts nothing."""
    if not hasattr(model, "predict_stream"):
        raise RunError(f"{run_folder} is {task.noun}, which predicts no labels: {task.see}.")
    for option, given, method, users in (
        ("format", format_, "predict_lines", "taggers"),
        ("confidence", confidence, "translator", "transducers of strings"),
    ):
        if given and not hasattr(model, method):
            raise ConfigError(f"--{option} is for {users}, but {run_folder} is {task.noun}: leave it out.")
    if pictures and not getattr(model, "attends_to_grid", False):
        raise ConfigError(f"--pictures needs attention over an image, which {run_folder} has not: leave it out.")


def _lines(predictions: Iterator[Any], pictures: Path | None, confidence: bool, as_json: bool) -> Iterator[str]:
    """Yield what is printed of each prediction, after drawing it where ``pictures`` are asked for."""
    for prediction in predictions:
        if pictures:
            _draw(prediction, pictures)
        if not as_json:
            yield f"{prediction.confidence:.4f}\t{prediction}" if confidence else str(prediction)
        elif getattr(prediction, "words", True):  # not of what is between sentences or rows
            yield json.dumps(prediction.json(), ensure_ascii=False)


def _predictions(
    model: Any, run_folder: Path, file: str, format_: str, columns: list[int | str], confidence: bool, report: "Report"
) -> tuple[Iterator[Any], bool]:
    """Return the predictions for a file, and True if they have the lines of the file as they stand there."""
    from anaphora.formats.table_columns import TableColumns
    from anaphora.formats.table_rows import is_table
    from anaphora.prediction.tables import predict_table
    from anaphora.tasks.runs import options_at

    data = options_at(run_folder).data if columns or is_table(file) else None
    table = TableColumns.of(data) if hasattr(data, "usual_columns") else None
    if columns and table is None:
        raise ConfigError(f"--columns is for tables, which {run_folder} does not read: leave it out.")
    if reads_arrays(model):
        return model.predict_file(Path(file), report=report), False
    if hasattr(model, "predict_lines"):
        lines = given_lines(file, exact=True)
        return model.predict_lines(lines, name_of(file), format=format_, columns=columns, report=report), True
    predict = model.predict_stream
    if confidence:
        from anaphora.prediction.options import SearchOptions

        predict = partial(predict, options=SearchOptions(confidence=True))
    if table is None:
        return predict(given_texts(file), report=report), False
    read = table._replace(chosen=tuple(columns), header=()) if columns else table
    answer = partial(predict, report=report)
    return predict_table(answer, given_lines(file, exact=True), name_of(file), read), True


def _array_file(file: str, run_folder: Path, noun: str) -> Path:
    """Return the path of a file of arrays or strokes; ConfigError for standard input."""
    if file == "-":
        raise ConfigError(f"{run_folder} is {noun} of arrays or strokes: name a file of them.")
    return Path(file)


def reads_arrays(model: Any) -> bool:
    """Return True for a predictor of arrays or strokes, which are read from files of their own."""
    return bool(getattr(model, "reads_arrays", hasattr(model, "predict_file")))


def _draw(description: "Description", folder: Path) -> None:
    """Draw the attention of a description, as a picture named after its image."""
    from anaphora.formats.captions import image_key
    from anaphora.inspection.drawing.heat import draw_grid_attention
    from anaphora.inspection.labels import labels

    assert description.weights is not None
    path = folder / f"{image_key(description.image)}.png"
    draw_grid_attention(path, labels(description.pieces), description.weights, title=description.text)
