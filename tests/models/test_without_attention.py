"""Translators without attention, and their bridges: trained, stepped and read naively, they are one model.

A decoder starts from states of the encoder, or an error says what to set.
"""

from typing import Any

import pytest
import torch
from torch.testing import assert_close

from anaphora.errors import ConfigError
from anaphora.kernels.cells import AnyCell
from anaphora.models.translator import Translator
from anaphora.nn.encoders.encoder import EncoderOutput
from tests.networks import TABLES, made, members

from .covering import Never, covering, product
from .four_pairs import ALL, SYMBOLS, assert_an_update_helps, assert_naive_reading, assert_one_model

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
def test_whatever_meets_learns_and_is_the_same_stepped_alone_or_in_any_batch(row: dict[str, Any]) -> None:
    told = [row[name] for name in ("cell", "initial_state", "sentence_encoding")]
    copied = told == ["sru", "copy", "initial-state"]  # the memory alone, and nothing of what its gate o lets out
    assert_an_update_helps(make(tables(row)), *([".v_o"] if copied else []))
    assert_one_model(make(tables(row)))


@pytest.mark.parametrize("tables", SYSTEMS.values(), ids=SYSTEMS.keys())
def test_a_translator_is_one_model_trained_or_stepped_alone_or_in_any_batch(tables: dict[str, Any]) -> None:
    assert_an_update_helps(make(tables))
    assert all(hypothesis.weights is None for hypothesis in assert_one_model(make(tables)))


@pytest.mark.matrix
@pytest.mark.parametrize("tables", (SYSTEMS | UNITS).values(), ids=(SYSTEMS | UNITS).keys())
def test_a_decoder_is_its_naive_reading(tables: dict[str, Any]) -> None:
    assert_naive_reading(make(tables))


def test_a_copied_start_is_the_last_state_of_the_encoder_layer_by_layer() -> None:
    model, given = make(SYSTEMS["sutskever"]), ALL.to(torch.device("cpu"))
    memory, first, _ = model.encode(given)
    x_BSD = model.source_embedding.vectors(given.input_ids.ids_BT)
    encoded = model.encoder(x_BSD, given.input_ids.lengths_B)
    assert memory.keys() == {"summary.vector"}
    assert first.keys() == {f"layer{layer}.{field}" for layer in range(3) for field in "hc"}
    for name, value in first.items():
        layer, field = name.removeprefix("layer").split(".")
        assert torch.equal(value, encoded.summaries[int(layer)][field])


@pytest.mark.parametrize(("deep", "layers", "heard"), [(3, 1, [2]), (3, 2, [1, 2]), (1, 2, [0, 0])])
def test_a_decoder_starts_from_the_top_layers_of_a_deeper_encoder(deep: int, layers: int, heard: list[int]) -> None:
    encoder = ONE_WAY | {"cell": "gru", "layers": deep}
    model = make({"encoder": encoder, "decoder": {"cell": "gru", "size": 16, "layers": layers}})
    weights = model.decoder.weights.tensors()
    with torch.no_grad():
        for layer in range(layers):
            weights[f"start{layer}_h.weight"].copy_(torch.eye(16))
    summaries = [{"h": torch.randn(2, 16)} for _ in range(deep)]
    first = model.decoder.initial_state(EncoderOutput(torch.randn(2, 3, 16), summaries), torch.tensor([3, 1]))
    assert all(torch.equal(first[f"layer{layer}.h"], summaries[place]["h"]) for layer, place in enumerate(heard))


def test_a_mean_start_sees_every_annotation_alike_and_none_behind_the_end() -> None:
    model = make({"decoder": {"initial_state": "mean", "cell": "gru"}})
    with torch.no_grad():
        model.decoder.weights.tensors()["start0_h.weight"].copy_(torch.eye(16))
    encoded = EncoderOutput(torch.randn(2, 3, 16), [{"h": torch.randn(2, 16)}])
    encoded.annotations_BSM[1, 1:] = 0
    first = model.decoder.initial_state(encoded, torch.tensor([3, 1]))["layer0.h"]
    assert_close(first, torch.stack([encoded.annotations_BSM[0].mean(0), encoded.annotations_BSM[1, 0]]))


@pytest.mark.parametrize(
    ("tables", "remedy"),
    [
        ({"attention": {}, "decoder": {"sentence_encoding": "every-step"}}, 'set attention = "none"'),
        (
            {"decoder": {"input_feeding_from": "context"}},
            r'attention\.kind = "none": there is no context: set decoder\.input_feeding_from = "readout"',
        ),
        ({"attention": {}, "decoder": {"readout_layer": "none"}}, r'or attention\.context = "state"'),
        ({"attention": {}, "encoder": {"kind": "convolution"}}, 'set attention = "none"'),
        ({"decoder": {"initial_state": "copy", "size": 15}}, r"1 x 15 with h, c, but the encoder gives 1 x 16 .* h, c"),
        ({"decoder": {"initial_state": "copy", "layers": 2}}, r"2 x 16 with h, c, but the encoder gives 1 x 16"),
        ({"decoder": {"initial_state": "copy"}, "encoder": {"cell": "gru"}}, r"gives 1 x 16 with h: make"),
        (
            {"decoder": {"initial_state": "copy", "initial_state_activation": "tanh"}},
            r'initial_state_activation = "none"',
        ),
        (
            {
                "encoder": {"cell": "gru"},
                "decoder": {
                    "cell": {"kind": "gru", "reset": "before"},
                    "sentence_encoding": "every-step",
                    "sentence_encoding_place": "recurrent",
                },
            },
            r'decoder.cell = { kind = "gru", reset = "before" }: set decoder.cell =',
        ),
        ({"decoder": {"readout_layer": "none", "readout_size": 8}}, r"decoder\.readout_size = 8 does not go with"),
    ],
)
def test_options_that_do_not_go_together_are_refused_with_a_remedy(tables: dict[str, Any], remedy: str) -> None:
    with pytest.raises(ConfigError, match=remedy):
        make(tables)
