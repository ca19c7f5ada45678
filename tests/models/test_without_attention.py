"""Translators without attention, and their bridges: trained, stepped and read naively, they are one model."""

from typing import Any

import pytest

from anaphora.errors import ConfigError
from anaphora.kernels.cells import AnyCell
from anaphora.models.translator import Translator
from tests.networks import TABLES, made, members

from .covering import Never, covering, product
from .four_pairs import SYMBOLS, assert_an_update_helps, assert_naive_reading, assert_one_model

ONE_WAY = {"size": 16, "bidirectional": False}
EVERY_STEP = {"sentence_encoding": "every-step", "input_feeding": False}
SYSTEMS = TABLES["without-attention"]
CELLS = members(AnyCell)
UNITS: dict[str, dict[str, Any]] = {
    name: {"decoder": EVERY_STEP | {"cell": name, "layers": 2, "residual": True}} for name in CELLS
}
ENCODERS: dict[str, dict[str, Any]] = {
    "both": {"size": 8},
    "one": ONE_WAY,
    "reversed": ONE_WAY | {"reversed": True},
    "convolution": {"kind": "convolution", "max_kernel": 3},
    "gated-convolution": {"kind": "gated-convolution", "size": 16},
    "ngram-convolution": {"kind": "ngram-convolution", "max_kernel": 3},
}
"""Each tells of a sentence in 16 numbers, as many as a word vector and a decoder have."""
TELLING: dict[str, list[Any]] = {
    "encoder": list(ENCODERS),
    "cell": list(CELLS),
    "initial_state": ["project", "copy", "mean", "zero"],
    "sentence_encoding": ["every-step", "initial-state"],
    "sentence_encoding_layer": ["none", "tanh"],
    "sentence_encoding_place": ["input", "recurrent"],
    "input_feeding": [False, True],
    "layers": [1, 2],
    "readout_layer": ["tanh", "maxout", "none"],
    "readout_word": [False, True],
    "readout_state": ["current", "previous"],
}
"""What meets where there is no attention."""


FOLDED = ["convolution", "gated-convolution"]
TWO_FIELDS = [name for name, unit in CELLS.items() if len(unit().state) > 1]
NEVER: Never = [
    {"sentence_encoding": ["initial-state"], "initial_state": ["zero"]},
    {"sentence_encoding": ["initial-state"], "sentence_encoding_place": ["recurrent"]},
    {"sentence_encoding": ["initial-state"], "sentence_encoding_layer": ["tanh"], "initial_state": ["mean"]},
    {"sentence_encoding_layer": ["tanh"], "initial_state": ["copy"]},
    {"cell": [name for name in CELLS if name != "gru"], "sentence_encoding_place": ["recurrent"]},
    {"encoder": FOLDED, "initial_state": ["mean"]},
    {"encoder": FOLDED, "initial_state": ["copy"], "cell": TWO_FIELDS},
    {"encoder": FOLDED, "initial_state": ["copy"], "layers": [2]},
    {"encoder": ["ngram-convolution"], "initial_state": ["project", "copy", "mean"]},
    {"encoder": ["ngram-convolution"], "sentence_encoding": ["initial-state"]},
    {"encoder": ["ngram-convolution"], "sentence_encoding_layer": ["tanh"]},
    {"encoder": ["ngram-convolution"], "sentence_encoding_place": ["recurrent"]},
    {"readout_layer": ["none"], "readout_word": [True]},
    {"readout_layer": ["none"], "readout_state": ["previous"]},
]
TOLD = covering(TELLING, NEVER)


def tables(row: dict[str, Any]) -> dict[str, Any]:
    """The tables of a row."""
    encoder, layers = ENCODERS[row["encoder"]], {"cell": row["cell"], "layers": row["layers"]}
    decoder = {name: choice for name, choice in row.items() if name != "encoder"}
    read = encoder if "kind" in encoder else encoder | layers
    return {"embedding": {"size": 16}, "encoder": read, "decoder": decoder}


def shown(row: dict[str, Any]) -> str:
    return "-".join(str(row[name]) for name in ("encoder", "cell", "initial_state", "sentence_encoding", "layers"))


EVERY_ROW = pytest.mark.parametrize("row", TOLD, ids=shown)


def make(tables: dict[str, Any]) -> Translator:
    sizes = {"embedding": {"size": 12}, "encoder": {"size": 8}, "decoder": {"size": 16}}
    merged: dict[str, Any] = {"attention": "none"}
    for name, size in sizes.items():
        own = tables.get(name, {})
        merged[name] = own if own.get("kind") in ("convolution", "ngram-convolution") else size | own
    if "attention" in tables:
        merged["attention"] = tables["attention"]
    return made(Translator, "translate", merged, SYMBOLS)


@pytest.mark.parametrize("rule", NEVER, ids=str)
def test_what_never_meets_is_refused(rule: dict[str, list[Any]]) -> None:
    others = [each for each in NEVER if each != rule]
    for refused in product(rule):
        one_choice = TELLING | {name: [choice] for name, choice in refused.items()}
        alone, any_row = product(one_choice, others), product(one_choice)  # alone, if no other rule goes with it
        with pytest.raises(ConfigError):
            make(tables(next(alone, None) or next(any_row)))


@pytest.mark.matrix
@EVERY_ROW
def test_an_update_reaches_every_weight_and_lowers_the_loss(row: dict[str, Any]) -> None:
    told = [row[name] for name in ("cell", "initial_state", "sentence_encoding")]
    copied = told == ["sru", "copy", "initial-state"]  # the memory alone, and nothing of what its gate o lets out
    assert_an_update_helps(make(tables(row)), *([".v_o"] if copied else []))


@pytest.mark.parametrize("tables", SYSTEMS.values(), ids=SYSTEMS.keys())
def test_a_translator_is_one_model_trained_or_stepped_alone_or_in_any_batch(tables: dict[str, Any]) -> None:
    assert_an_update_helps(make(tables))
    assert all(hypothesis.weights is None for hypothesis in assert_one_model(make(tables)))


@pytest.mark.slow
@EVERY_ROW
def test_whatever_meets_is_the_same_alone_and_in_any_batch_and_stepped_through(row: dict[str, Any]) -> None:
    assert_one_model(make(tables(row)))


@pytest.mark.matrix
@pytest.mark.parametrize("tables", (SYSTEMS | UNITS).values(), ids=(SYSTEMS | UNITS).keys())
def test_a_decoder_is_its_naive_reading(tables: dict[str, Any]) -> None:
    assert_naive_reading(make(tables))
