"""What a finished command says to do next works as it stands, in a shell."""

import io
import re
import subprocess
import sys
from pathlib import Path
from shlex import split

import numpy as np
import pytest

from anaphora.cli.app import main
from anaphora.tasks.registry import every_task

from ..conftest import TINY_FEED_FORWARD_MODEL

ALIGNER = """
task = "align"
[text]
tokenizer = "word"
segmentation = "whitespace"
"""
LABELLED = "label\ttext\n" + "".join(f"good\tfine {n}\nbad\tdull {n}\n" for n in range(40))
TAGGED = "".join(f"A\tDET\nman\tNOUN\n{n}\tNUM\n\n" for n in range(40))
STROKES = "".join(f'{{"strokes": [[[0, 0], [{n}, 2], [3, {n}]]]}}\n' for n in range(40))
PREDICTION = """
task = "trace"
recurrence.size = 6
output.components = 2
training = {epochs = 1, batch_tokens = 250}
"""
SPOKEN = "".join(f"{a}{b}{c}\t{a} {b} {c}\n" for a in "abcd" for b in "efg" for c in "hij")
SMALL = ["--set", "training.epochs=1", "--set", "encoder.size=6", "--set", "embedding.size=6"]


@pytest.fixture
def files(
    tiny_translator: Path,
    tiny_language_model: Path,
    count_model: str,
    toy_pairs: Path,
    toy_book: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Experiments and data in the working folder; no data has a test split."""
    monkeypatch.chdir(tmp_path)
    tiny_translator.rename("translator.toml")
    tiny_language_model.rename("text.toml")
    toy_pairs.rename("pairs")
    toy_book.rename("my book.txt")
    for file in Path("pairs").glob("test.*"):
        file.unlink()
    for name, content in {
        "counts.toml": count_model,
        "aligner.toml": ALIGNER,
        "forward.toml": TINY_FEED_FORWARD_MODEL,
        "films.tsv": LABELLED,
        "words.tsv": TAGGED,
        "strokes.jsonl": STROKES,
        "prediction.toml": PREDICTION,
        "spoken.tsv": SPOKEN,
    }.items():
        Path(name).write_text(content)
    Path("images").mkdir()
    Path("images/captions.tsv").write_text("".join(f"image{n}\tone dot\n" for n in range(40)))
    np.savez("images/features.npz", **{f"image{n}": np.ones((2, 2, 3)) for n in range(40)})


def run_line(line: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a line for a shell, perhaps a pipe into ``anaphora``; returns its exit code."""
    written, _, command = line.rpartition(" | ")
    program, *arguments = split(command)
    assert program == "anaphora"
    given = subprocess.run(["sh", "-c", written or ":"], capture_output=True, check=True).stdout
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), encoding="utf-8"))
    return main(arguments)


TRAIN = {
    "translate": ["train", "translator.toml", "--data", "pairs", "--target", "fr"],
    "language-model": ["train", "text.toml", "--data", "my book.txt"],
    "feed-forward": ["train", "forward.toml", "--data", "my book.txt"],
    "ngram": ["train", "counts.toml", "--data", "my book.txt"],
    "align": ["train", "aligner.toml", "--data", "pairs", "--target", "fr"],
    "classify": ["train", "--data", "films.tsv", "--task", "classify", *SMALL],
    "tag": ["train", "--data", "words.tsv", "--task", "tag", *SMALL],
    "describe": ["train", "--data", "images", "--task", "describe", *SMALL, "--set", "decoder.size=6"],
    "trace": ["train", "prediction.toml", "--data", "strokes.jsonl"],
    "transduce": [
        *("train", "--data", "spoken.tsv", "--task", "transduce", *SMALL),
        *("--set", "decoder.size=6", "--set", "decoder.readout_size=6", "--set", "guided_alignment=none"),
    ],
}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("command", TRAIN.values(), ids=TRAIN)
def test_the_suggested_command_works_and_so_does_evaluate(
    command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([*command, "--run", "my runs/1"]) == 0
    [line] = re.findall(r"Next: (.+)", capsys.readouterr().err)
    assert run_line(line, monkeypatch) == 0
    assert capsys.readouterr().out.strip()
    if command != TRAIN["align"]:
        assert main(["evaluate", "my runs/1"]) == 0
        assert "validation split is scored" in capsys.readouterr().err


@pytest.mark.usefixtures("files")
def test_the_command_that_mix_suggests_works(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([*TRAIN["ngram"], "--run", "counts"]) == 0
    capsys.readouterr()
    assert main(["mix", "counts", "--cache", "--run", "my mix"]) == 0
    [line] = re.findall(r"Next: (.+)", capsys.readouterr().err)
    assert run_line(line, monkeypatch) == 0
    assert capsys.readouterr().out.strip()


def test_every_task_has_its_suggested_command_tested() -> None:
    assert {task.name for task in every_task()} <= TRAIN.keys()


def test_every_task_of_model_suggests_a_command_with_its_run() -> None:
    for task in every_task():
        assert task.next_command.count("{run}") == 1 and "anaphora " in task.next_command


def test_training_that_starts_from_a_run_says_so_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "experiment.toml").write_text("[")
    assert main(["train", "--from", str(tmp_path), "--data", "x", "--run", str(tmp_path / "run")]) == 2
    first = capsys.readouterr().err.splitlines()[0]
    assert first == f"Starting from the weights and vocabulary of {tmp_path} ..."


def test_data_in_the_place_of_a_recipe_is_told_from_one(
    toy_pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for verb in "check", "train":
        assert main([verb, str(toy_pairs)]) == 2
        assert (
            f"is a folder, but a recipe or a file ending in .toml was expected: write --data {toy_pairs}."
            in capsys.readouterr().err
        )
    (tmp_path / "experiment.toml").touch()
    assert main(["train", str(tmp_path)]) == 2
    assert f"write --resume --run {tmp_path}." in capsys.readouterr().err
