"""What a finished command says to do next works as it stands, in a shell."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from anaphora.cli.app import main
from anaphora.tasks.registry import every_kind

ALIGNER = """
task = "align"
[text]
segmentation = "whitespace"
"""


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The command ``anaphora`` on the path of a shell."""
    command = tmp_path / "bin" / "anaphora"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m anaphora "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    yield


def suggested(said: str) -> list[str]:
    """Every command line that is suggested."""
    return re.findall(r"(?:Next|go on with): (.+)", said)


@pytest.mark.slow
@pytest.mark.usefixtures("shell")
def test_every_suggested_command_works(
    tiny_translator: Path,
    tiny_language_model: Path,
    count_model: str,
    toy_pairs: Path,
    toy_book: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "counts.toml").write_text(count_model)
    (tmp_path / "aligner.toml").write_text(ALIGNER)
    for file in toy_pairs.glob("test.*"):  # as in a folder of one's own
        file.unlink()
    labelled = tmp_path / "films.tsv"
    labelled.write_text("label\ttext\n" + "good\tfine\nbad\tdull\n" * 40)
    classify = ["--data", labelled, "--task", "classify", "--set", "training.epochs=1", "--set", "encoder.size=6"]
    pairs, book, runs = ["--data", toy_pairs, "--target", "fr"], ["--data", toy_book], tmp_path / "my runs"
    commands = [
        ["train", tiny_translator, *pairs, "--run", runs / "translator"],
        ["train", tiny_language_model, *book, "--run", runs / "text"],
        ["train", tmp_path / "counts.toml", *book, "--run", runs / "counts"],
        ["train", tmp_path / "aligner.toml", *pairs, "--run", runs / "links"],
        ["train", *classify, "--run", runs / "classes"],
        ["mix", runs / "counts", "--cache", "--run", runs / "mixed"],
    ]
    kinds = set()
    for command in commands:
        assert main([str(part) for part in command]) == 0
        lines = suggested(capfd.readouterr().err)
        assert lines, command
        for line in lines:
            done = subprocess.run(["sh", "-c", line], capture_output=True, text=True)
            assert done.returncode == 0 and done.stdout.strip(), (line, done.stderr)
            kinds.add(line.partition("anaphora ")[2].split()[0])
    assert kinds == {"translate", "generate", "align", "predict", "evaluate"}


def test_every_kind_of_model_suggests_a_command_with_its_run() -> None:
    for task, _ in every_kind():
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
        assert f"a recipe was expected: write --data {toy_pairs}." in capsys.readouterr().err
    (tmp_path / "experiment.toml").touch()
    assert main(["train", str(tmp_path)]) == 2
    assert f"write --resume --run {tmp_path}." in capsys.readouterr().err
