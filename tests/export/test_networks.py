"""Exported graphs compute what the networks of torch compute, whatever the options."""

from typing import Any

import numpy as np
import pytest

from anaphora.batch import Batch, Grid, Ids, SpeltIds, Values, pad
from anaphora.errors import ConfigError
from anaphora.kernels.densities import Mixture
from anaphora.kernels.outputs.viterbi import best_tags
from tests.inference.native import rows_of
from tests.inference.test_networks import (
    ENCODERS,
    LANGUAGE_MODELS,
    LENGTHS,
    RECURRENT,
    SYMBOLS,
    VECTORS,
    featured,
    made,
    made_of_values,
    merged,
    rows,
    texts,
    values,
)
from tests.networks import MORE_TRANSLATORS, TRANSLATORS, untrained_translator

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from tests.export.onnx_network import OnnxNetwork, assert_near, assert_same_steps, feeds_of


@pytest.mark.matrix
@pytest.mark.parametrize("name", TRANSLATORS)
def test_a_translator(name: str) -> None:
    model = untrained_translator(name).model
    assert_same_steps(model, Batch.of_rows(range(4), rows(*LENGTHS, size=model.symbols.size)))


def test_a_translator_with_features() -> None:
    assert_same_steps(*featured())


def recurrent(**recurrence: Any) -> dict[str, Any]:
    return {"recurrence": {"size": 6, "layers": 2, **recurrence}, "embedding": {"size": 6}}


@pytest.mark.parametrize(
    "tables",
    [
        *(tables for name, (_, tables) in LANGUAGE_MODELS.items() if name in ("sentences", "learned", "characters")),
        *({**recurrent(), "output": output} for output in ({"kind": "nce"}, {"kind": "full", "bias": False})),
        recurrent(cell="gru", layer_norm=True),
        *(recurrent(cell=cell, residual=True) for cell in ("elman", "peephole", "two-gate")),
        *(recurrent(cell=cell) for cell in ("ssru", "sru", "qrnn", "min-gru", "min-lstm", "mogrifier")),
    ],
    ids=str,
)
def test_a_language_model(tables: dict[str, Any]) -> None:
    assert_same_steps(made("language-model", {"model": "recurrent", **tables}), texts())


GRIDS: dict[str, dict[str, Any]] = {
    "xu": {
        "encoder": {"layer": "none", "positions": False},
        "attention": {"score": "concat", "query": "previous", "context": "state", "gate": True},
        "decoder": {"size": 8, "initial_state": "mean", "input_feeding": False},
    },
    "vinyals": {
        "encoder": {"layer": "linear", "positions": False, "size": 6},
        "attention": "none",
        "decoder": {"size": 8, "input_feeding": False},
    },
    "positions": {"encoder": {"layer": "relu", "size": 6}, "decoder": {"size": 8}},
}


@pytest.mark.parametrize("name", GRIDS)
def test_a_describer(name: str) -> None:
    tables, shape = GRIDS[name], {"rows": 1, "columns": 1} if name == "vinyals" else {"rows": 2, "columns": 3}
    encoder = {"width": 4, **shape, **tables["encoder"]}
    model = made("describe", {"embedding": {"size": 8}, **tables, "encoder": encoder})
    places = shape["rows"] * shape["columns"]
    grid = Grid(np.random.default_rng(2).normal(size=(2, places, 4)).astype(np.float32))
    assert_same_steps(model, Batch.of_rows(range(2), grid))


def test_a_transducer_of_vectors() -> None:
    scale = {"kind": "vectors", "size": 3, "mean": (0.0,) * 3, "deviation": (1.0,) * 3}
    model = made("transduce", {"model": "vectors", **merged({"values": scale})})
    assert_same_steps(model, Batch.of_rows(range(4), values()))


