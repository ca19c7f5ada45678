"""A plan doubles the distance while a task is learnt, and goes on from whatever it has found."""

import json
import threading
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from anaphora.errors import DataError
from anaphora.events import Event
from anaphora.inspection import learner, span
from anaphora.inspection.learner import TASKS, Learner, Setting
from anaphora.inspection.remedies import REMEDIES, remedies
from anaphora.inspection.span import FULL, Plan, Trial, cell_table, conduct, spans
from anaphora.kernels.cells import Lstm
from anaphora.nn.randomness import generator
from anaphora.nn.stack import StackConfig
from anaphora.nn.weights import Xavier
from anaphora.training.rules import Adam

TINY = Plan("tiny", 16, 8, 64, (1e-2, 1e-3), (1, 2), 4, 16, ("elman", "gru"), ("peephole",))


def learnt_up_to(distances: dict[str, int]) -> Any:
    """Trials that are learnt up to a distance that depends on the unit, and with the lower rate alone."""

    def conducted(plan: Plan, task: str, unit: str, seed: int, rate: float, distance: int, stopped: Any) -> Trial:
        learnt = distance <= distances[unit] and rate == min(plan.rates)
        return Trial(task, unit, seed, rate, distance, learnt, 1.0 if learnt else 0.2, 64, 0.1)

    return conducted


def test_the_distance_doubles_until_a_task_is_not_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span, "conduct", learnt_up_to({"elman": 8, "gru": 99, "peephole": 0}))
    found = spans(TINY)
    assert found.spans() == {
        **{(task, unit): [longest] * 2 for task in TASKS for unit, longest in (("elman", 8), ("gru", 16))},
        ("copy", "peephole"): [0],
    }
    own = [one for one in found.trials if (one.task, one.unit) == ("copy", "elman")]
    assert [(one.seed, one.rate, one.distance) for one in own] == [
        *[(1, 1e-2, 4), (1, 1e-3, 4), (1, 1e-3, 8), (1, 1e-3, 16)],
        *[(2, 1e-3, 4), (2, 1e-3, 8), (2, 1e-3, 16)],
    ]
    assert ">= 16" in str(found) and found.json()["spans"][0] == {"task": "copy", "unit": "elman", "spans": [8, 8]}


def test_what_was_found_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conducted = learnt_up_to({"elman": 8, "gru": 4, "peephole": 4})
    monkeypatch.setattr(span, "conduct", conducted)
    whole = spans(TINY)
    done: list[Any] = []

    def counted(*asked: Any) -> Trial:
        if len(done) == most:
            raise KeyboardInterrupt
        done.append(asked[1:-1])
        return conducted(*asked)  # type: ignore[no-any-return]

    monkeypatch.setattr(span, "conduct", counted)
    most = 9
    with pytest.raises(KeyboardInterrupt):
        spans(TINY, tmp_path / "out")
    with (tmp_path / "out" / "span.jsonl").open("a") as file:
        file.write('{"task": "copy", "un')  # killed amid a line
    most = 1000
    assert spans(TINY, tmp_path / "out").trials == whole.trials
    assert len(done) == len(set(done)) == len(whole.trials)
    assert spans(TINY, tmp_path / "out").trials == whole.trials and len(done) == len(whole.trials)
    with pytest.raises(DataError, match="is of another plan"):
        spans(replace(TINY, size=8), tmp_path / "out")


def test_what_is_found_does_not_depend_on_the_workers(tmp_path: Path) -> None:
    plan = replace(TINY, sequences=16, size=4, units=("elman",), others=())
    assert spans(plan, tmp_path, workers=1).trials == spans(plan, workers=3).trials


def test_an_interruption_ends_the_trials_that_run(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[Any] = []

    def waiting(plan: Plan, task: str, unit: str, *rest: Any) -> Trial:
        if unit == "gru":
            raise KeyboardInterrupt
        stopped.append(rest[-1].wait(timeout=30))
        raise CancelledError

    monkeypatch.setattr(span, "conduct", waiting)
    with pytest.raises(KeyboardInterrupt):
        spans(TINY, workers=4)
    assert stopped and all(stopped)
    monkeypatch.undo()
    event = threading.Event()
    event.set()
    with pytest.raises(CancelledError):
        conduct(TINY, "copy", "gru", 1, 1e-3, 4, event)


def test_a_trial_depends_on_its_seed_alone_and_stops_when_it_has_learnt() -> None:
    plan = replace(TINY, sequences=6400, size=24, batch=32)
    found = conduct(plan, "recall", "gru", 1, 1e-2, 1)
    assert found == conduct(plan, "recall", "gru", 1, 1e-2, 1)
    assert found.learnt and found.accuracy >= 0.99 and found.sequences < 6400
    assert not conduct(TINY, "copy", "gru", 1, 1e-3, 4).learnt


def test_every_unit_of_the_full_plan_can_be_built() -> None:
    cells = {unit: StackConfig.parse({"cell": cell_table(unit)}, "test").cell for unit in (*FULL.units, *FULL.others)}
    assert cells["lstm, forget bias 0"] == Lstm(forget_bias=0.0)
    assert len(list(FULL.series())) == 3 * 3 * 4 + 8


def test_remedies_are_compared_on_the_same_sequences_by_the_gradient_of_the_last_loss_by_the_first_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(learner, "TESTED", 8)
    own = Learner(Setting(StackConfig(cell=Lstm(), size=5), Xavier(), Adam(), 1.0), TASKS["copy"], 4, 3)
    inputs_TBD, targets_AB = TASKS["copy"].draw(4, 8, generator(3, "span test copy 4"))
    x_TBD = inputs_TBD.requires_grad_()
    [whole] = torch.autograd.grad(own.task.loss(own.network(x_TBD, 1), targets_AB[-1:]), x_TBD)
    assert own.reach() == pytest.approx(float(8 * whole[0].norm(dim=1).mean()))
    events: list[Event] = []
    found = remedies(distance=4, updates=3, report=events.append)
    assert [one.name for one in found.found] == list(REMEDIES) and len(events) == len(REMEDIES) + 1
    by_name = {one.name.strip(): one for one in found.found}
    base = by_name["simple unit, uniform weights, SGD"]
    for name in ("gradient clipping", "momentum", "Adam"):  # which leave the derivative at given weights as it is
        assert by_name[name].before == base.before
    assert by_name["Xavier initialization"].before != base.before
    assert json.loads(json.dumps(found.json()))["distance"] == 4 and "|dL_T/dx_1|" in str(found)
