"""Classifiers and taggers of sequences of vectors train, evaluate and predict from arrays."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anaphora
from anaphora.tasks.runs import load_trained

from .conftest import Trained, set_all, shown, train

SMALL = set_all("encoder.size=6", "training.batch_tokens=60")
ONCE = set_all("training.epochs=1")
LEARN = set_all("training.epochs=4", "training.optimizer.learning_rate=0.03", "training.schedule=constant")


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


@pytest.fixture(scope="module", params=["classify", "tag"])
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    (data := tmp_path_factory.mktemp("vectors") / request.param).mkdir()
    for name, count, seed in (("train", 120, 1), ("valid", 20, 2), ("test", 20, 3)):
        write(request.param, data / f"{name}.npz", count, seed)
    return Trained(data, train(request.param, data, data.with_name("run"), *SMALL, *LEARN))


@pytest.fixture
def task(data: Path) -> str:
    """The task, which its data is called after."""
    return data.name


SAID = {
    "classify": "120 vector sequences of 2 classes, a classifier of vectors",
    "tag": "120 vector sequences of 3 tags, a tagger of vectors",
}


def test_vectors_are_learnt_and_scored(trained: Trained, task: str) -> None:
    assert SAID[task] in trained.said
    scores = shown("evaluate", "run", "--json").split
    assert scores["accuracy" if task == "classify" else "f1"] > 0.9 and scores.get("spans", "iob2") == "iob2"
    printed, model = shown("predict", "run", f"{task}/test.npz").lines, anaphora.load("run")
    network: Any = load_trained(Path("run")).model
    assert network.scale.mean_D.tolist()[1] == pytest.approx(100, abs=2)
    values, labels = MAKERS[task](20, 3)
    together = model.predict(values)
    assert list(map(str, together)) == printed
    assert sum(line.split() == np.hstack([of_one]).tolist() for line, of_one in zip(printed, labels, strict=True)) >= 17
    assert [one.json() for one in together] == [model.predict([one])[0].json() for one in values]
    shown("evaluate", "run", "--data", f"{task}/valid.npz")
    check = ["check", "--data", task, "--task", task, "--trial", "0.1", "--json"]
    assert shown(*check, *SMALL, *LEARN).json["trainable"]


TABLES = {
    "classify": ['encoder="none"'],
    "tag": ['output="sigmoid"', "training.optimizer.learning_rate=0.03", "training.epochs=4"],
}


def test_vectors_come_from_a_table_of_files(task: str) -> None:
    values, labels = MAKERS[task](40, 4)
    several, rows = {"B-X": "on|begin", "I-X": "on", "O": "_"}, ["label\tfile"] if task == "classify" else []
    for number, (one, label) in enumerate(zip(values, labels, strict=True)):
        np.save(f"{task}/{number}.npy", one[-1] if task == "classify" else one)  # one vector, or several
        of_tags = f"{number}.npy\t{' '.join(several.get(tag, '') for tag in label)}"
        rows.append(f"{label}\t{number}.npy" if task == "classify" else of_tags)
    Path(task, "all.tsv").write_text("\n".join(rows) + "\n")
    assert "held out" in train(task, f"{task}/all.tsv", "table", *SMALL, *ONCE, *set_all(*TABLES[task]))
    found, model = shown("predict", "table", f"{task}/0.npy", "--json").json, anaphora.load("table")
    assert found == model.predict([np.load(f"{task}/0.npy")])[0].json()
    if task == "tag":
        assert set(model.tags) == {"on", "begin"}
        assert len(found["tags"]) == len(labels[0]) and set(found["tags"]) <= {"on", "begin", "on|begin", "_"}


def test_a_table_of_numbers_is_vectors(task: str) -> None:
    values, labels = MAKERS[task](40, 4)
    rows = ["series\tlabel\tx\ty"] if task == "tag" else ["id\tx\ty\tlabel"]
    for number, (one, label) in enumerate(zip(values, labels, strict=True)):
        for (x, y), name in zip(one.tolist(), label if task == "tag" else [label] * len(one), strict=True):
            rows.append(f"{number}\t{name}\t{x}\t{y}" if task == "tag" else f"{number}\t{x}\t{y}\t{name}")
    Path("wide").mkdir()
    for name in ("train.tsv", "valid.tsv", "test.csv"):
        lines = [row.replace("\t", ",") if name.endswith(".csv") else row for row in rows]
        Path(f"wide/{name}").write_text("\n".join(lines) + "\n")
    said = train(task, "wide", "of-table", *SMALL, *ONCE)
    assert f"40 vector sequences of {'3 tags' if task == 'tag' else '2 classes'}" in said
    assert shown("check", "--data", "wide", "--task", task, "--trial", "0", "--json", *SMALL).json["findings"] == []
    write(task, Path("same.npz"), 40, 4)
    of_arrays = shown("evaluate", "of-table", "--data", "same.npz", "--json", "--no-keep").split
    assert of_arrays == shown("evaluate", "of-table", "--json", "--no-keep").split
    predicted = shown("predict", "of-table", "wide/test.csv").out
    assert predicted == shown("predict", "of-table", "same.npz").out
    unlabelled = "".join(f"{n},{x},{y}\n" for n, one in enumerate(values) for x, y in one)
    Path("wide/unlabelled.csv").write_text(f"id,x,y\n{unlabelled}")
    assert shown("predict", "of-table", "wide/unlabelled.csv").out == predicted
    heading, first, second, *_ = rows
    for lines, said in (
        ([heading, first, second.replace("0\t", "1\t", 1), first], "test.tsv:4 continues the sequence '0' after"),
        ([heading, first, f"{second}\t1"], "test.tsv:3 has 5 columns, but the heading 4: correct it"),
        ([heading, first, first, "\t".join(["7", *["B-X"] * 3])], "test.tsv:4 should have a number in the column"),
    ):
        Path("test.tsv").write_text("\n".join(lines) + "\n")
        assert said in shown("evaluate", "of-table", "--data", "test.tsv", code=2).err


def test_one_vector_an_example_needs_no_ids_and_no_lengths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = np.random.default_rng(3)
    kinds = ["low", "high"] * 30
    values = source.normal([[0 if kind == "low" else 5] * 3 for kind in kinds], 1).astype(np.float32)
    lines = (f"{kind},{','.join(map(str, one))}" for kind, one in zip(kinds, values.tolist(), strict=True))
    Path("wide.csv").write_text("label,f0,f1,f2\n" + "\n".join(lines) + "\n")
    np.savez("arrays.npz", values=values, labels=kinds)
    for data, run in (("wide.csv", "one"), ("arrays.npz", "two")):
        assert "vector sequences of 2 classes" in train("classify", data, run, *SMALL, *ONCE)
    assert shown("predict", "one", "wide.csv").out == shown("predict", "one", "arrays.npz").out
    assert "has no array 'lengths'" in train("tag", "arrays.npz", "three", *SMALL, code=2)
    Path("texts.csv").write_text("label,text\n" + "".join(f"{kind},{n}\n" for n, kind in enumerate(kinds)))
    assert "texts of 2 classes" in train("classify", "texts.csv", "four", *SMALL, *ONCE)


FAULTS: dict[str, list[tuple[dict[str, Any], str]]] = {
    "classify": [
        ({"labels": ["rise"]}, "has 1 label, but 20 sequences"),
        ({"labels": ["rise", "flat"] * 10}, "test.npz: sequence 2 has the label 'flat', which training does"),
        ({"values": np.ones((1, 3)), "lengths": [1], "labels": ["rise"]}, "vectors of 3 numbers, but those of"),
        ({"values": np.full((1, 2), np.nan), "lengths": [1], "labels": ["rise"]}, "has nan at [0, 0]"),
    ],
    "tag": [
        ({"labels": ["O"]}, "test.npz has 1 label, but"),
        ({"values": np.ones((2, 2)), "lengths": [2], "labels": ["O", "B-Y"]}, "sequence 1 has the label 'B-Y'"),
        ({"values": np.ones((2, 2)), "lengths": [2], "labels": ["O", ""]}, "vector 2, should have a label"),
    ],
}


def test_faulty_arrays_are_named(task: str) -> None:
    for change, message in FAULTS[task]:
        write(task, Path("test.npz"), 20, 3, **change)
        assert message in shown("evaluate", "run", "--data", "test.npz", code=2).err


def test_a_tag_that_its_encoding_bars_is_named(tmp_path: Path) -> None:
    write("tag", tmp_path / "train.npz", 20, 1)
    write("tag", tmp_path / "valid.npz", 2, 3, values=np.ones((2, 2)), lengths=[2], labels=["O", "I-X"])
    said = train("tag", tmp_path, tmp_path / "run", code=2)
    assert "sequence 1, vector 2, has the tag 'I-X', which IOB2 does not allow there" in said
