"""Whatever a person gets wrong: one sentence, exit code 2, no traceback, and nothing half-written."""

import gzip
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from anaphora.cli.experiments import ExperimentRequest, requested_experiment
from anaphora.events import silent

from ..conftest import Trained
from .conftest import Cli

FULL = "anaphora: Standard output cannot be used: No space left on device; make room, or give another place."


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_behind_standard_output_is_one_sentence(
    toy_pairs: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "anaphora", "--help"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == FULL
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        shown = cli("check", "--data", toy_pairs, "--source", "en", "--target", "fr", "--trial", "0", code=2)
    assert shown.err.splitlines()[-1] == FULL


def test_an_output_that_is_a_folder_is_refused_before_any_work(toy_pairs: Path, cli: Cli) -> None:
    for verb in (["translate", cli.folder / "none", toy_pairs / "test.en"], ["evaluate", cli.folder / "none"]):
        assert "it is a folder; name a file in it" in cli.refuse(*verb, "--output", cli.folder)


def test_a_text_that_is_read_is_never_written_over(toy_pairs: Path, cli: Cli) -> None:
    text, other = toy_pairs / "test.en", cli.folder / "other name"
    before = text.read_bytes()
    other.symlink_to(text)
    for verb in "score", "translate", "align", "rescore":
        for name in text, other:
            said = cli.refuse(verb, cli.folder / "none", text, "--output", name)
            assert "it is a file that is read, and would be lost; name another" in said
    dictionary = toy_pairs / "test.fr"
    for option in ["--replace-unknown", "--dictionary"], ["--prefixes"]:
        options = [*option, dictionary, "--output", dictionary]
        assert "would be lost" in cli.refuse("translate", cli.folder / "none", text, *options)
    assert text.read_bytes() == before
    counts = cli.write("counts.arpa", "a model")
    assert "would be lost" in cli.refuse("score", counts, text, "--output", counts)


@pytest.mark.parametrize("name", ["card.md", "checkpoints/step-1/model"])
def test_files_of_a_run_are_written_by_the_run_alone(name: str, toy_pairs: Path, cli: Cli) -> None:
    run = cli.folder / "run"
    (run / name).parent.mkdir(parents=True)
    (run / "experiment.toml").write_text('task = "align"')
    (run / name).write_text("kept")
    (cli.folder / "link").symlink_to(run / name)
    for output in run / name, cli.folder / "link":
        for verb in ["export", run, "--to", "dictionary"], ["translate", run, toy_pairs / "test.en"]:
            assert "it belongs to the run there; name another" in cli.refuse(*verb, "--output", output)
    assert (run / name).read_text() == "kept"


def out_of_memory(*arguments: object, **options: object) -> None:
    torch.empty(2**60)


def out_of_gpu_memory(*arguments: object, **options: object) -> None:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")


@pytest.mark.parametrize("training", [out_of_memory, out_of_gpu_memory])
def test_what_memory_cannot_hold_is_one_sentence(
    training: Callable[..., None], toy_pairs: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    monkeypatch.setattr("anaphora.experiment.run_training.train", training)
    arguments = ["train", "multi30k-en-de", "--data", toy_pairs, "--source", "en", "--target", "fr"]
    assert "This machine ran out of memory" in cli.refuse(*arguments)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, ["train.en", "train.fr"]),
        (b"more\n" * 13, ["train.en has 13", "train.fr has 12"]),
        (b"a\nb\nc\xff\n", ["train.en:3", "UTF-8", "0xFF"]),
        (b"a\n\0\n", ["train.en:2", "NUL"]),
        (gzip.compress(b"word\n" * 12, mtime=0)[:-9], ["train.en", "archive", "damaged"]),
    ],
)
def test_bad_data_is_refused_before_anything_is_written(
    content: bytes | None, words: list[str], toy_pairs: Path, tiny_translator: Path, cli: Cli
) -> None:
    (toy_pairs / "train.en").unlink()
    if content is not None:
        (toy_pairs / "train.en").write_bytes(content)
    before = sorted(cli.folder.rglob("*"))
    run = cli.folder / "new" / "run"
    complaint = cli.refuse("train", tiny_translator, "--data", toy_pairs, "--target", "fr", "--run", run)
    assert sorted(cli.folder.rglob("*")) == before
    assert all(word in complaint for word in words)


