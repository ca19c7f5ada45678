"""What is exported computes what the package computes: the same scores and the same text, whatever the options."""

from pathlib import Path
from typing import Any

import pytest
import torch

from anaphora.errors import ConfigError
from anaphora.tasks.registry import parse, task_of
from anaphora.tasks.task import Trained
from anaphora.text.characters import CharacterTokenizer

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from anaphora.export.driver import Writer
from anaphora.export.folder import write_folder

SENTENCES = ["The old man sees a cat.", "Alice is  in the garden!", "a Ünicode çat", "b"]
SMALL = {"size": 8}


def untrained(table: dict[str, Any]) -> Trained:
    """A model with random weights, large enough that no two words are as good as equal."""
    tokenizer = CharacterTokenizer.learn(SENTENCES[:2], lowercase=False, least=1)
    sides = ["source", "target"] if table["task"] == "translate" else ["text"]
    experiment = parse({**table, "text": {"tokenizer": "character", "sentences": "whole"}}, "test")
    model = task_of(experiment).build(experiment, dict.fromkeys(sides, tokenizer), "test")
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(0.7 * torch.randn(weight.shape, generator=generator))
    return Trained(Path("run"), experiment, model.eval(), dict.fromkeys(sides, tokenizer))


NEW_GRU = {"kind": "gru", "reset": "before", "update": "new"}
TRANSLATORS: dict[str, dict[str, Any]] = {
    "luong": {"encoder": {"cell": "lstm"}, "decoder": {"cell": "lstm", "layers": 2, "residual": True}},
    "bahdanau": {
        "encoder": {"cell": NEW_GRU, "sentence_encoding_from": "backward"},
        "decoder": {"cell": NEW_GRU, "readout_layer": "maxout", "input_feeding": False, "readout_word": True}
        | {"initial_state_activation": "tanh", "readout_state": "previous"},
        "attention": {"score": {"kind": "concat", "coverage": True}, "query": "previous", "context": "state"},
    },
    "conditional": {
        "encoder": {"cell": {"kind": "gru", "recurrent_bias": True}, "layer_norm": True, "layers": 2, "residual": True}
        | {"initial_state": "learned"},
        "decoder": {"cell": "gru", "layer_norm": True, "initial_state": "mean", "input_feeding": False},
        "attention": {"score": "concat", "query": "current", "context": "state"},
    },
    "sutskever": {
        "encoder": {"cell": "lstm", "bidirectional": False, "reversed": True, "layers": 2},
        "decoder": {"cell": "lstm", "layers": 2, "initial_state": "copy", "readout_layer": "none"}
        | {"input_feeding": False},
        "attention": "none",
    },
    "cho": {
        "encoder": {"cell": "gru", "bidirectional": False},
        "decoder": {"cell": {"kind": "gru", "reset": "after"}, "readout_layer": "maxout", "input_feeding": False}
        | {"sentence_encoding": "every-step", "sentence_encoding_layer": "tanh"}
        | {"sentence_encoding_place": "recurrent"},
        "attention": "none",
    },
    "dot": {
        "encoder": {"cell": "elman", "bidirectional": False},
        "decoder": {"cell": {"kind": "elman", "activation": "sigmoid"}, "input_feeding_from": "context"},
        "attention": {"score": {"kind": "dot", "scaled": True}, "normalizer": {"kind": "softmax", "sharpness": 1.5}},
        "embedding": {"shared": True, "scaled": True},
        "output": {"tied": True},
    },
    "chorowski": {"attention": {"score": "hybrid", "normalizer": "sigmoid", "window": "median"}},
    "location": {"attention": {"score": {"kind": "location", "max_length": 12}}, "decoder": {"initial_state": "zero"}},
    "local-m": {"attention": {"window": {"kind": "local-m", "radius": 2}, "gate": True}},
    "graves": {"attention": {"kind": "gaussian-window", "components": 3}},
    "local-p": {"attention": {"window": {"kind": "local-p", "radius": 3}}, "encoder": {"layers": 2}},
}


def translator(name: str) -> Trained:
    options = TRANSLATORS[name]
    table = {side: SMALL | options.get(side, {}) for side in ("encoder", "decoder")}
    rest = {key: value for key, value in options.items() if key not in table}
    return untrained({"task": "translate", "embedding": SMALL | rest.pop("embedding", {}), **table, **rest})


@pytest.mark.matrix
@pytest.mark.parametrize("name", TRANSLATORS)
def test_an_exported_translator_translates_as_the_package_does(tmp_path: Path, name: str) -> None:
    trained = translator(name)
    write_folder(trained, tmp_path / "exported")
    model, predictor = Writer(tmp_path / "exported"), task_of(trained.experiment).predictor(trained)
    for beam, penalty in ((1, 0.0), (3, 0.6)):
        expected = predictor.translate(SENTENCES, beam=beam, length_penalty=penalty)
        for sentence, translation in zip(SENTENCES, expected, strict=True):
            ids = model.tokens["source"].encode(sentence)
            found, score = model.write(ids, beam, penalty)
            assert model.tokens["target"].decode(found) == translation.text
            assert score == pytest.approx(translation.score, abs=1e-4)
    for target in ("The man", ""):
        ids = [model.tokens[side].encode(text) for side, text in (("source", SENTENCES[0]), ("target", target))]
        [scored] = predictor.score_pairs(SENTENCES[:1], [target])
        assert sum(model.score(*ids)) == pytest.approx(scored.score, abs=1e-4)


@pytest.mark.parametrize(
    ("table", "named"),
    [
        ({"decoder": {"cell": "peephole"}}, "peephole"),
        ({"encoder": {"kind": "convolution"}, "attention": "none"}, "convolution"),
        ({"output": {"kind": "hierarchical"}}, "Hierarchical"),
    ],
)
def test_a_model_without_a_graph_is_refused_by_name(tmp_path: Path, table: dict[str, Any], named: str) -> None:
    table = {"encoder": {}, "decoder": {}, **table}
    table["decoder"] = SMALL | table["decoder"]
    trained = untrained({"task": "translate", "embedding": SMALL, **table})
    with pytest.raises(ConfigError, match=named):
        write_folder(trained, tmp_path / "exported")
    assert not (tmp_path / "exported").exists()


@pytest.mark.parametrize("cell", ["lstm", "gru", "elman"])
def test_an_exported_language_model_continues_and_scores_as_the_package_does(tmp_path: Path, cell: str) -> None:
    recurrence = {"cell": cell, "size": 8, "layers": 2, "initial_state": "learned" if cell == "lstm" else "zero"}
    recurrence |= {"layer_norm": cell == "gru", "residual": cell == "elman"}
    trained = untrained({"task": "language-model", "embedding": SMALL, "recurrence": recurrence})
    write_folder(trained, tmp_path / "exported")
    model, predictor = Writer(tmp_path / "exported"), task_of(trained.experiment).predictor(trained)
    for sentence in SENTENCES:
        ids = model.tokens["text"].encode(sentence)
        for beam in (1, 2):
            expected = predictor.generate(sentence, length=20, lines=1, beam=beam)
            found, score = model.write(ids, beam, longest=len(ids) + 20)
            assert sentence + model.tokens["text"].decode(found[len(ids) :]) == expected.text
            assert score == pytest.approx(expected.score, abs=1e-4)
        [scored] = predictor.score_lines([sentence])
        assert sum(model.score([], ids)) == pytest.approx(scored.log10 * 2.302585093, abs=1e-4)
