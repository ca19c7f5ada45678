"""Epochs that fill a time, by a trial whose clock is not real."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import anaphora
from anaphora.events import Event, Note
from anaphora.experiment.auto import automatic
from anaphora.experiment.estimate import Estimate, fit_to_time
from anaphora.tasks.translation.task import TIERS

LINEAR = ("training.schedule=linear", "training.epochs=20", "training.minutes=10")


@pytest.fixture
def epoch_of(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let an epoch take so many seconds in trials to come, one after the other; returns the seconds of each trial."""

    def take(*seconds: float) -> list[float]:
        each, durations = iter(seconds), list[float]()
        found = Estimate(1, {}, 1, 1, 1, 1.0, 1.0, 1.0, 1, 1, 1)

        def trial(experiment: object, splits: object, duration: float) -> object:
            durations.append(duration)
            return replace(found, seconds_of_epoch=next(each)), {}

        monkeypatch.setattr("anaphora.experiment.estimate.estimate", trial)
        return durations

    return take


def fitted(experiment: Any, smaller: Any = None) -> tuple[Any, list[str]]:
    notes = list[Event]()
    found = fit_to_time(experiment, smaller, notes.append)
    return found.training, [note.text for note in notes if isinstance(note, Note)]


@pytest.mark.parametrize(
    ("seconds", "epochs", "falls_over", "patience"),
    [(1.0, 60, 0, 15), (15.0, 38, 0, 10), (30.0, 19, 0, 5), (380.0, 2, 1.5, 5), (1140.0, 1, 0.5, 5)],
)
def test_what_the_data_chose_fills_its_time_with_up_to_three_times_its_epochs(
    translator: Any, epoch_of: Any, seconds: float, epochs: int, falls_over: float, patience: int
) -> None:
    epoch_of(seconds)
    own = translator.with_options({"training.epochs": 20, "training.minutes": 10.0})
    own = anaphora.read_experiment(own.to_toml(), "own.toml", LINEAR)
    training, [said] = fitted(own, lambda amount: own)
    assert (training.epochs, training.schedule.epochs, training.patience) == (epochs, falls_over, patience)
    assert training.minutes == 10 and " times into 10 minutes here: " in said
    assert f"training makes {epochs}, where 20 are usual" in said


def test_an_experiment_of_ones_own_is_shortened_where_its_learning_rate_falls_over_its_epochs(
    translator: Any, epoch_of: Any
) -> None:
    plain = translator.with_options({"training.epochs": 20, "training.minutes": 10.0})
    linear = anaphora.read_experiment(plain.to_toml(), "own.toml", LINEAR)
    for minutes, seconds, epochs in ((10.0, 57.0, 10), (10.0, 1.0, 20), (1.0, 5.7, 10)):
        durations = epoch_of(seconds)
        assert fitted(linear.with_options({"training.minutes": minutes}))[0].epochs == epochs
        assert durations == [min(5.0, 3 * minutes)]
    assert fitted(plain) == (plain.training, [])


def test_where_no_epoch_fits_the_network_is_that_for_less_data(
    toy_pairs: Path, epoch_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiers = [tier._replace(pairs=place + 2) for place, tier in enumerate(TIERS[:-1])]
    monkeypatch.setattr("anaphora.tasks.translation.task.TIERS", (*tiers, TIERS[-1]))
    monkeypatch.setattr("anaphora.tasks.translation.task.SentenceTranslation.tiers", (*tiers, TIERS[-1]))

    def chosen(amount: int) -> Any:
        text = automatic([toy_pairs], "en", "fr", at_most=amount)
        return anaphora.read_experiment(
            text, "auto", ["training.minutes=10"], data=[toy_pairs], source="en", target="fr"
        )

    epoch_of(4000.0, 2000.0, 100.0)
    training, said = fitted(chosen(100), chosen)
    assert (training.optimizer.learning_rate, training.epochs) == (TIERS[-3].rate, 5)
    assert len(said) == 3 and "An epoch takes about 67 minutes here" in said[0]
