"""Classifiers and taggers of sequences of vectors train, resume, evaluate and predict from arrays."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anaphora
from anaphora.cli.app import main

SETTINGS = ["--set", "encoder.size=6", "--set", "training.batch_tokens=60", "--set", "training.epochs=4"]
LEARN = ["--set", "training.optimizer.learning_rate=0.03", "--set", "training.schedule=constant"]


def signals(count: int, seed: int) -> tuple[list[Any], list[str]]:
    """Noise of two numbers, one of them far from 0, that rises or falls."""
    source = np.random.default_rng(seed)
    labels = [("rise", "fall")[n % 2] for n in range(count)]
    slopes = [1 if label == "rise" else -1 for label in labels]
    ramps = [slope * np.linspace(-1, 1, int(source.integers(2, 9))) for slope in slopes]
    return [np.stack([ramp, source.normal(100, 5, len(ramp))], 1).astype(np.float32) for ramp in ramps], labels


def frames(count: int, seed: int) -> tuple[list[Any], list[list[str]]]:
    """Two numbers a frame, one of them noise; spans begin where the other rises above 0."""
    source = np.random.default_rng(seed)
    values, tags = list[Any](), list[list[str]]()
    for _ in range(count):
        loud = source.random(int(source.integers(2, 9))) < 0.5
        begins = loud & ~np.concatenate([[False], loud[:-1]])
        signal = np.where(loud, 1.0, -1.0) + source.normal(0, 0.1, len(loud))
        values.append(np.stack([signal, source.normal(100, 5, len(loud))], 1).astype(np.float32))
        tags.append(["B-X" if begin else "I-X" if on else "O" for begin, on in zip(begins, loud, strict=True)])
    return values, tags


MAKERS: dict[str, Any] = {"classify": signals, "tag": frames}


def write(task: str, path: Path, count: int, seed: int, **more: Any) -> None:
    values, labels = MAKERS[task](count, seed)
    arrays = {"values": np.concatenate(values), "lengths": list(map(len, values)), "labels": np.hstack(labels)}
    np.savez(path, **(arrays | more))


@pytest.fixture
def data(task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = Path("data")
    folder.mkdir()
    for name, count, seed in (("train", 120, 1), ("valid", 20, 2), ("test", 20, 3)):
        write(task, folder / f"{name}.npz", count, seed)
    return folder


@pytest.mark.parametrize(
    ("task", "said", "metric"),
    [
        ("classify", "120 vector sequences of 2 classes, a classifier of vectors", "accuracy"),
        ("tag", "120 vector sequences of 3 tags, a tagger of vectors", "f1"),
    ],
)
def test_vectors_are_learnt_scored_and_resumed(
    task: str, said: str, metric: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begin = ["train", "--data", "data", "--task", task, *SETTINGS, *LEARN]
    assert main([*begin, "--run", "run"]) == 0
    assert said in capsys.readouterr().err
    assert main(["evaluate", "run", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["splits"]["test"]
    assert scores[metric] > 0.9 and scores.get("spans", "iob2") == "iob2"
    assert main(["predict", "run", "data/test.npz"]) == 0
    printed, model = capsys.readouterr().out.splitlines(), anaphora.load("run")
    assert model.model.scale.mean_D.tolist()[1] == pytest.approx(100, abs=2)
    values, labels = MAKERS[task](20, 3)
    together = model.predict(values)
    assert list(map(str, together)) == printed
    assert sum(line.split() == np.hstack([of_one]).tolist() for line, of_one in zip(printed, labels, strict=True)) >= 17
    assert [one.json() for one in together] == [model.predict([one])[0].json() for one in values]
    assert main(["evaluate", "run", "--data", "data/valid.npz"]) == 0
    capsys.readouterr()
    assert main(["check", *begin[1:], "--trial", "0.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["trainable"]
    assert main([*begin, "--run", "parts", "--set", "training.epochs=2"]) == 0
    assert main(["train", "--resume", "--run", "parts", "--set", "training.epochs=4"]) == 0
    whole, parts = (anaphora.load(name, "latest").model.state_dict() for name in ("run", "parts"))
    assert all(tensor.equal(parts[name]) for name, tensor in whole.items())


@pytest.mark.parametrize(
    ("task", "settings"),
    [("classify", ['encoder="none"']), ("tag", ['output="sigmoid"', "training.optimizer.learning_rate=0.03"])],
)
def test_vectors_come_from_a_table_of_files(
    task: str, settings: list[str], data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values, labels = MAKERS[task](40, 4)
    several, rows = {"B-X": "on|begin", "I-X": "on", "O": "_"}, ["label\tfile"] if task == "classify" else []
    for number, (one, label) in enumerate(zip(values, labels, strict=True)):
        np.save(data / f"{number}.npy", one[-1] if task == "classify" else one)  # one vector, or several
        of_tags = f"{number}.npy\t{' '.join(several.get(tag, '') for tag in label)}"
        rows.append(f"{label}\t{number}.npy" if task == "classify" else of_tags)
    (data / "all.tsv").write_text("\n".join(rows) + "\n")
    changes = [part for setting in settings for part in ("--set", setting)]
    assert main(["train", "--data", "data/all.tsv", "--task", task, *SETTINGS, *changes, "--run", "run"]) == 0
    assert "held out" in capsys.readouterr().err
    assert main(["predict", "run", "data/0.npy", "--json"]) == 0
    found, model = json.loads(capsys.readouterr().out), anaphora.load("run")
    assert found == model.predict([np.load(data / "0.npy")])[0].json()
    if task == "tag":
        assert set(model.tags) == {"on", "begin"}
        assert len(found["tags"]) == len(labels[0]) and set(found["tags"]) <= {"on", "begin", "on|begin", "_"}


@pytest.mark.parametrize(
    ("task", "changes"),
    [
        (
            "classify",
            [
                ({"labels": ["rise"]}, "has 1 label, but 20 sequences"),
                ({"labels": ["rise", "flat"] * 10}, "test.npz: sequence 2 has the label 'flat', which training does"),
                ({"values": np.ones((1, 3)), "lengths": [1], "labels": ["rise"]}, "vectors of 3 numbers, but those of"),
                ({"values": np.full((1, 2), np.nan), "lengths": [1], "labels": ["rise"]}, "has nan at [0, 0]"),
            ],
        ),
        (
            "tag",
            [
                ({"labels": ["O"]}, "test.npz has 1 label, but"),
                ({"values": np.ones((2, 2)), "lengths": [2], "labels": ["O", "B-Y"]}, "sequence 1 has the label 'B-Y'"),
                ({"values": np.ones((2, 3)), "lengths": [2], "labels": ["O", "O"]}, "vectors of 3 numbers, but those"),
                ({"values": np.ones((2, 2)), "lengths": [2], "labels": ["O", ""]}, "vector 2, should have a label"),
                ({"values": np.full((1, 2), np.nan), "lengths": [1], "labels": ["O"]}, "has nan at [0, 0]"),
                ({"values": np.array([[1, 2], None], dtype=object)}, "Python objects, which are not loaded"),
            ],
        ),
    ],
)
def test_faulty_arrays_are_named(
    task: str, changes: list[tuple[dict[str, Any], str]], data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begin = ["train", "--data", "data", "--task", task, *SETTINGS, "--set", "training.epochs=1"]
    assert main([*begin, "--run", "run"]) == 0
    for change, message in changes:
        write(task, data / "test.npz", 20, 3, **change)
        capsys.readouterr()
        assert main(["evaluate", "run"]) == 2
        assert message in capsys.readouterr().err
    if task == "tag":
        (data / "test.npz").unlink()
        write(task, data / "valid.npz", 2, 3, values=np.ones((2, 2)), lengths=[2], labels=["O", "I-X"])
        assert main([*begin, "--run", "barred"]) == 2
        barred = capsys.readouterr().err
        assert "sequence 1, vector 2, has the tag 'I-X', which IOB2 does not allow there" in barred
