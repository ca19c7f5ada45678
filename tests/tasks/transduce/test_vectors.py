"""A transducer of vectors trains, evaluates and predicts: strokes in, text out."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import anaphora
from anaphora.inspection.attention import vector_alignments
from anaphora.inspection.subject import Subject
from anaphora.tasks.transduce.predictor import Transduction

from ..conftest import Trained, set_all, shown, train

SIZES = ("encoder.size=12", "decoder.size=12", "decoder.readout_size=8", "embedding.size=8")
TRAINING = ("encoder.dropout=0", "decoder.dropout=0", "training.batch_tokens=150")
SMALL = set_all(*SIZES, *TRAINING)
LEARN = set_all("training.optimizer.learning_rate=0.03", "training.schedule=constant", "training.epochs=6")
ONCE = set_all("training.epochs=1")


def _written(count: int, seed: int) -> list[tuple[str, Any]]:
    """Texts of two letters, a an upward stroke and b a downward one."""
    source = np.random.default_rng(seed)
    texts = ["".join("ab"[int(one)] for one in source.integers(0, 2, 2)) for _ in range(count)]
    drawn = []
    for text in texts:
        ramps = [(-1 if letter == "a" else 1) * np.arange(3) * 10 + source.integers(0, 5, 3) for letter in text]
        strokes = [[[5 * n + 20 * place, int(y)] for n, y in enumerate(ramp)] for place, ramp in enumerate(ramps)]
        drawn.append((text, strokes))
    return drawn


def _lines(written: list[tuple[str, Any]]) -> str:
    return "".join(json.dumps({"text": text, "strokes": strokes}) + "\n" for text, strokes in written)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    (strokes := tmp_path_factory.mktemp("vectors") / "strokes").mkdir()
    for name, count, seed in (("train", 200, 1), ("val", 20, 2), ("test", 20, 3)):
        (strokes / f"{name}.jsonl").write_text(_lines(_written(count, seed)))
    options = [*SMALL, *set_all("attention.size=6"), *LEARN]
    return Trained(strokes, train("transduce", strokes, strokes.with_name("run"), *options))


def test_strokes_are_read_and_scored(trained: Trained, data: Path) -> None:
    assert "200 sequences with texts, a transducer of vectors with" in trained.said
    assert shown("evaluate", "run", "--json").split["accuracy"] > 0.8
    printed = shown("predict", "run", data / "test.jsonl").lines
    model, written = anaphora.load("run"), _written(20, 3)
    together = model.predict([strokes for _, strokes in written])
    assert [one.text for one in together] == printed
    assert sum(found == text for found, (text, _) in zip(printed, written, strict=True)) >= 16
    alone = [model.predict([strokes])[0] for _, strokes in written]
    assert [(one.text, one.score) for one in together] == [(one.text, one.score) for one in alone]
    [several] = model.predict([written[0][1]], beam=3)
    assert several.alternatives and several.weights is None
    [seen] = model.predict([written[0][1]], attention=True)
    assert seen == replace(together[0], pieces=(*together[0].text, "</s>")) and seen.weights is not None
    assert seen.weights.shape == (len(seen.pieces), sum(map(len, written[0][1])))
    assert seen.weights.sum(1) == pytest.approx(1, abs=1e-5)


def test_signals_and_phones_come_from_a_table_of_files(data: Path) -> None:
    (signals := data / "signals").mkdir()
    rows = ["file\ttext"]
    for number, (text, _) in enumerate(_written(40, 4)):
        np.save(signals / f"{number}.npy", np.array([[1.0 if letter == "a" else -1.0, number] for letter in text]))
        rows.append(f"{number}.npy\t{' '.join(text.upper())}")
    (signals / "all.tsv").write_text("\n".join(rows) + "\n")
    said = train("transduce", signals / "all.tsv", "signals", *SMALL, *ONCE)
    assert "held out" in said and "Symbols are separated by spaces in the target" in said
    [printed] = shown("predict", "signals", signals / "0.npy").lines
    assert printed == anaphora.load("signals").predict([np.load(signals / "0.npy")])[0].text


def test_faulty_strokes_are_named_and_unknown_letters_are_found_by_a_check(data: Path) -> None:
    test = data / "faulty.jsonl"
    for line, message in (
        ('{"strokes": [[[0, 0], [1, 2]]]}', "faulty.jsonl:21 has no text, which is needed here"),
        ('{"text": "a", "strokes": [[[0, NaN], [1, 2]]]}', "point 1 has a number that is not finite"),
        ('{"text": "a", "strokes": [[[0, 0, 5], [1, 2, 4]]]}', "point 2 is out of order"),
    ):
        test.write_text((data / "test.jsonl").read_text() + f"{line}\n")
        assert message in shown("evaluate", "run", "--data", test, code=2).err
    test.unlink()
    np.save("wide.npy", np.ones((4, 3)))
    assert "no pen, but the others have a pen" in shown("predict", "run", "wide.npy", code=2).err
    (data / "test.jsonl").write_text(_lines([("ac", _written(1, 4)[0][1])]))
    check = ["check", "--data", data, "--task", "transduce", "--trial", "0.1", "--json", *SMALL]
    found = shown(*check).json
    assert found["trainable"] and found["estimate"]["updates"] > 0
    assert "unknown-tokens" in {finding["kind"] for finding in found["findings"]}


def test_attention_to_strokes_is_drawn_for_a_file(data: Path) -> None:
    train("transduce", data, "blind", *SMALL, *ONCE, *set_all("attention=none"))
    Path("two.jsonl").write_text(_lines(_written(2, 4)))
    shown("inspect", "run", "attention", "two.jsonl", "--output", "pictures")
    assert Path("pictures/attention-2.png").exists()
    [first], [second] = (json.loads(Path(f"pictures/attention-{n}.json").read_text()) for n in (1, 2))
    assert first["source_pieces"] == second["source_pieces"] == ["1", "2", "3", "4", "5", "6"]
    assert all(sum(row) == pytest.approx(1, abs=1e-5) for one in (first, second) for row in one["weights"])
    for given, said in (
        (["run", "attention", "strokes/train.jsonl"], "at most 20 sequences, but strokes/train.jsonl has more"),
        (["run", "attention"], "takes a FILE of them"),
        (["run", "attention", "--text", "ab"], "takes a FILE of them"),
        (["blind", "attention", "two.jsonl"], "it has no attention"),
        (["run", "gates", "two.jsonl"], "cannot be shown a text"),
    ):
        assert said in shown("inspect", *given, code=2).err


def test_attention_to_many_vectors_is_summed_in_groups() -> None:
    weights = np.random.default_rng(1).random((2, 250), np.float32)

    class Reader:
        attends = True

        def predict_file(self, path: Path, *, beam: int, attention: bool) -> Iterator[Transduction]:
            yield Transduction("a", -1.0, pieces=("a", "</s>"), weights=weights)

    trained: Any = SimpleNamespace(path=Path("run"))
    [[found]] = vector_alignments([Subject(trained, Reader())], Path("long.jsonl"))
    assert found.source_pieces[:2] == ("1-3", "4-6") and found.source_pieces[-1] == "250"
    assert np.allclose(found.weights[1][1], weights[1, 3:6].sum())
    assert np.allclose(np.sum(found.weights, 1), weights.sum(1))
