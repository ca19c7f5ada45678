"""Exported graphs compute what the networks of torch compute, whatever the options."""

from typing import Any

import numpy as np
import pytest

from anaphora.batch import Batch, Ids, Values
from anaphora.errors import ConfigError
from anaphora.kernels.densities import Mixture
from anaphora.kernels.outputs.viterbi import best_tags
from tests.inference import test_networks as native
from tests.inference.native import rows_of
from tests.networks import MORE_TRANSLATORS

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from tests.export.onnx_network import OnnxNetwork, assert_near, assert_same_steps, feeds_of


@pytest.mark.matrix
@pytest.mark.parametrize("name", native.WRITERS)
def test_a_network_that_writes(name: str) -> None:
    assert_same_steps(*native.WRITERS[name]())


def recurrent(**recurrence: Any) -> dict[str, Any]:
    return {"recurrence": {"size": 6, "layers": 2, **recurrence}, "embedding": {"size": 6}}


@pytest.mark.parametrize(
    "tables",
    [
        *(native.LANGUAGE_MODELS[name][1] for name in ("sentences", "learned", "characters")),
        *({**recurrent(), "output": output} for output in ({"kind": "nce"}, {"kind": "full", "bias": False})),
        recurrent(cell="gru", layer_norm=True),
        *(recurrent(cell=cell, residual=True) for cell in ("elman", "peephole", "two-gate")),
        *(recurrent(cell=cell) for cell in ("ssru", "sru", "qrnn", "min-gru", "min-lstm", "mogrifier")),
    ],
    ids=str,
)
def test_a_language_model(tables: dict[str, Any]) -> None:
    assert_same_steps(native.made("language-model", {"model": "recurrent", **tables}), native.texts())


@native.EVERY_CLASSIFIER
def test_a_classifier(encoder: str, pooling: str) -> None:
    for model, batch in native.classifiers(encoder, pooling):
        network = OnnxNetwork(model)
        for row, wanted in enumerate(model.predict(batch).classes):
            feeds = feeds_of(rows_of(batch.inputs, slice(row, row + 1)))
            assert_near(network.run("classifier", feeds)["probabilities"], wanted)


@native.EVERY_TAGGER
def test_a_tagger(output: str, characters: Any) -> None:
    for model, batch in native.taggers(output, characters):
        network, wanted = OnnxNetwork(model), model.predict(batch)
        for row, length in enumerate(native.LENGTHS):
            found = network.run("tagger", feeds_of(rows_of(batch.inputs, slice(row, row + 1))))
            scores_1TC = found.pop("scores")[:, None]
            if isinstance(wanted, Values):
                np.testing.assert_array_equal(scores_1TC[:, 0] > 0, wanted.values_BTD[row, :length] > 0)
                continue
            tags = best_tags(scores_1TC, np.array([length]), **found)[:, 0] if found else scores_1TC[:, 0].argmax(1)
            assert isinstance(wanted, Ids)
            np.testing.assert_array_equal(tags, wanted.ids_BT[row, :length])


@native.EVERY_NETWORK_OF_VALUES
def test_a_network_of_values(kind: str, output: dict[str, Any], size: int) -> None:
    pen, model = int(size == 2), native.made_of_values(kind, output, size)
    network, batch = OnnxNetwork(model), Batch.of_rows([0], native.rows(5) if kind == "synthesis" else native.values())
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
    model = native.made(task, native.merged(tables) if task == "translate" else tables)
    with pytest.raises(ConfigError, match=named):
        OnnxNetwork(model)
