"""Exported models of strokes and signals draw as the package does, from the same seeds."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anaphora.text.characters import CharacterTokenizer

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from tests.export.driver import answered, answered_alone, exported
from tests.networks import untrained

STROKES = {"kind": "strokes", "size": 2, "mean": [0.5, -0.25], "deviation": [2.0, 3.0]}
SIGNALS = {"kind": "vectors", "size": 3, "mean": [0.5, -0.25, 1.0], "deviation": [2.0, 3.0, 0.5]}
MIXTURE = {"kind": "mixture", "components": 3}
RECURRENCE = {"cell": "lstm", "size": 6, "layers": 2}


def drawn(exported: Path, texts: str, *options: object, run: Any = answered) -> list[dict[str, Any]]:
    options = ("--seed", 3, "--bias", 0.5, "--length", 12, *options)
    return [json.loads(line) for line in run(exported / "sampler.py", *options, given=texts).splitlines()]


@pytest.mark.parametrize("output", [MIXTURE, "squared-error"])
@pytest.mark.parametrize("values", [STROKES, SIGNALS], ids=["strokes", "signals"])
def test_a_prediction_network(tmp_path: Path, values: dict[str, Any], output: Any) -> None:
    table = {"task": "trace", "model": "prediction", "values": values, "recurrence": RECURRENCE, "output": output}
    trained = untrained({**table, "data": {"points": "absolute", "y_axis": "up"}}, {})
    out, predictor = exported(trained, tmp_path)
    found = drawn(out, "", "--count", 2)
    expected = [one.json() for one in predictor.generate_stream(["", ""], seed=3, bias=0.5, length=12)]
    name = "strokes" if values is STROKES else "values"
    for one, wanted in zip(found, expected, strict=True):
        flat, also = (
            [point for stroke in each[name] for point in stroke] if name == "strokes" else each[name]
            for each in (one, wanted)
        )
        assert np.allclose(flat, also, atol=2e-3) and one["ended"] == wanted["ended"]


def test_a_synthesis_network(tmp_path: Path) -> None:
    network = {"cell": "lstm", "size": 6}
    table = {"task": "trace", "model": "synthesis", "values": STROKES, "output": MIXTURE, "encoder": network}
    table |= {"decoder": {**network, "layers": 2, "initial_state": "zero", "input_feeding_from": "context"}}
    tokenizer = CharacterTokenizer.learn(["ab c"], lowercase=False, least=1)
    trained = untrained({**table, "embedding": {"size": 4}, "data": {"points": "absolute"}}, {"text": tokenizer})
    (out, predictor), texts = exported(trained, tmp_path), ["ab", "c a b"]
    found = drawn(out, "".join(f"{text}\n" for text in texts), run=answered_alone)
    expected = [one.json() for one in predictor.generate_stream(texts, seed=3, bias=0.5, length=12)]
    for one, wanted in zip(found, expected, strict=True):
        assert (one["text"], one["ended"]) == (wanted["text"], wanted["ended"])
        assert [len(stroke) for stroke in one["strokes"]] == [len(stroke) for stroke in wanted["strokes"]]
        assert np.allclose(np.concatenate(one["strokes"]), np.concatenate(wanted["strokes"]), atol=2e-3)
