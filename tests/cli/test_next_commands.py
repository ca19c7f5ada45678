"""What a finished command says to do next works as it stands, in a shell."""

import io
import re
import subprocess
import sys
from pathlib import Path
from shlex import split

import numpy as np
import pytest

from anaphora.tasks.registry import every_task

from ..conftest import TINY_FEED_FORWARD_MODEL
from .conftest import Cli, Shown

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


def run_next(shown: Shown, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the suggested line for a shell, perhaps a pipe into ``anaphora``, which prints something."""
    [line] = re.findall(r"Next: (.+)", shown.err)
    written, _, command = line.rpartition(" | ")
    program, *arguments = split(command)
    assert program == "anaphora"
    given = subprocess.run(["sh", "-c", written or ":"], capture_output=True, check=True).stdout
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), encoding="utf-8"))
    assert cli(*arguments).out.strip()


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
    command: list[str], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_next(cli(*command, "--run", "my runs/1"), cli, monkeypatch)
    if command != TRAIN["align"]:
        assert "validation split is scored" in cli("evaluate", "my runs/1").err


def test_every_task_has_its_suggested_command_tested() -> None:
    assert {task.name for task in every_task()} <= TRAIN.keys()
    assert all(task.next_command.count("{run}") == 1 for task in every_task())


@pytest.mark.usefixtures("files")
def test_the_command_that_mix_suggests_works(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli(*TRAIN["ngram"], "--run", "counts")
    run_next(cli("mix", "counts", "--cache", "--run", "my mix"), cli, monkeypatch)


def test_data_in_the_place_of_a_recipe_is_told_from_one(toy_pairs: Path, tmp_path: Path, cli: Cli) -> None:
    for verb in "check", "train":
        assert (
            f"is a folder, but a recipe or a file ending in .toml was expected: write --data {toy_pairs}."
            in cli.refused(verb, toy_pairs)
        )
    (tmp_path / "experiment.toml").touch()
    assert f"write --resume --run {tmp_path}." in cli.refused("train", tmp_path)
