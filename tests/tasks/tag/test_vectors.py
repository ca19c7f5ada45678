"""A tagger of vectors trains, resumes, evaluates and predicts from arrays and tables of them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anaphora
from anaphora.cli.app import main

SETTINGS = ["--set", "encoder.size=6", "--set", "training.batch_tokens=60", "--set", "training.epochs=4"]
BEGIN = ["train", "--data", "frames", "--task", "tag", *SETTINGS]


def _frames(count: int, seed: int) -> tuple[list[Any], list[list[str]]]:
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


def _write(path: Path, count: int, seed: int, **more: Any) -> None:
    values, tags = _frames(count, seed)
    lengths, labels = [len(one) for one in values], np.concatenate(tags)
    arrays = {"values": np.concatenate(values), "lengths": lengths, "labels": labels}
    np.savez(path, **(arrays | more))


@pytest.fixture
def frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "frames"
    folder.mkdir()
    for name, count, seed in (("train", 120, 1), ("valid", 20, 2), ("test", 20, 3)):
        _write(folder / f"{name}.npz", count, seed)
    monkeypatch.chdir(tmp_path)
    return folder


def test_frames_are_tagged_scored_and_resumed(frames: Path, capsys: pytest.CaptureFixture[str]) -> None:
    learn = ["--set", "training.optimizer.learning_rate=0.03"]
    assert main([*BEGIN, "--run", "run", *learn]) == 0
    assert "120 vector sequences of 3 tags, a tagger of vectors" in capsys.readouterr().err
    assert main(["evaluate", "run", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["splits"]["test"]
    assert scores["f1"] > 0.9 and scores["spans"] == "iob2"
    assert main(["predict", "run", "frames/test.npz"]) == 0
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    model, (values, tags) = anaphora.load("run"), _frames(20, 3)
    together = model.predict(values)
    assert [list(one.tags) for one in together] == printed and sum(map(list.__eq__, printed, tags)) >= 17
    assert [one.tags for one in together] == [model.predict([one])[0].tags for one in values]
    assert main(["evaluate", "run", "--data", "frames/valid.npz"]) == 0
    assert main([*BEGIN, "--run", "parts", *learn, "--set", "training.epochs=2"]) == 0
    assert main(["train", "--resume", "--run", "parts", "--set", "training.epochs=4"]) == 0
    whole, parts = (anaphora.load(name, "latest").model.state_dict() for name in ("run", "parts"))
    assert all(tensor.equal(parts[name]) for name, tensor in whole.items())


def test_several_labels_a_frame_are_read_from_a_table_of_files(
    frames: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values, tags = _frames(40, 4)
    rows = []
    for number, (one, of_one) in enumerate(zip(values, tags, strict=True)):
        np.save(frames / f"{number}.npy", one)
        names = {"B-X": "on|begin", "I-X": "on", "O": "_"}
        rows.append(f"{number}.npy\t{' '.join(names[tag] for tag in of_one)}")
    (frames / "all.tsv").write_text("\n".join(rows) + "\n")
    settings = ["--set", 'output="sigmoid"', "--set", "training.optimizer.learning_rate=0.03", "--run", "run"]
    assert main(["train", "--data", "frames/all.tsv", "--task", "tag", *SETTINGS, *settings]) == 0
    assert "held out" in capsys.readouterr().err
    assert set(anaphora.load("run").tags) == {"on", "begin"}
    assert main(["predict", "run", "frames/0.npy", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["tags"]
    assert len(found) == len(tags[0]) and set(found) <= {"on", "begin", "on|begin", "_"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": ["O"]}, "test.npz has 1 label, but"),
        ({"values": np.ones((2, 2)), "lengths": [2], "labels": ["O", "B-Y"]}, "sequence 1 has the label 'B-Y', which"),
        ({"values": np.ones((2, 3)), "lengths": [2], "labels": ["O", "O"]}, "vectors of 3 numbers, but those of"),
        ({"values": np.ones((2, 2)), "lengths": [2], "labels": ["O", ""]}, "vector 2, should have a label"),
        ({"values": np.full((1, 2), np.nan), "lengths": [1], "labels": ["O"]}, "has nan at [0, 0]"),
        ({"values": np.array([[1, 2], None], dtype=object)}, "Python objects, which are not loaded"),
    ],
)
def test_faulty_frames_are_named(
    frames: Path, change: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*BEGIN, "--run", "run", "--set", "training.epochs=1"]) == 0
    _write(frames / "test.npz", 20, 3, **change)
    assert main(["evaluate", "run"]) == 2
    assert message in capsys.readouterr().err


def test_a_barred_tag_names_its_frame(frames: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(frames / "valid.npz", 2, 3, values=np.ones((2, 2)), lengths=[2], labels=["O", "I-X"])
    assert main([*BEGIN, "--run", "run"]) == 2
    assert "sequence 1, vector 2, has the tag 'I-X', which IOB2 does not allow there" in capsys.readouterr().err


def test_the_data_is_checked(frames: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--data", "frames", "--task", "tag", "--trial", "0.1", "--json", *SETTINGS]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["trainable"] and found["estimate"]["updates"] > 0
