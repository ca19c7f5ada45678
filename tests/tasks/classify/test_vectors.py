"""A classifier of sequences of vectors trains, resumes, evaluates and predicts from arrays."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anaphora
from anaphora.cli.app import main

SETTINGS = ["--set", "encoder.size=6", "--set", "training.batch_tokens=60", "--set", "training.epochs=4"]
BEGIN = ["train", "--data", "signals", "--task", "classify", *SETTINGS]


def _signals(count: int, seed: int) -> tuple[list[Any], list[str]]:
    """Noise of two numbers, one of them far from 0, that rises or falls."""
    source = np.random.default_rng(seed)
    labels = [("rise", "fall")[n % 2] for n in range(count)]
    slopes = [1 if label == "rise" else -1 for label in labels]
    ramps = [slope * np.linspace(-1, 1, int(source.integers(2, 9))) for slope in slopes]
    return [np.stack([ramp, source.normal(100, 5, len(ramp))], 1).astype(np.float32) for ramp in ramps], labels


def _write(path: Path, count: int, seed: int, **more: Any) -> list[Any]:
    values, labels = _signals(count, seed)
    arrays = {"values": np.concatenate(values), "lengths": [len(one) for one in values], "labels": labels}
    np.savez(path, **(arrays | more))
    return values


@pytest.fixture
def signals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "signals"
    folder.mkdir()
    for name, count, seed in (("train", 120, 1), ("valid", 20, 2), ("test", 20, 3)):
        _write(folder / f"{name}.npz", count, seed)
    monkeypatch.chdir(tmp_path)
    return folder


def test_signals_are_classified_scored_and_resumed(signals: Path, capsys: pytest.CaptureFixture[str]) -> None:
    learn = ["--set", "training.optimizer.learning_rate=0.03", "--set", "training.schedule=constant"]
    assert main([*BEGIN, "--run", "run", *learn]) == 0
    assert "120 vector sequences of 2 classes, a classifier of vectors" in capsys.readouterr().err
    assert main(["evaluate", "run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["splits"]["test"]["accuracy"] > 0.9
    assert main(["predict", "run", "signals/test.npz"]) == 0
    printed = capsys.readouterr().out.split()
    model = anaphora.load("run")
    mean = model.model.scale.mean_D.tolist()
    assert mean[1] == pytest.approx(100, abs=2)
    values, labels = _signals(20, 3)
    together = model.predict(values)
    assert [one.label for one in together] == printed and sum(map(str.__eq__, printed, labels)) >= 18
    assert [one.probabilities for one in together] == [model.predict([one])[0].probabilities for one in values]
    assert main(["evaluate", "run", "--data", "signals/valid.npz"]) == 0
    assert main([*BEGIN, "--run", "parts", *learn, "--set", "training.epochs=2"]) == 0
    assert main(["train", "--resume", "--run", "parts", "--set", "training.epochs=4"]) == 0
    whole, parts = (anaphora.load(name, "latest").model.state_dict() for name in ("run", "parts"))
    assert all(tensor.equal(parts[name]) for name, tensor in whole.items())


def test_one_vector_is_classified_without_an_encoder_from_a_table_of_files(
    signals: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values, labels = _signals(40, 4)
    rows = []
    for number, (one, label) in enumerate(zip(values, labels, strict=True)):
        np.save(signals / f"{number}.npy", one[-1])
        rows.append(f"{label}\t{number}.npy")
    (signals / "all.tsv").write_text("label\tfile\n" + "\n".join(rows) + "\n")
    settings = ["--set", 'encoder="none"', "--set", "training.epochs=1", "--run", "run"]
    assert main(["train", "--data", "signals/all.tsv", "--task", "classify", *settings]) == 0
    assert "held out" in capsys.readouterr().err
    assert main(["predict", "run", "signals/0.npy", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["probabilities"] == anaphora.load("run").predict([values[0][-1]])[0].probabilities


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": ["rise"]}, "has 1 label, but 20 sequences"),
        ({"labels": ["rise", "flat"] * 10}, "test.npz: sequence 2 has the label 'flat', which training does not have"),
        ({"values": np.full((1, 3), 1.0), "lengths": [1], "labels": ["rise"]}, "vectors of 3 numbers, but those of"),
        ({"values": np.full((1, 2), np.nan), "lengths": [1], "labels": ["rise"]}, "has nan at [0, 0]"),
    ],
)
def test_faulty_arrays_are_named(
    signals: Path, change: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*BEGIN, "--run", "run", "--set", "training.epochs=1"]) == 0
    _write(signals / "test.npz", 20, 3, **change)
    assert main(["evaluate", "run"]) == 2
    assert message in capsys.readouterr().err
