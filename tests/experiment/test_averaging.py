"""An average is the mean of its checkpoints, a checkpoint like any other, and the best where it validates better."""

import shutil
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from anaphora.errors import ConfigError, RunError
from anaphora.events import Event
from anaphora.experiment.averaging import average, average_run
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
    assert used.state["averaged"] == list(found.updates)
    told = about(trained_lm)
    assert told.validation["loss"] == pytest.approx(found.metrics["loss"])
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


def saved(path: Path, weights: list[torch.Tensor]) -> Run:
    run = Run.create(path, {"task": "toy"}, {})
    run.kept = len(weights)
    for update, weight in enumerate(weights, 1):
        run.save(update, {"w": weight, "count": torch.tensor([update])}, {}, {})
    return run


@settings(max_examples=15)
@given(st.lists(st.lists(st.floats(-1e6, 1e6, width=32), min_size=3, max_size=3), min_size=2, max_size=4), st.data())
def test_an_average_is_the_mean_rounded_once(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[float]], data: st.DataObject
) -> None:
    run = saved(tmp_path_factory.mktemp("runs") / "run", [torch.tensor(row) for row in rows])
    last = data.draw(st.integers(2, len(rows)))
    tensors, updates = average(run, last)
    assert updates == list(range(len(rows) - last + 1, len(rows) + 1))
    mean = torch.tensor(rows[-last:], dtype=torch.float64).sum(0) / last
    assert tensors["w"].dtype == torch.float32
    assert torch.allclose(tensors["w"].double(), mean, rtol=1e-7, atol=1e-7)
    assert tensors["count"].tolist() == [len(rows)]
    again, _ = average(run, last)
    assert torch.equal(again["w"], tensors["w"])


@pytest.fixture
def small(tmp_path: Path) -> Run:
    """A run with checkpoints 1, 2 and 3, whose weights are their updates."""
    return saved(tmp_path / "run", [torch.full((2,), float(update)) for update in (1, 2, 3)])


def test_a_damaged_checkpoint_is_left_out_and_named(small: Run) -> None:
    (small.path / "checkpoints" / "step-2" / "model.safetensors").write_bytes(b"")
    events: list[Event] = []
    tensors, updates = average(small, 3, events.append)
    assert updates == [1, 3] and "step-2" in str(events[0])
    assert tensors["w"].tolist() == [2, 2]


def test_one_checkpoint_and_different_networks_have_no_average(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="has 1: resume, or raise"):
        average(saved(tmp_path / "one", [torch.ones(2)]), 5)
    with pytest.raises(RunError, match="step-2 has other tensors than step-1"):
        average(saved(tmp_path / "two", [torch.ones(2), torch.ones(3)]), 2)


def test_an_average_that_is_damaged_or_not_the_best_gives_way_to_the_newest(small: Run) -> None:
    small.save(3, {"w": torch.ones(1)}, {}, {}, average=True)
    small.mark_best("average")
    (small.path / "checkpoints" / "average" / "model.safetensors").write_bytes(b"")
    events: list[Event] = []
    assert small.load("best", events.append).which == 3
    assert "average" in str(events[0])
    (small.path / "best").unlink()
    assert small.load("best", events.append).which == 3 and len(events) == 1
