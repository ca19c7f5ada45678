"""``train`` beside a run: one that it starts from, or goes on with."""

from pathlib import Path

from anaphora.cli.app import main
from anaphora.experiment.conduct import experiment_of
from anaphora.experiment.schema import TranslationExperiment


def test_what_a_command_was_allowed_is_not_inherited_and_what_was_trained_is(
    tiny_language_model: Path, toy_book: Path, tmp_path: Path
) -> None:
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    options = ["--time", "9m", "--threads", "1", "--set", "training.seed=7"]
    assert main(["train", str(tiny_language_model), "--data", str(toy_book), *options, "--run", str(first)]) == 0
    assert main(["train", "--from", str(first), "--run", str(second)]) == 0
    assert main(["train", "--from", str(first), "--time", "8m", "--run", str(third)]) == 0
    found = [experiment_of(run).training for run in (first, second, third)]
    assert [(one.minutes, one.threads, one.seed) for one in found] == [(9, 1, 7), (0, 0, 7), (8, 0, 7)]


def test_what_is_chosen_for_the_vocabulary_of_a_run_can_be_trained_with_it(
    tiny_translator: Path, toy_pairs: Path, tmp_path: Path
) -> None:
    options = ["--data", str(toy_pairs), "--source", "en", "--target", "fr", "--set", "training.epochs=1"]
    assert main(["train", str(tiny_translator), *options, "--run", str(tmp_path / "parent")]) == 0
    start = ["--from", str(tmp_path / "parent"), "--vocabulary", "only", "--set", "training.batch_tokens=200"]
    assert main(["train", *start, *options, "--run", str(tmp_path / "child")]) == 0
    parent, child = experiment_of(tmp_path / "parent"), experiment_of(tmp_path / "child")
    assert isinstance(child, TranslationExperiment) and child.text == parent.text
    assert child.training.patience == 6 and not child.embedding.shared  # as for those who name no recipe
