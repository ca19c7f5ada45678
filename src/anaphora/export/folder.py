"""The folder of an exported model: graphs, ``config.json`` with its tokenizers, and a driver."""

import json
import logging
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from anaphora.errors import DataError
from anaphora.export.graph import library
from anaphora.export.networks import graphs_of
from anaphora.tasks.task import TrainedModel
from anaphora.wording import inflect

CONFIG = "config.json"
Example = str | tuple[str, str]
"""A line for a language model; a source and its translation."""


@dataclass(frozen=True)
class RoundingResult:
    """Change of the outputs by rounding weights to int8."""

    bytes_before: int
    bytes_after: int
    """Of all graphs."""
    loss_before: float
    loss_after: float
    """Mean -ln p of a token of the examples; nan without any."""
    examples: int
    """Number of outputs that were compared."""

    def __str__(self) -> str:
        after, before = (
            f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"
            for count in (self.bytes_after, self.bytes_before)
        )
        sizes = f"int8: {after} in place of {before}"
        if not self.examples:
            return sizes
        loss = f"loss a token {self.loss_before:.4f} before and {self.loss_after:.4f} after"
        return f"{sizes}; {loss} ({inflect(self.examples, 'line')} of the validation split)"


def write_folder(trained: TrainedModel, folder: Path, *, int8: bool = False, examples: Iterable[Example] = ()) -> Any:
    """Write a trained network to a new folder, whole or not at all.

    With ``int8``, weights of products are rounded to 8 bits, and a ``RoundingResult`` is returned; it has the loss of
    ``examples``, too, where the model reads and writes text. Raises ConfigError, naming the option, for a model without
    a graph or a tokenizer that the driver does not have, MissingExtraError without the libraries, DataError for a
    folder that is there.
    """
    if folder.exists():
        raise DataError(f"{folder} is there already: name a new folder.")
    if not folder.absolute().parent.is_dir():
        raise DataError(f"{folder} cannot be written: there is no folder {folder.absolute().parent}; make it first.")
    graphs = graphs_of(trained)
    config = {"format": 1, "graphs": list(graphs.models), **graphs.config}
    new = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    for name, model in graphs.models.items():
        library("onnx").save(model, str(new / f"{name}.onnx"))
    (new / CONFIG).write_text(json.dumps(config, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    for program in ("reading.py", "driver.py", *(["sampler.py"] if config["answers"] == "vectors" else [])):
        code = files("anaphora.export").joinpath(program).read_text(encoding="utf-8")
        (new / program).write_text(code.replace("from anaphora.export.", "from "), encoding="utf-8")
    of_text = config["reads"] == config["answers"] == "text"
    rounded = _round_weights(new, list(examples) if of_text else []) if int8 else None
    new.rename(folder)
    return rounded


def _round_weights(folder: Path, examples: Sequence[Example]) -> RoundingResult:
    """Round the graphs of a folder in place."""
    quantization, graphs = library("onnxruntime.quantization"), sorted(folder.glob("*.onnx"))
    before, loss_before = _bytes(graphs), mean_loss(folder, examples)
    # it advises, for every graph, to optimise it with another program first
    logging.getLogger().addFilter(_is_silenced)
    try:
        for graph in graphs:
            small = graph.with_suffix(".int8")
            options = {"EnableSubgraph": True, "MatMulConstBOnly": True}
            quantization.quantize_dynamic(
                graph, small, weight_type=quantization.QuantType.QInt8, per_channel=True, extra_options=options
            )
            small.replace(graph)
    finally:
        logging.getLogger().removeFilter(_is_silenced)
    return RoundingResult(before, _bytes(graphs), loss_before, mean_loss(folder, examples), len(examples))


def _is_silenced(record: logging.LogRecord) -> bool:
    return record.levelno > logging.WARNING


def _bytes(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


def mean_loss(folder: Path, examples: Sequence[Example]) -> float:
    """Mean -ln p of a token of examples, line ends included, by the graphs of a folder; nan without any."""
    from anaphora.export.driver import Writer

    model, found = Writer(folder), list[float]()
    for example in examples:
        source, target = ("", example) if isinstance(example, str) else example
        found += model.score(model.side("source").encode(source), model.side("target").encode(target))
    return -sum(found) / len(found) if found else float("nan")
