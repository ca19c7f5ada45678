"""``train`` beside a run: one that it starts from, or goes on with."""

from pathlib import Path
from typing import Any

import pytest

from anaphora.tasks.runs import experiment_of
from anaphora.tasks.translation.config import TranslationExperiment

from .conftest import Cli


def test_what_a_command_was_allowed_is_not_inherited_and_what_was_trained_is(
    tiny_language_model: Path, toy_book: Path, cli: Cli
) -> None:
    first, second, third = (cli.folder / name for name in ("first", "second", "third"))
    options = ["--time", "9m", "--threads", "1", "--set", "training.seed=7", "--set", "training.epochs=1"]
    cli("train", tiny_language_model, "--data", toy_book, *options, "--run", first)
    said = cli("train", "--from", first, "--run", second).err
    assert said.startswith(f"Starting from the weights and vocabulary of {first} ...\n")
    cli("train", "--from", first, "--time", "8m", "--run", third)
    found = [experiment_of(run).training for run in (first, second, third)]
    assert [(one.minutes, one.threads, one.seed) for one in found] == [(9, 1, 7), (0, 0, 7), (8, 0, 7)]
    cli("train", "--resume", "--set", "training.epochs=2", "--run", first)
    going_on = experiment_of(first).training
    assert (going_on.minutes, going_on.threads, going_on.epochs) == (9, 1, 2)  # all parts of one training together


def test_what_is_chosen_for_the_vocabulary_of_a_run_can_be_trained_with_it(
    tiny_translator: Path, toy_pairs: Path, cli: Cli
) -> None:
    options = ["--data", str(toy_pairs), "--source", "en", "--target", "fr", "--set", "training.epochs=1"]
    cli("train", tiny_translator, *options, "--run", cli.folder / "parent")
    start = ["--from", str(cli.folder / "parent"), "--vocabulary", "only", "--set", "training.batch_tokens=200"]
    cli("train", *start, *options, "--run", cli.folder / "child")
    parent, child = experiment_of(cli.folder / "parent"), experiment_of(cli.folder / "child")
    assert isinstance(child, TranslationExperiment) and child.text == parent.text
    assert child.training.patience == 6 and not child.embedding.shared  # as for those who name no recipe


def test_a_recipe_goes_on_with_the_data_of_the_run_where_none_is_named(toy_pairs: Path, cli: Cli) -> None:
    run, sizes = ["--run", str(cli.folder / "run")], [f"{part}.size=8" for part in ("embedding", "encoder", "decoder")]
    small = [*sizes, "decoder.readout_size=8", "attention.size=0", "training.batch_tokens=200", "training.metric=loss"]
    changes = [f"--set={change}" for change in (*small, "text.size=300")]
    begun = ["--data", str(toy_pairs), "--source", "en", "--target", "fr"]
    # a recipe of a corpus that is not there, in other languages and in lower case
    cli("train", "multi30k-en-de", *begun, *changes, "--set=training.epochs=1", *run)
    cli("train", "multi30k-en-de", "--resume", *changes, "--set=training.epochs=2", *run)
    experiment = experiment_of(cli.folder / "run")
    assert isinstance(experiment, TranslationExperiment)
    assert experiment.training.epochs == 2 and experiment.data.files == (str(toy_pairs),)
    assert (experiment.data.target, experiment.text.lowercase) == ("fr", False)
    cli("train", "multi30k-en-de", "--resume", *changes, "--target", "cs", *run, code=2)
    cli("train", "character-lm", "--resume", *run, code=2)
    said = cli("train", "character-lm", "--resume", "--run", cli.folder / "missing", code=2).err
    assert "A run folder should be at" in said


def test_a_file_of_an_experiment_that_names_its_data_goes_on_with_that(
    tiny_language_model: Path, toy_book: Path, cli: Cli
) -> None:
    run, mine, moved = cli.folder / "run", cli.folder / "mine.toml", cli.folder / "moved.txt"
    text = tiny_language_model.read_text()
    mine.write_text(text.replace("[data]\n", f'[data]\nfiles = ["{toy_book}"]\n'))
    cli("train", mine, "--run", run)
    toy_book.rename(moved)
    mine.write_text(text.replace("[data]\n", f'[data]\nfiles = ["{moved}"]\n'))
    assert f"is read from {moved} this time" in cli("train", mine, "--resume", "--run", run).said


def test_a_time_chooses_the_epochs_of_a_new_run_unless_they_are_set(
    tiny_translator: Path, toy_pairs: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[Any]()

    def fit(experiment: Any, smaller: Any, report: object) -> Any:
        asked.append(smaller)
        return experiment.with_options({"training.epochs": 1})

    monkeypatch.setattr("anaphora.experiment.estimate.fit_to_time", fit)
    timed = ["--data", toy_pairs, "--source", "en", "--target", "fr", "--time", "9m", "--run"]
    cli("train", *timed, cli.folder / "chosen")
    cli("train", tiny_translator, *timed, cli.folder / "own")
    cli("train", tiny_translator, *timed, cli.folder / "set", "--set", "training.epochs=2")
    cli("train", "--resume", "--run", cli.folder / "own", "--time", "8m")
    found = [experiment_of(cli.folder / name).training for name in ("chosen", "own", "set")]
    assert [(one.epochs, one.minutes) for one in found] == [(1, 9), (1, 8), (2, 9)]
    smaller, none = asked
    assert none is None and smaller(30_000).training.epochs == 80


def test_a_run_goes_on_with_moved_files_whose_parts_have_names_of_their_own(
    tiny_translator: Path, toy_pairs: Path, tmp_path: Path, cli: Cli
) -> None:
    for side in ("en", "fr"):
        (toy_pairs / f"train.{side}").rename(toy_pairs / f"taught.{side}")
    mine, run, moved = tmp_path / "mine.toml", ["--run", str(tmp_path / "run")], tmp_path / "moved"
    mine.write_text(tiny_translator.read_text() + '\n[data]\ntrain = "taught"\n')
    sides = ["--source", "en", "--target", "fr"]
    cli("train", mine, "--data", toy_pairs, *sides, "--set", "training.epochs=1", *run)
    toy_pairs.rename(moved)
    cli("train", "--resume", "--data", moved, "--set", "training.epochs=2", *run)
    assert experiment_of(tmp_path / "run").training.epochs == 2


def test_a_training_and_an_average_print_their_figures_as_json(
    cli: Cli, tiny_language_model: Path, toy_book: Path
) -> None:
    run = cli.folder / "run"
    command = ("train", tiny_language_model, "--data", toy_book, "--run", run, "--set", "training.keep=2", "--json")
    trained = cli(*command, "--set", "training.validate_every=4").json
    assert trained["run"] == str(run) and trained["reason"] == "epochs"
    assert trained["metrics"] == cli("info", run, "--json").json["validation"]
    averaged = cli("average", run, "--last", "2", "--json").json
    assert len(averaged["updates"]) == 2 and averaged["metrics"].keys() == averaged["best_metrics"].keys()
