from pathlib import Path

import pytest

from anaphora.errors import ConfigError, RunError
from anaphora.experiment.averaging import average_run
from anaphora.experiment.conduct import train
from anaphora.experiment.schema import Experiment, read_experiment
from anaphora.pipeline import load
from anaphora.run import Run
from anaphora.run.about import about


@pytest.fixture
def kept(tiny_language_model: Path, toy_book: Path) -> Experiment:
    """A language model whose last three checkpoints are kept."""
    settings = ["training.keep=3", "training.epochs=3", "training.optimizer.rate=0.02"]
    return read_experiment(tiny_language_model.read_text(), "tiny.toml", settings, data=[toy_book])


def test_an_average_is_the_best_if_and_only_if_it_validates_better(kept: Experiment, tmp_path: Path) -> None:
    path = tmp_path / "run"
    train(kept, path)
    run = Run.open(path)
    assert len(run.checkpoints()) == 3
    before = run.load("best")
    found = average_run(path, last=3)
    assert found.updates == tuple(run.checkpoints()[-3:])
    assert found.better == (found.metrics["loss"] < found.best_metrics["loss"])
    assert found.best_metrics["loss"] == pytest.approx(before.state["best"]["metrics"]["loss"])
    assert run.load("best").which == ("average" if found.better else before.which)
    assert run.load("average").fingerprints == before.fingerprints
    told = about(path)
    assert told.checkpoints[0].name == "average" and not told.faults
    assert load(path, "average").generate("line", length=5)  # type: ignore[union-attr]


def test_a_worse_average_is_kept_but_not_used(kept: Experiment, tmp_path: Path) -> None:
    path = tmp_path / "run"
    train(kept, path)
    run = Run.open(path)
    before = run.load("best")
    first = run.checkpoints()[0]
    ruined = {name: tensor * 50 for name, tensor in before.model.items()}
    run.save(first, ruined, {}, {}) if first != before.update else run.save(first + 1, ruined, {}, {})
    found = average_run(path, last=len(run.checkpoints()))
    assert not found.better
    assert run.load("best").which == before.which


def test_training_goes_on_from_its_own_checkpoint_and_never_from_an_average(kept: Experiment, tmp_path: Path) -> None:
    path = tmp_path / "run"
    train(kept, path)
    latest = Run.open(path).checkpoints()[-1]
    average_run(path)
    assert Run.open(path).load("latest", for_training=True).which == latest
    longer = kept.model_copy(update={"training": kept.training.model_copy(update={"epochs": 4})})
    assert train(longer, path, resume=True).update > latest


def test_a_run_in_training_is_not_averaged(kept: Experiment, tmp_path: Path) -> None:
    path = tmp_path / "run"
    train(kept, path)
    with Run.open(path).lock(), pytest.raises(RunError, match="is in use"):
        average_run(path)
    with pytest.raises(ConfigError, match="at least 2"):
        average_run(path, last=1)