WRONG = {
    "train multi30k-en-de.": "recipe called 'multi30k-en-de.'. Did you mean 'multi30k-en-de'? anaphora recipes lists",
    "train mine.toml": "anaphora: The experiment mine.toml cannot be read: No such file or directory.",
    "train": "anaphora: Without a recipe, --data FOLDER|FILE says what to train on; anaphora recipes lists",
    "train --from a": "anaphora: --run DIR is missing",
    "train --resume --from a --run b": "leave out --resume, or --from",
    "train --from a --run b --vocabulary new": "anaphora: --from: vocabulary 'new' is",
    "train quickstart --set training.epoch=3": "training.epoch is not an option. Did you mean 'epochs'?",
    "train quickstart --set epochs": "anaphora: --set takes dotted.key=value, but got 'epochs'.",
    "train quickstart --time 0m": "anaphora: --time must be a duration such as 30m",
    "train quickstart --time soon": "anaphora: --time must be a duration such as 30m",
    "train quickstart --data nowhere": "--data should be a folder or a file, but there is no",
    "train quickstart": "anaphora: Training needs data, but none was given: pass --data",
    "train quickstart --epochs 3": "anaphora: No such option: --epochs",
    "check .": ". is a folder, but a recipe or a file ending in .toml was expected: write --data .",
    "train .": ". is a folder, but a recipe or a file ending in .toml was expected: write --data .",
    "recipes --program": "name it before --program",
    "recipes auto --program": "name it before --program",
    "recipes bahdanau2015 --json": "--json is for the list of recipes and for --program; a recipe is TOML",
    "trian": "anaphora: No such command 'trian'. Did you mean 'train'?",
    "translate missing --beam 0": "for '--beam': Input should be greater than or equal to 1, but got '0' (see",
    "translate run --output x --alignments x": "--output and --alignments should be two files, but both are x",
    "translate run --pairs made.txt": "--pairs should be a .tsv file, but is made.txt: name it made.txt.tsv.",
    "translate run --nbest 3 --pairs made.tsv": "--nbest is for translations",
    "translate run --suffixes x --no-repeat-ngram 2": "Suffixes are written by a beam of all words",
    "translate run --adapt": "--adapt belongs to --memory, which is missing",
    "translate missing": "A run folder should be at missing, but nothing is there: check the path, or train",
    "translate run --output no/where": "anaphora: no/where cannot be written: there is no folder",
    "generate run --beam 3 --seed 7": "anaphora: --seed is for drawing, --beam draws none",
}


@pytest.mark.parametrize("command", WRONG)
def test_a_wrong_command_is_refused(command: str, cli: Cli) -> None:
    cli.enter()
    assert WRONG[command] in cli.refuse(*command.split())
    assert list(cli.folder.iterdir()) == []


def test_a_missing_text_is_refused_and_no_output_begun(
    trained: Trained, toy_pairs: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    run, output = trained("translator"), cli.folder / "output"
    (toy_pairs / "bad.en").write_bytes(b"fine\n\xff\n")
    for text, word in ((cli.folder / "missing.en", "missing.en"), (toy_pairs / "bad.en", "bad.en:2")):
        assert word in cli.refuse("translate", run, text, "--output", output)
        assert not output.exists()
    monkeypatch.setattr(sys, "stdin", None)
    assert "but that is closed: name a file, or pipe the text in" in cli.refuse("translate", run)
    output.mkdir()
    assert f"{output} should be a run folder, but is empty: check the path" in cli.refuse("info", output)


def test_a_persons_own_text_keeps_its_case_under_any_recipe(toy_pairs: Path) -> None:
    recipe = ExperimentRequest("multi30k-en-de")
    own = replace(recipe, data=[toy_pairs], source="en", target="fr")
    lower = replace(own, settings=["text.lowercase=true", "evaluation.conditions=moses-lowercase"])
    taken: list[Any] = [requested_experiment(asked, silent) for asked in (own, lower, recipe)]
    assert [(one.text.lowercase, one.evaluation.conditions) for one in taken] == [
        (False, "raw"),
        (True, "moses-lowercase"),
        (True, "moses-lowercase"),
    ]
