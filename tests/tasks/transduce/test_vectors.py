"""A transducer of vectors trains, resumes, evaluates and predicts: strokes in, text out."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import anaphora
from anaphora.cli.app import main
from anaphora.inspection.attention import vector_alignments
from anaphora.inspection.subject import Subject
from anaphora.tasks.transduce.predictor import Transduction

SIZES = ["encoder.size=12", "decoder.size=12", "decoder.readout_size=8", "embedding.size=8", "attention.size=6"]
TRAINING = ["encoder.dropout=0", "decoder.dropout=0", "training.batch_tokens=150", "training.epochs=6"]
SETTINGS = [part for setting in (*SIZES, *TRAINING) for part in ("--set", setting)]
BEGIN = ["train", "--data", "strokes", "--task", "transduce", *SETTINGS]


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


@pytest.fixture
def strokes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "strokes"
    folder.mkdir()
    for name, count, seed in (("train", 200, 1), ("val", 20, 2), ("test", 20, 3)):
        (folder / f"{name}.jsonl").write_text(_lines(_written(count, seed)))
    monkeypatch.chdir(tmp_path)
    return folder


def test_strokes_are_read_scored_and_resumed(strokes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    learn = ["--set", "training.optimizer.learning_rate=0.03", "--set", "training.schedule=constant"]
    assert main([*BEGIN, "--run", "run", *learn]) == 0
    assert "200 sequences with texts, a transducer of vectors with" in capsys.readouterr().err
    assert main(["evaluate", "run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["splits"]["test"]["accuracy"] > 0.8
    assert main(["predict", "run", "strokes/test.jsonl"]) == 0
    printed = capsys.readouterr().out.split()
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
    assert main(["evaluate", "run", "--data", "strokes/val.jsonl"]) == 0
    assert main([*BEGIN, "--run", "parts", *learn, "--set", "training.epochs=3"]) == 0
    assert main(["train", "--resume", "--run", "parts", "--set", "training.epochs=6"]) == 0
    whole, parts = (anaphora.load(name, "latest").model.state_dict() for name in ("run", "parts"))
    assert all(tensor.equal(parts[name]) for name, tensor in whole.items())


def test_signals_and_phones_come_from_a_table_of_files(strokes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    signals = strokes / "signals"
    signals.mkdir()
    rows = ["file\ttext"]
    for number, (text, _) in enumerate(_written(40, 4)):
        np.save(signals / f"{number}.npy", np.array([[1.0 if letter == "a" else -1.0, number] for letter in text]))
        rows.append(f"{number}.npy\t{' '.join(text.upper())}")
    (signals / "all.tsv").write_text("\n".join(rows) + "\n")
    begin = ["train", "--data", "strokes/signals/all.tsv", "--task", "transduce", *SETTINGS]
    assert main([*begin, "--run", "run", "--set", "training.epochs=1"]) == 0
    said = capsys.readouterr().err
    assert "held out" in said and "Symbols are separated by spaces in the target" in said
    assert main(["predict", "run", "strokes/signals/0.npy"]) == 0
    [printed] = capsys.readouterr().out.splitlines()
    assert printed == anaphora.load("run").predict([np.load(signals / "0.npy")])[0].text


def test_faulty_strokes_are_named_and_unknown_letters_are_found_by_a_check(
    strokes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*BEGIN, "--run", "run", "--set", "training.epochs=1"]) == 0
    test = strokes / "test.jsonl"
    good = test.read_text()
    for line, message in (
        ('{"strokes": [[[0, 0], [1, 2]]]}', "test.jsonl:21 has no text, which is needed here"),
        ('{"text": "a", "strokes": [[[0, NaN], [1, 2]]]}', "point 1 has a number that is not finite"),
        ('{"text": "a", "strokes": [[[0, 0, 5], [1, 2, 4]]]}', "point 2 is out of order"),
    ):
        test.write_text(f"{good}{line}\n")
        capsys.readouterr()
        assert main(["evaluate", "run"]) == 2
        assert message in capsys.readouterr().err
    np.save(strokes / "wide.npy", np.ones((4, 3)))
    assert main(["predict", "run", "strokes/wide.npy"]) == 2
    assert "no pen, but the others have a pen" in capsys.readouterr().err
    (strokes / "wide.npy").unlink()
    test.write_text(_lines([("ac", _written(1, 4)[0][1])]))
    assert main(["check", "--data", "strokes", "--task", "transduce", "--trial", "0.1", "--json", *SETTINGS]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["trainable"] and found["estimate"]["updates"] > 0
    assert "unknown-tokens" in {finding["kind"] for finding in found["findings"]}


def test_attention_to_strokes_is_drawn_for_a_file(
    strokes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    once = ["--set", "training.epochs=1"]
    assert main([*BEGIN, "--run", "run", *once]) == 0
    assert main([*BEGIN[:5], "--run", "blind", *once, "--set", "attention=none"]) == 0
    (tmp_path / "two.jsonl").write_text(_lines(_written(2, 4)))
    capsys.readouterr()
    assert main(["inspect", "run", "attention", "two.jsonl", "--output", "pictures"]) == 0
    assert (tmp_path / "pictures" / "attention-2.png").exists()
    [first], [second] = (json.loads((tmp_path / f"pictures/attention-{n}.json").read_text()) for n in (1, 2))
    assert first["source_pieces"] == second["source_pieces"] == ["1", "2", "3", "4", "5", "6"]
    assert all(sum(row) == pytest.approx(1, abs=1e-5) for one in (first, second) for row in one["weights"])
    capsys.readouterr()
    for given, said in (
        (["run", "attention", "strokes/train.jsonl"], "at most 20 sequences at once, but strokes/train.jsonl has more"),
        (["run", "attention"], "takes a FILE of them"),
        (["run", "attention", "--text", "ab"], "takes a FILE of them"),
        (["blind", "attention", "two.jsonl"], "it has no attention"),
        (["run", "gates", "two.jsonl"], "cannot be shown a text"),
    ):
        assert main(["inspect", *given]) == 2
        assert said in capsys.readouterr().err


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
