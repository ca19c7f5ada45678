"""The estimate is within a factor of two of what training takes; epochs fill a time by a trial without a real clock."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import anaphora
from anaphora.events import Event, Note
from anaphora.experiment.auto import automatic
from anaphora.experiment.estimate import Estimate, fit_to_time
from anaphora.samples.english_french import write
from anaphora.tasks.translation.task import TIERS

TRAIN = """
import resource, sys, time
from anaphora.cli.app import main
started = time.process_time()
assert main(sys.argv[1:]) == 0
print(time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted otherwise elsewhere")
def test_time_and_memory_are_within_a_factor_of_two_of_the_real_training(tmp_path: Path) -> None:
    corpus = write(tmp_path / "corpus", train=12_000, valid=500, test=100)
    options = ["quickstart", "--data", str(corpus), "--set", "training.threads=1", "--set", "training.epochs=2"]
    asked = [sys.executable, "-m", "anaphora", "check", *options, "--json"]
    command = [sys.executable, "-c", TRAIN, "train", *options, "--run", str(tmp_path / "run")]
    # other work on the machine must not decide: the seconds of this one process, and the quicker of two trials
    first = subprocess.run(asked, capture_output=True, check=True)
    real = subprocess.run(command, capture_output=True, text=True, check=True)
    second = subprocess.run(asked, capture_output=True, check=True)
    estimates = [json.loads(trial.stdout)["estimate"] for trial in (first, second)]
    estimate = min(estimates, key=lambda found: found["seconds"])
    seconds, memory = map(float, real.stdout.splitlines()[-1].split())
    assert 0.5 < estimate["seconds"] / seconds < 2, (estimate, seconds)
    assert 0.5 < estimate["memory"] / memory < 2, (estimate, memory)
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    updates = sum('"loss"' in line and '"rate"' in line for line in lines)
    assert estimate["updates"] * estimate["epochs"] == pytest.approx(updates, rel=0.05)


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


def test_an_own_experiment_is_shortened_where_its_rate_falls_over_its_epochs(translator: Any, epoch_of: Any) -> None:
    plain = translator.with_options({"training.epochs": 20, "training.minutes": 10.0})
    linear = anaphora.read_experiment(plain.to_toml(), "own.toml", LINEAR)
    for minutes, seconds, epochs in ((10.0, 57.0, 10), (10.0, 1.0, 20), (1.0, 5.7, 10)):
        durations = epoch_of(seconds)
        assert fitted(linear.with_options({"training.minutes": minutes}))[0].epochs == epochs
        assert durations == [min(5.0, 3 * minutes)]
    assert fitted(plain) == (plain.training, [])


def test_networks_shrink_where_no_epoch_fits(toy_pairs: Path, epoch_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
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
