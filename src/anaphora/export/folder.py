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
from anaphora.export.networks import Graphs, graphs_of
from anaphora.export.tokens import tokens_of
from anaphora.tasks.task import Trained

CONFIG = "config.json"
Example = str | tuple[str, str]
"""A line for a language model; a source and its translation."""


@dataclass(frozen=True)
class Rounded:
    """What rounding weights to int8 changed."""

    bytes_before: int
    bytes_after: int
    """Of all graphs."""
    loss_before: float
    loss_after: float
    """Mean -ln p of a token of the examples; nan without any."""

    def __str__(self) -> str:
        sizes = f"int8: {self.bytes_after / 1e6:.1f} MB in place of {self.bytes_before / 1e6:.1f} MB"
        return f"{sizes}; loss a token {self.loss_before:.4f} before and {self.loss_after:.4f} after"


def write_folder(trained: Trained, folder: Path, *, int8: bool = False, examples: Sequence[Example] = ()) -> Any:
    """Write a trained translator or language model to a new folder, whole or not at all.

    With ``int8``, weights of products are rounded to 8 bits, and what that does to the loss of ``examples`` is returned
    as ``Rounded``. Raises ConfigError, naming the option, for a model without a graph or a tokenizer that the driver
    does not have, MissingExtraError without the libraries, DataError for a folder that is there.
    """
    if folder.exists():
        raise DataError(f"{folder} is there already: name a new folder.")
    if not folder.absolute().parent.is_dir():
        raise DataError(f"{folder} cannot be written: there is no folder {folder.absolute().parent}; make it first.")
    graphs = graphs_of(trained.model)
    config = _config(trained, graphs)
    new = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    for name, model in graphs.models.items():
        library("onnx").save(model, str(new / f"{name}.onnx"))
    (new / CONFIG).write_text(json.dumps(config, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    (new / "driver.py").write_text(files("anaphora.export").joinpath("driver.py").read_text(encoding="utf-8"))
    rounded = _rounded(new, examples) if int8 else None
    new.rename(folder)
    return rounded


def _config(trained: Trained, graphs: Graphs) -> dict[str, Any]:
    evaluation = getattr(trained.experiment, "evaluation", None)
    return {
        "format": 1,
        "graphs": list(graphs.models),
        "memory": list(graphs.memory),
        "state": list(graphs.state),
        "initial": dict(graphs.initial),
        "bos": graphs.bos,
        "search": {
            "beam": getattr(evaluation, "beam", 1),
            "length_penalty": getattr(evaluation, "length_penalty", 0.0),
        },
        "tokenizers": {side: tokens_of(trained, tokenizer) for side, tokenizer in trained.tokenizers.items()},
    }


def _rounded(folder: Path, examples: Sequence[Example]) -> Rounded:
    """Round the graphs of a folder in place."""
    quantization, graphs = library("onnxruntime.quantization"), sorted(folder.glob("*.onnx"))
    before, loss_before = _bytes(graphs), mean_loss(folder, examples)
    # it advises, for every graph, to optimise it with another program first
    logging.getLogger().addFilter(_silenced)
    try:
        for graph in graphs:
            small = graph.with_suffix(".int8")
            options = {"EnableSubgraph": True, "MatMulConstBOnly": True}
            quantization.quantize_dynamic(
                graph, small, weight_type=quantization.QuantType.QInt8, per_channel=True, extra_options=options
            )
            small.replace(graph)
    finally:
        logging.getLogger().removeFilter(_silenced)
    return Rounded(before, _bytes(graphs), loss_before, mean_loss(folder, examples))


def _silenced(record: logging.LogRecord) -> bool:
    return record.levelno > logging.WARNING


def _bytes(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


def mean_loss(folder: Path, examples: Sequence[Example]) -> float:
    """Mean -ln p of a token of examples, line ends included, by the graphs of a folder; nan without any."""
    from anaphora.export.driver import Model

    model, found = Model(folder), list[float]()
    for example in examples:
        source, target = ("", example) if isinstance(example, str) else example
        found += model.score(model.side("source").encode(source), model.side("target").encode(target))
    return -sum(found) / len(found) if found else float("nan")
