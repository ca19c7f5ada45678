"""The order of a translator's training pairs is chosen when its run is begun, and kept."""

from pathlib import Path
from typing import Any

import pytest

from anaphora.errors import ConfigError, RunError
from anaphora.events import Event, Note
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.formats.lines import write_lines
from anaphora.run import Run
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.runs import experiment_of

from ...conftest import TINY_TRANSLATOR

WINDOW = 64


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run is begun with few pairs as if they were many."""
    monkeypatch.setattr("anaphora.tasks.translation.training.LARGE", 99)
    monkeypatch.setattr("anaphora.tasks.translation.training.WINDOW", WINDOW)


@pytest.fixture
def experiment(tmp_path: Path) -> ExperimentBase:
    """A translator of 200 pairs of numbers."""
    for split, count in (("train", 200), ("val", 5)):
        for side, letters in (("en", "0123456789"), ("fr", "abcdefghij")):
            lines = (str(number).translate(str.maketrans("0123456789", letters)) for number in range(count))
            write_lines(tmp_path / f"{split}.{side}", lines)
    return read_experiment(TINY_TRANSLATOR, "test.toml", data=[tmp_path], target="fr")


def windowed(experiment: ExperimentBase, pairs: int) -> ExperimentBase:
    data: Any = experiment.data
    return experiment.model_copy(update={"data": data.model_copy(update={"shuffle_window": pairs})})


def losses(run: Path) -> list[Any]:
    return [line["loss"] for line in Run.open(run).metrics.lines() if "loss" in line]


def test_a_run_over_many_pairs_shuffles_them_in_windows_and_says_so(
    experiment: ExperimentBase, few: None, tmp_path: Path
) -> None:
    events: list[Event] = []
    train(experiment, tmp_path / "run", events.append)
    assert "64 of 200 pairs are shuffled at a time (data.shuffle_window)." in [
        event.text for event in events if isinstance(event, Note)
    ]
    assert experiment_of(tmp_path / "run") == windowed(experiment, WINDOW)
    train(windowed(experiment, WINDOW), tmp_path / "asked")
    train(windowed(experiment, 200), tmp_path / "whole")
    assert losses(tmp_path / "run") == losses(tmp_path / "asked") != losses(tmp_path / "whole")


def test_a_run_keeps_the_order_that_it_was_begun_with(
    experiment: ExperimentBase, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    train(experiment, tmp_path / "small")
    train(experiment, tmp_path / "grown", stop=lambda: len(losses(tmp_path / "grown")) > 5)
    request.getfixturevalue("few")
    train(experiment, tmp_path / "grown", resume=True)
    assert losses(tmp_path / "grown") == losses(tmp_path / "small")
    train(experiment, tmp_path / "large")
    train(experiment, tmp_path / "stopped", stop=lambda: len(losses(tmp_path / "stopped")) > 5)
    train(experiment, tmp_path / "stopped", resume=True)
    assert losses(tmp_path / "stopped") == losses(tmp_path / "large") != losses(tmp_path / "small")
    with pytest.raises(RunError, match=r"begun otherwise: data\.shuffle_window was 64 and is 100"):
        train(windowed(experiment, 100), tmp_path / "large", resume=True)


def test_an_aligner_takes_no_window(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"data\.shuffle_window"):
        read_experiment('task = "align"\ndata.shuffle_window = 5\n', "test.toml", data=[tmp_path])
