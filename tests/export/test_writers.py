"""Exported transducers and describers write as the package does: strings, strokes, vectors and grids in."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anaphora.text.symbols import SymbolTokenizer
from anaphora.text.words import WordTokenizer

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from tests.export.driver import ASKED, answered, both, exported
from tests.export.test_labels import sequences
from tests.networks import untrained

DECODER = {"cell": "gru", "size": 8}
ENCODER = {"cell": "gru", "size": 8}
LETTERS = [*"abcdeéß ", "\tV", "\tPST", "\tN"]
STRINGS = ["abc\tV;PST", "Ébéß", "xay", "  ", "bca\tQ;N", "a"]


def symbols(separated: bool = False) -> SymbolTokenizer:
    return SymbolTokenizer(LETTERS, lowercase=True, separated=separated)


@pytest.mark.parametrize("separated", [False, True])
def test_a_transducer_of_strings(tmp_path: Path, separated: bool) -> None:
    table = {"task": "transduce", "encoder": ENCODER, "decoder": DECODER, "embedding": {"size": 8}}
    trained = untrained(
        {**table, "text": {"tokenizer": "symbol", "lowercase": True}, "evaluation": {"beam": 3, "length_penalty": 0.5}},
        {"source": symbols(), "target": symbols(separated)},
    )
    model, predictor = both(trained, tmp_path)
    expected = predictor.predict(STRINGS)
    assert [model.answer(text, ASKED).strip() for text in STRINGS] == [one.text.strip() for one in expected]


def vector_table(**values: Any) -> dict[str, Any]:
    shared = {"task": "transduce", "model": "vectors", "encoder": ENCODER, "decoder": DECODER, "embedding": {"size": 8}}
    return {**shared, "evaluation": {"beam": 2}, "values": values}


@pytest.mark.parametrize("y_axis", ["down", "up"])
def test_a_transducer_of_strokes(tmp_path: Path, y_axis: str) -> None:
    values = {"kind": "strokes", "size": 2, "mean": [1.0, -0.5], "deviation": [3.0, 2.0]}
    table = {**vector_table(**values), "data": {"points": "absolute", "y_axis": y_axis}}
    trained = untrained(table, {"target": symbols()})
    out, predictor = exported(trained, tmp_path)
    drawn = [[[[1, 2], [3, 5.5], [7, 2]], [[9, 1]]], [[[400, 300], [420, 310]]], [[[0, 0]]]]
    lines = "".join(json.dumps({"strokes": strokes}) + "\n" for strokes in drawn)
    found = answered(out / "driver.py", given=lines).splitlines()
    assert found == [one.text for one in predictor.predict(drawn)]


def test_a_transducer_of_vectors(tmp_path: Path) -> None:
    values = {"kind": "vectors", "size": 3, "mean": [1.0, -0.5, 0.0], "deviation": [3.0, 2.0, 1.0]}
    trained = untrained({**vector_table(**values), "data": {"points": "absolute"}}, {"target": symbols()})
    (model, predictor), given = both(trained, tmp_path), sequences(1, 4, 25)
    for one, wanted in zip(given, predictor.predict(given), strict=True):
        ids, score = model.write(one, 2)
        assert model.side("target").decode(ids) == wanted.text
        assert score == pytest.approx(wanted.score, abs=1e-4)


GRIDS: dict[str, dict[str, Any]] = {
    "xu": {
        "encoder": {"layer": "none", "positions": False},
        "attention": {"score": "concat", "query": "previous", "context": "state", "gate": True},
        "decoder": {**DECODER, "initial_state": "mean", "input_feeding": False},
    },
    "vinyals": {
        "encoder": {"rows": 1, "columns": 1, "layer": "linear", "positions": False},
        "attention": "none",
        "decoder": {**DECODER, "input_feeding": False},
    },
    "positions": {"encoder": {"layer": "relu"}, "decoder": DECODER},
}


@pytest.mark.parametrize("name", GRIDS)
def test_a_describer(tmp_path: Path, name: str) -> None:
    encoder = {"rows": 2, "columns": 3, "width": 4, **GRIDS[name]["encoder"]}
    if encoder["layer"] != "none":
        encoder["size"] = 6
    table = {"task": "describe", "embedding": {"size": 8}, **GRIDS[name], "encoder": encoder, "data": {"max_length": 7}}
    text = WordTokenizer.learn(
        ["a cat, a dog"], size=30, least=1, lowercase=False, segmentation="joiner", language="en"
    )
    trained = untrained({**table, "text": {"tokenizer": "word"}}, {"text": text})
    out, predictor = exported(trained, tmp_path)
    shape, file = (encoder["rows"], encoder["columns"], 4), tmp_path / "features.npz"
    numbers = np.random.default_rng(2)
    np.savez(file, **{f"image{n}": numbers.normal(size=shape).astype(np.float32) for n in range(3)})
    assert answered(out / "driver.py", file).splitlines() == list(map(str, predictor.predict_file(file)))


def test_a_translator_of_words_in_running_text(tmp_path: Path) -> None:
    texts = ["«Non», he said: don't!", "l'eau  est 1,5 fois… plus-value", "Алиса (да)", "猫。", "\u00a0a\tb"]
    tokens = WordTokenizer.learn(texts[:3], size=60, least=1, lowercase=True, segmentation="joiner", language="fr")
    table = {"task": "translate", "encoder": ENCODER, "decoder": DECODER, "embedding": {"size": 8}}
    trained = untrained(
        {**table, "text": {"tokenizer": "word", "lowercase": True, "sentences": "whole"}},
        {"source": tokens, "target": tokens},
    )
    model, predictor = both(trained, tmp_path)
    for text in texts:
        assert model.tokens["source"].encode(text) == tokens.encode(text)
        ids = [*tokens.encode(text), 1]
        assert model.tokens["target"].decode(ids) == tokens.decode(ids)
    expected = predictor.translate(texts[:3])
    assert [model.answer(text, ASKED) for text in texts[:3]] == [one.text for one in expected]


def test_a_language_model_of_spelt_words_becomes_a_table(tmp_path: Path) -> None:
    lines = ["a cat sees a dog", "the dog"]
    tokens = WordTokenizer.learn(lines, size=30, least=1, lowercase=False, segmentation="whitespace", language="en")
    table = {"task": "language-model", "embedding": {"kind": "character-cnn", "filters": 2}, "recurrence": {"size": 6}}
    text = {"tokenizer": "word", "segmentation": "whitespace"}
    trained = untrained({**table, "text": text}, {"text": tokens})
    model, predictor = both(trained, tmp_path)
    for line in [*lines, "the unseen"]:
        [scored] = predictor.score_lines([line])
        assert sum(model.score([], tokens.encode(line))) == pytest.approx(scored.log10 * 2.302585093, abs=1e-4)
