import shutil
from pathlib import Path

import pytest
import torch
from torch import Tensor

from anaphora.errors import ConfigError, RunError
from anaphora.experiment.averaging import average_run
from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.run.summary import about
from anaphora.run.weights import as_tensors
from anaphora.tasks.runs import experiment_of, load
from anaphora.tasks.translation.training import TranslationJob
from tests.conftest import Trained

from .runs import QUICK, changed


@pytest.fixture
def trained_lm(trained_copy: Trained) -> Path:
    """The run of a language model whose last three checkpoints are kept."""
    settings = (QUICK, "training.keep=3", "training.epochs=3", "training.optimizer.learning_rate=0.02")
    return trained_copy("language-model", *settings)


def around(run: Run, spread: float) -> dict[str, Tensor]:
    """Let the two newest checkpoints lie on either side of the best weights, the newest the best; returns these."""
    best = run.load("best")
    weights, state = as_tensors(best.model), best.state
    run.fingerprints |= best.fingerprints
    older, newer = run.checkpoints()[-2:]
    draws = torch.Generator().manual_seed(1)
    away = {name: spread * torch.randn(tensor.shape, generator=draws) for name, tensor in weights.items()}
    optimizers = {which: run.load(which, for_training=True).optimizer for which in (older, newer)}
    for which, sign in ((older, -1), (newer, 1)):
        folder = run.path / "checkpoints" / f"step-{which}"
        shutil.rmtree(folder)
        moved = {name: tensor + sign * away[name] for name, tensor in weights.items()}
        run.save(which, moved, optimizers[which], state)
    run.mark_best(newer)
    return weights


def test_an_average_that_validates_better_is_the_best_from_then_on(trained_lm: Path) -> None:
    run = Run.open(trained_lm)
    centre = around(run, 0.5)
    found = average_run(trained_lm, last=2)
    assert found.better and found.metrics["loss"] < found.best_metrics["loss"]
    used = run.load("best")
    assert used.which == "average" and found.updates == tuple(run.checkpoints()[-2:])
    for name, tensor in centre.items():
        torch.testing.assert_close(torch.from_numpy(used.model[name]), tensor)
    assert f"| validation loss | {found.metrics['loss']:.4f} |" in (trained_lm / "card.md").read_text()
    told = about(trained_lm)
    assert told.checkpoints[0].name == "average" and not told.faults
    assert load(trained_lm, "average").generate("line", length=5)  # type: ignore[union-attr]


def test_a_worse_average_is_kept_but_not_used_and_never_takes_the_place_of_the_best(trained_lm: Path) -> None:
    run = Run.open(trained_lm)
    before = run.load("best")
    around(run, 50.0)
    run.save(run.checkpoints()[-1] + 1, before.model, {}, before.state)
    run.mark_best(run.checkpoints()[-1])
    found = average_run(trained_lm, last=2)
    assert not found.better and found.metrics["loss"] > found.best_metrics["loss"]
    assert found.best_metrics["loss"] == pytest.approx(before.state["best"]["metrics"]["loss"])
    assert run.load("best").which == run.checkpoints()[-1]
    assert run.load("average").fingerprints == before.fingerprints
    around(run, 1.0)
    assert average_run(trained_lm, last=2).better
    best, files = run.load("best"), sorted((trained_lm / "checkpoints" / "average").iterdir())
    kept = [file.read_bytes() for file in files]
    away = {name: tensor + 50 for name, tensor in best.model.items()}
    for update in (1, 2):
        run.save(best.update + update, away, {}, best.state)
    worse = average_run(trained_lm, last=2)
    assert not worse.better and worse.path is None
    assert run.load("best").which == "average" and [file.read_bytes() for file in files] == kept


@pytest.mark.parametrize(
    ("best", "average", "better"),
    [((10.0, 1.0), (12.0, 2.0), True), ((10.0, 2.0), (9.0, 1.0), False), ((10.0, 2.0), (10.0, 1.0), True)],
)
def test_an_average_is_judged_by_bleu_where_that_decides_and_by_the_loss_where_it_ties(
    best: tuple[float, float],
    average: tuple[float, float],
    better: bool,
    trained_copy: Trained,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = trained_copy("translator", "training.metric=bleu")
    before = Run.open(path).best()
    measured = iter(dict(zip(("bleu", "loss"), figures, strict=True)) for figures in (best, average))
    monkeypatch.setattr(TranslationJob, "validation", lambda *_: lambda model: next(measured))
    found = average_run(path)
    assert (found.best_metrics["bleu"], found.best_metrics["loss"]) == best
    assert (found.metrics["bleu"], found.metrics["loss"]) == average
    assert found.better == better
    assert before is not None and Run.open(path).best() == ("average" if better else before)


def test_training_goes_on_from_its_own_checkpoint_and_never_from_an_average(trained_lm: Path) -> None:
    latest = Run.open(trained_lm).checkpoints()[-1]
    average_run(trained_lm)
    assert Run.open(trained_lm).load("latest", for_training=True).which == latest
    longer = changed(experiment_of(trained_lm), "training.epochs=4")
    assert train(longer, trained_lm, resume=True).update > latest


@pytest.mark.parametrize("loss", [0.0, 100.0])
def test_an_average_stays_the_best_until_training_finds_something_better(loss: float, trained_lm: Path) -> None:
    run = Run.open(trained_lm)
    around(run, 0.5)
    average_run(trained_lm, last=2)
    found = run.load("average")
    run.fingerprints |= found.fingerprints
    state = {**found.state, "validation": {"loss": loss, "perplexity": 1.0}}
    run.save(found.update, found.model, {}, state, average=True)
    run.mark_best("average")
    if not loss:  # nothing is left to go on with
        train(experiment_of(trained_lm), trained_lm, resume=True)
        assert run.best() == "average"
    train(changed(experiment_of(trained_lm), "training.epochs=6"), trained_lm, resume=True)
    validations = {line["update"]: line["validation"]["loss"] for line in run.metrics.lines() if "validation" in line}
    least = min(validations, key=validations.__getitem__)
    assert least > found.update
    assert run.best() == (least if loss else "average")


def test_a_run_in_training_and_counts_are_not_averaged(trained_lm: Path, trained_copy: Trained) -> None:
    with Run.open(trained_lm).lock(), pytest.raises(RunError, match="is in use"):
        average_run(trained_lm)
    with pytest.raises(ConfigError, match="at least 2"):
        average_run(trained_lm, last=1)
    with pytest.raises(ConfigError, match="fitted in one go"):
        average_run(trained_copy("counts"))