@pytest.mark.parametrize("pooling", ["mean", "max", "last", "attention"])
@pytest.mark.parametrize("encoder", [*ENCODERS, "forward"])
def test_a_classifier(encoder: str, pooling: str) -> None:
    output = "sigmoid" if pooling in ("max", "attention") else "softmax"
    forward = {"cell": "gru", "size": 5, "bidirectional": False, "initial_state": "learned"}
    embedding = {"kind": "character-cnn", "filters": 3} if pooling == "last" else {"size": 4, "scaled": True}
    tables = {
        "classes": {"names": ["a", "b", "c"], "pooling": pooling, "output": output},
        "encoder": {**ENCODERS, "forward": forward}[encoder],
    }
    for model, inputs in (
        (made("classify", {**tables, "embedding": embedding}), rows(*LENGTHS)),
        (made("classify", {"model": "vectors", **tables, "vectors": VECTORS}), values()),
    ):
        batch, network = Batch.of_rows(range(4), inputs), OnnxNetwork(model)
        for row, wanted in enumerate(model.predict(batch).classes):
            feeds = feeds_of(rows_of(inputs, slice(row, row + 1)))
            assert_near(network.run("classifier", feeds)["probabilities"], wanted)


@pytest.mark.parametrize(
    "characters", ["none", {"kind": "character-cnn", "filters": 3, "max_length": 5, "highways": 2}], ids=str
)
@pytest.mark.parametrize("output", ["softmax", "sigmoid", "crf"])
def test_a_tagger(output: str, characters: Any) -> None:
    tables = {"encoder": RECURRENT, "output": output, "spans": "iob2" if output == "crf" else "none"}
    numbers, ids = np.random.default_rng(1), rows(*LENGTHS)
    letters = pad([list(numbers.integers(0, SYMBOLS.size, length)) for length in (3, 6, 1, 4, 2)])
    spelt = SpeltIds(
        ids.ids_BT, ids.lengths_B, numbers.integers(0, 5, ids.ids_BT.shape), letters.ids_BT, letters.lengths_B
    )
    for model, inputs in (
        (made("tag", {**tables, "embedding": {"size": 4}, "characters": characters}), spelt),
        (made("tag", {"model": "vectors", **tables, "vectors": VECTORS}), values()),
    ):
        batch, network = Batch.of_rows(range(4), inputs), OnnxNetwork(model)
        wanted = model.predict(batch)
        for row, length in enumerate(LENGTHS):
            found = network.run("tagger", feeds_of(rows_of(inputs, slice(row, row + 1))))
            scores_1TC = found.pop("scores")[:, None]
            if isinstance(wanted, Values):
                np.testing.assert_array_equal(scores_1TC[:, 0] > 0, wanted.values_BTD[row, :length] > 0)
                continue
            tags = best_tags(scores_1TC, np.array([length]), **found)[:, 0] if found else scores_1TC[:, 0].argmax(1)
            assert isinstance(wanted, Ids)
            np.testing.assert_array_equal(tags, wanted.ids_BT[row, :length])


@pytest.mark.parametrize("output", [{"kind": "mixture", "components": 3}, {"kind": "squared-error"}], ids=str)
@pytest.mark.parametrize("kind", ["prediction", "synthesis"])
@pytest.mark.parametrize("size", [2, 3])
def test_a_network_of_values(kind: str, output: dict[str, Any], size: int) -> None:
    pen, model = int(size == 2), made_of_values(kind, output, size)
    network, batch = OnnxNetwork(model), Batch.of_rows([0], rows(5) if kind == "synthesis" else values())
    (memory, state, _), after = network.start(batch), model.start(batch)
    for vector_X in np.random.default_rng(4).normal(size=(4, size + pen)).astype(np.float32):
        found, state = network.next(memory, state, values=vector_X[None])
        states, after = model.advance(after, vector_X[None])
        parameters, flags = model.output.parameters_of(states)
        assert_near(found["flags"], flags)
        shape = model.output.shape
        wanted = [block for block in Mixture.of(parameters, shape) if block is not None] if shape else [parameters]
        names = ["log_weights", "means", "log_deviations", "r"] if len(wanted) > 1 else ["means"]
        assert len(found.keys() & {*names}) == len(wanted)
        for name, block in zip(names, wanted, strict=False):
            assert_near(found[name], block)


@pytest.mark.parametrize(
    ("task", "tables", "named"),
    [
        *(("translate", MORE_TRANSLATORS[name], name.split()[0]) for name in ("gated convolution", "deep fusion")),
        ("translate", {"output": {"kind": "hierarchical"}}, "hierarchical"),
        ("language-model", {"model": "feed-forward"}, "feed forward"),
    ],
)
def test_a_network_without_a_graph_is_refused_by_name(task: str, tables: dict[str, Any], named: str) -> None:
    model = made(task, merged(tables) if task == "translate" else tables)
    with pytest.raises(ConfigError, match=named):
        OnnxNetwork(model)
