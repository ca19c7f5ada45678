"""Options combine: every two choices of different options meet in some translator below, and each of them works."""

from typing import Any

import pytest

from anaphora.config import options_of
from anaphora.kernels.cells import AnyCell
from anaphora.kernels.naive.units import NORMALISED_UNITS
from anaphora.kernels.scores import AnyScore
from anaphora.kernels.spans import AnySpan
from anaphora.models.translator import Translator
from tests.networks import made, members

from .covering import Never, covering
from .four_pairs import SYMBOLS, assert_an_update_helps, assert_naive_reading, assert_one_model

CELLS, SCORES, SPANS = members(AnyCell), members(AnyScore), members(AnySpan)

VARIATIONAL = {"kind": "variational", "probability": 0.2, "recurrent": 0.2}
CHOICES: dict[str, list[Any]] = {
    "cell": list(CELLS),
    "score": ["dot", "general", "concat"],
    "scaled": [False, True],
    "topology": [("current", "output"), ("previous", "state"), ("current", "state")],
    "feeding": ["readout", "none", "context"],
    "layers": [1, 3],
    "residual": [False, True],
    "layer_norm": [False, True],
    "dropout": [0.0, 0.2, VARIATIONAL],
    "weight_dropout": [0.0, 0.2],
    "bias": [True, False],
    "reading": ["both", "backward", "one", "reversed"],
    "start": ["project", "mean", "zero"],
    "words": [0.0, 0.1, {"kind": "variational", "probability": 0.1, "words": 0.1}],
    "readout": [0, 8],
    "readout_word": [False, True],
    "readout_layer": ["tanh", "maxout"],
    "readout_state": ["current", "previous"],
    "output": [{}, {"lexical": True, "fixed_norm": 3.0}],
}
NEVER: Never = [{"cell": [name for name, unit in CELLS.items() if not unit().matmuls], "weight_dropout": [0.2]}]

READINGS: dict[str, dict[str, Any]] = {
    "both": {"bidirectional": True, "size": 12},
    "backward": {"bidirectional": True, "size": 12, "sentence_encoding_from": "backward"},
    "one": {"bidirectional": False, "size": 24},
    "reversed": {"bidirectional": False, "size": 24, "reversed": True},
}
"""How the encoder goes over a sentence; each gives annotations of the same width."""

LOOKING: dict[str, list[Any]] = {
    "score": [*SCORES, {"kind": "concat", "coverage": True}, {"kind": "hybrid", "content": False}, "window"],
    "cell": list(CELLS),
    "window": list(SPANS),
    "topology": CHOICES["topology"],
    "feeding": ["readout", "none", "context"],
    "weights": ["softmax", {"kind": "softmax", "sharpness": 1.5}, "sigmoid"],
    "scaled": [False, True],
    "reading": ["both", "one", "reversed"],
    "layers": [1, 2],
    "gate": [False, True],
}
"""What meets in attention; all else is as at the head of ``CHOICES``."""


def shown(row: dict[str, Any]) -> str:
    score = row["score"] if isinstance(row["score"], str) else "-".join(map(str, row["score"].values()))
    return "-".join(map(str, (row["cell"], score, row["layers"], row.get("window", "global"))))


ROWS, LOOKING_ROWS = covering(CHOICES, NEVER), covering(LOOKING)
FIRST = {name: choices[0] for name, choices in CHOICES.items()}
EVERY_ROW = pytest.mark.parametrize(
    "row", [*ROWS, *(pytest.param(FIRST | row, marks=pytest.mark.slow) for row in LOOKING_ROWS)], ids=shown
)


def make(row: dict[str, Any]) -> Translator:
    """A small translator whose annotations are as wide as its decoder, as score "dot" asks for."""
    unbiased = not row["bias"] and "forget_bias" in options_of(CELLS[row["cell"]])
    cell = {"kind": row["cell"]} | ({"forget_bias": 0.0} if unbiased else {})
    shared = {name: row[name] for name in ("layers", "residual", "layer_norm", "dropout", "weight_dropout", "bias")}
    tables = {
        "embedding": {"size": 8, "dropout": row["words"]},
        "encoder": shared | READINGS[row["reading"]] | {"cell": cell},
        "decoder": shared
        | {"cell": cell, "size": 24, "readout_size": row["readout"]}
        | ({"input_feeding": False} if row["feeding"] == "none" else {"input_feeding_from": row["feeding"]})
        | {"initial_state": row["start"]}
        | {name: row[name] for name in ("readout_word", "readout_layer", "readout_state")},
        "attention": looking(row) | {"query": row["topology"][0], "context": row["topology"][1]},
        "output": {"bias": row["bias"], **row["output"]},
    }
    return made(Translator, "translate", tables, SYMBOLS)


def looking(row: dict[str, Any]) -> dict[str, Any]:
    """The attention of a row; the window has no score, span or normalizer."""
    if row["score"] == "window":
        return {"kind": "gaussian-window", "components": 2}
    score = row["score"] if isinstance(row["score"], dict) else {"kind": row["score"]}
    if "window" not in row:
        return {"score": score | {"scaled": row["scaled"]}}
    small = {"max_length": 5} if score["kind"] == "location" else {"filters": 3} if score["kind"] == "hybrid" else {}
    span = {"kind": row["window"]} | ({} if row["window"] == "global" else {"radius": 2})
    scored = {"score": score | small | {"scaled": row["scaled"]}, "gate": row["gate"]}
    return scored | {"window": span, "normalizer": row["weights"]}


@pytest.mark.matrix
@pytest.mark.parametrize("row", [*ROWS, *(FIRST | row for row in LOOKING_ROWS)], ids=shown)
def test_every_weight_has_a_gradient_and_an_update_lowers_the_loss(row: dict[str, Any]) -> None:
    assert_an_update_helps(make(row))


@pytest.mark.matrix
@EVERY_ROW
def test_a_translator_is_one_model_in_every_use_and_its_naive_reading(row: dict[str, Any]) -> None:
    assert_one_model(make(row))
    model = make(row)
    if not row["layer_norm"] or type(model.decoder.config.cell) in NORMALISED_UNITS:
        assert_naive_reading(model)  # of others, finite differences and the other units speak for what is normalised
