"""Exported classifiers and taggers answer as the package does, whatever they read and however they decide."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anaphora.text.words import WordTokenizer

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from tests.export.driver import ASKED, answered, both, exported
from tests.networks import untrained

TEXTS = [
    "The old man doesn't see a cat.",
    "l'ami «voit» un chat… 1,000.50 fois !!",
    "Алиса в саду — да",
    "老人看见一只猫。",
    "انہوں نے کہا",
    "कहानी  सुनो",
    "b",
    "",
]
RECURRENT: dict[str, dict[str, Any]] = {
    "bidirectional": {"cell": "lstm", "size": 5, "layers": 2},
    "forward": {"cell": "gru", "size": 5, "bidirectional": False, "initial_state": "learned"},
}
ENCODERS: dict[str, Any] = {**RECURRENT, "cnn": {"kind": "cnn", "size": 3, "widths": [1, 2, 5]}, "none": "none"}
CLASSES: dict[str, dict[str, Any]] = {
    "mean": {"pooling": "mean"},
    "max": {"pooling": "max", "output": "sigmoid"},
    "last": {"pooling": "last"},
    "attention": {"pooling": "attention", "output": "sigmoid"},
}
NAMES = ["good", "bad", "so-so"]
VECTORS = {"size": 3, "mean": [0.5, -1.0, 2.0], "deviation": [2.0, 0.5, 1.0]}


def words(segmentation: Any, lowercase: bool = True) -> WordTokenizer:
    return WordTokenizer.learn(
        TEXTS[:5], size=40, least=1, lowercase=lowercase, segmentation=segmentation, language="en"
    )


def sequences(*lengths: int) -> list[np.ndarray[Any, Any]]:
    numbers = np.random.default_rng(1)
    return [numbers.normal(size=(length, 3)).astype(np.float32) for length in lengths]


@pytest.mark.parametrize("pooling", CLASSES)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_classifier_of_texts(tmp_path: Path, encoder: str, pooling: str) -> None:
    segmentation = "whitespace" if encoder == "none" else "joiner"
    embedding = {"kind": "character-cnn", "filters": 3} if pooling == "last" else {"size": 4}
    trained = untrained(
        {
            "task": "classify",
            "text": {"tokenizer": "word", "segmentation": segmentation, "lowercase": True},
            "embedding": embedding,
            "encoder": ENCODERS[encoder],
            "classes": {"names": NAMES, **CLASSES[pooling]},
            "data": {"max_length": 6},
        },
        {"text": words(segmentation)},
    )
    model, predictor = both(trained, tmp_path)
    for text, expected in zip(TEXTS, predictor.predict(TEXTS), strict=True):
        found = model.probabilities(model.side("text").encode(text.strip()))
        assert found == pytest.approx(expected.probabilities, abs=1e-5)
        assert model.answer(text, ASKED) == str(expected)


@pytest.mark.parametrize("pooling", CLASSES)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_classifier_of_vectors(tmp_path: Path, encoder: str, pooling: str) -> None:
    classes = {"names": NAMES, **CLASSES[pooling]}
    table = {"task": "classify", "model": "vectors", "vectors": VECTORS, "classes": classes}
    trained = untrained({**table, "encoder": ENCODERS[encoder]}, {})
    (model, predictor), given = both(trained, tmp_path), [*sequences(1, 7, 2, 33), np.float32([1, 2, 3])]
    for one, expected in zip(given, predictor.predict(given), strict=True):
        assert model.probabilities(one) == pytest.approx(expected.probabilities, abs=1e-5)
        assert model.answer(one, ASKED) == str(expected)


def vocabularies(tags: list[str]) -> dict[str, Any]:
    letters = dict.fromkeys("".join(TEXTS[:3]).replace(" ", ""))
    shared: dict[str, Any] = {"lowercase": False, "segmentation": "whitespace", "language": "en"}
    return {
        "text": words("whitespace"),
        "characters": WordTokenizer(list(letters), **shared),
        "tags": WordTokenizer(tags, **shared),
    }


@pytest.mark.parametrize("output", ["softmax", "sigmoid", "crf"])
@pytest.mark.parametrize("characters", ["none", "character-cnn"])
def test_a_tagger_of_words(tmp_path: Path, output: str, characters: str) -> None:
    spans = {"spans": "bioes"} if output == "crf" else {}
    short = {"kind": "character-cnn", "filters": 3, "max_length": 5, "highways": 2}
    trained = untrained(
        {
            "task": "tag",
            "embedding": {"size": 4},
            "text": {"lowercase": True},
            "characters": "none" if characters == "none" else short,
            "encoder": RECURRENT["bidirectional"],
            "output": output,
            **spans,
        },
        vocabularies(["O", "B-X", "I-X", "E-X", "S-X"]),
    )
    out, predictor = exported(trained, tmp_path)
    expected = predictor.predict_lines([*TEXTS, "end"], "lines", format="text")
    found = answered(out / "driver.py", given="\r\n".join([*TEXTS, " ", "end"]))
    assert found == "".join(map(str, expected))


@pytest.mark.parametrize("output", ["softmax", "sigmoid", "crf"])
def test_a_tagger_of_vectors(tmp_path: Path, output: str) -> None:
    table = {"task": "tag", "model": "vectors", "vectors": VECTORS, "output": output}
    names = WordTokenizer(["a", "b", "c"], lowercase=False, segmentation="whitespace", language="en")
    trained = untrained({**table, "encoder": RECURRENT["forward"]}, {"tags": names})
    out, predictor = exported(trained, tmp_path)
    given, file = sequences(3, 1, 20), tmp_path / "vectors.npz"
    np.savez(file, values=np.concatenate(given), lengths=[3, 1, 20])
    assert answered(out / "driver.py", file).splitlines() == list(map(str, predictor.predict(given)))
