"""The folder of an exported model: graphs, and ``config.json`` with what their signals are called."""

import errno
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anaphora import files
from anaphora.errors import DataError
from anaphora.export.graph import library
from anaphora.export.networks import graphs_of
from anaphora.tasks.task import TrainedModel
from anaphora.wording import inflect

FORMAT = 2


class Example(NamedTuple):
    """A text to measure the loss of, and what an encoder reads before it."""

    text: str
    source: str = ""
    tags: tuple[int, ...] = ()
    """Ids in front of the source."""


@dataclass(frozen=True)
class RoundingResult:
    """Change of the outputs by rounding weights to int8."""

    bytes_before: int
    bytes_after: int
    """Bytes of all graphs."""
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


def write_folder(
    trained: TrainedModel, folder: Path, *, int8: bool = False, examples: Iterable[Example] = ()
) -> RoundingResult | None:
    """Write a trained network to a new folder, whole or not at all; the same network gives the same bytes.

    With ``int8``, weights of products are rounded to 8 bits, and a ``RoundingResult`` is returned; it has the loss of
    ``examples``, too, where the model reads and writes text. Raises ConfigError, naming the option, for a model without
    a graph, MissingExtraError without the libraries, DataError for a folder that is there, and OSError, naming the
    folder, where there is no room.
    """
    if folder.exists():
        raise DataError(f"{folder} is there already: name a new folder.")
    if not folder.absolute().parent.is_dir():
        raise DataError(f"{folder} cannot be written: there is no folder {folder.absolute().parent}; make it first.")
    graphs = graphs_of(trained.model)
    signals = {name: _signals(model.graph) for name, model in graphs.models.items()}
    config = {"format": FORMAT, "graphs": signals, **_data_options(trained), **graphs.config}
    new, rounded = files.part_of(folder), None
    files.sweep(folder.parent, folder)
    try:
        new.mkdir()
        for name, model in graphs.models.items():
            files.write_durably(new / f"{name}.onnx", model.SerializeToString(deterministic=True))
        files.write_durably(new / "config.json", files.json_bytes(config))
        if int8:
            of_text = "bos" in config and "values" not in next(iter(signals.values()))["inputs"]
            rounded = _round_weights(new, trained.tokenizers, config, list(examples) if of_text else [])
        new.rename(folder)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(folder)) from None
    finally:
        files.remove(new)
    return rounded


def _signals(graph: Any) -> dict[str, Any]:
    """Return the shapes of what goes into a graph and comes out of it, by name; null for a size that has no name."""

    def shapes(values: Iterable[Any]) -> dict[str, list[Any]]:
        sizes = ((value.name, value.type.tensor_type.shape.dim) for value in values)
        return {name: [size.dim_param or size.dim_value or None for size in shape] for name, shape in sizes}

    return {"inputs": shapes(graph.input), "outputs": shapes(graph.output)}


def _data_options(trained: TrainedModel) -> dict[str, Any]:
    """Return special ids by side, names of tags, and the scale of vectors."""
    found: dict[str, Any] = {"symbols": {side: one.symbols._asdict() for side, one in trained.tokenizers.items()}}
    if "tags" in trained.tokenizers:
        found["names"] = list(trained.tokenizers["tags"].vocabulary)
    if scale := getattr(trained.experiment, "scale", None):
        found["scale"] = {
            "mean": scale.mean_D,
            "deviation": scale.deviation_D,
            "pen": scale.pen,
            "upward": scale.upward,
        }
    return found


def _round_weights(
    folder: Path, tokenizers: Mapping[str, Any], config: Mapping[str, Any], examples: Sequence[Example]
) -> RoundingResult:
    """Round the graphs of a folder in place."""
    quantization, graphs = library("onnxruntime.quantization"), sorted(folder.glob("*.onnx"))
    before, loss_before = _bytes(graphs), _mean_loss(graphs, tokenizers, config, examples)
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
    except library("google.protobuf.message").DecodeError:  # of a graph that it wrote as far as there was room
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None
    finally:
        logging.getLogger().removeFilter(_is_silenced)
    loss_after = _mean_loss(graphs, tokenizers, config, examples)
    return RoundingResult(before, _bytes(graphs), loss_before, loss_after, len(examples))


def _is_silenced(record: logging.LogRecord) -> bool:
    return record.levelno > logging.WARNING


def _bytes(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


def _mean_loss(
    graphs: Iterable[Path], tokenizers: Mapping[str, Any], config: Mapping[str, Any], examples: Sequence[Example]
) -> float:
    """Mean -ln p of a token of examples, line ends included, by graphs; nan without any.

    Features stand behind the end of a source.
    """
    sessions, losses = {path.stem: library("onnxruntime").InferenceSession(path) for path in graphs}, list[float]()

    def run(name: str, feeds: Mapping[str, Any]) -> dict[str, Any]:
        return dict(zip(config["graphs"][name]["outputs"], sessions[name].run(None, feeds), strict=True))

    def ids_of(side: str, text: str) -> list[int]:
        tokenizer = tokenizers.get(side) or tokenizers["text"]
        return [*tokenizer.encode(text), tokenizer.symbols.eos]

    for text, source, tags in examples:
        before = {f"state {name}": np.array([row], np.float32) for name, row in config.get("initial", {}).items()}
        if "encoder" in sessions:
            ids, symbols = [*tags, *ids_of("source", source)], tokenizers["source"].symbols
            end = ids.index(symbols.eos) + 1
            features = {"features": np.array(ids[end:] or [symbols.eos])} if symbols.features else {}
            before = run("encoder", {"ids": np.array(ids[:end]), **features})
        memory, last = {name: before.pop(name) for name in config["memory"]}, config["bos"]
        for token in ids_of("target", text):
            step = run("step", {**memory, **before, "ids": np.array([last])})
            before = {f"state {name}": step[f"next {name}"] for name in config["state"]}
            losses.append(-step["log_probs"][0, token])
            last = token
    return float(np.mean(losses)) if losses else float("nan")
