"""``train --from RUN`` without a recipe goes by the experiment of that run."""

from pathlib import Path

from anaphora.cli.app import main
from anaphora.experiment.conduct import experiment_of


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
