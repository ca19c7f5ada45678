"""What may change when a run goes on: where training stops and what carries it there, and where its links lie."""

from pathlib import Path

import pytest

from anaphora.errors import RunError
from anaphora.experiment.run_training import train
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.runs import experiment_of
from tests.runtimes import threads

from .runs import changed, texts

BOUNDS = {"epochs": 3, "keep": 4, "minutes": 7.5, "patience": 3, "threads": 1}


def test_new_bounds_are_reported_and_are_those_of_the_run_from_then_on(
    translator: ExperimentBase, tmp_path: Path
) -> None:
    run, other = tmp_path / "run", changed(translator, *(f"training.{name}={value}" for name, value in BOUNDS.items()))
    with threads(1):  # so that every part of a training has the same
        train(translator, run)
        with pytest.raises(RunError, match=r": decoder\.size was 8 and is 16; training\.seed was 1 and is 2\. Resume"):
            train(changed(other, "training.seed=2", "decoder.size=16"), run, resume=True)
        assert experiment_of(run) == translator
        before = translator.training.model_dump()
        assert texts(other, run, resume=True) == [
            f"training.{name} is {value} from here on; it was {before[name]} before." for name, value in BOUNDS.items()
        ]
        assert experiment_of(run) == other != translator
        assert texts(experiment_of(run), run, resume=True) == []
