"""An average is the mean of its checkpoints, and a checkpoint like any other."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.errors import RunError
from anaphora.events import Event
from anaphora.experiment.averaging import average
from anaphora.run import Run


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


def test_a_damaged_checkpoint_is_left_out_and_named(run: Run) -> None:
    (run.path / "checkpoints" / "step-30" / "model.safetensors").write_bytes(b"")
    events: list[Event] = []
    tensors, updates = average(run, 3, events.append)
    assert updates == [10, 40] and "step-30" in str(events[0])
    assert torch.equal(tensors["layer.weight"], torch.full((2, 3), 25.0))


def test_one_checkpoint_and_different_networks_have_no_average(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="needs two whole checkpoints"):
        average(saved(tmp_path / "one", [torch.ones(2)]), 5)
    with pytest.raises(RunError, match="step-2 has other tensors than step-1"):
        average(saved(tmp_path / "two", [torch.ones(2), torch.ones(3)]), 2)


def test_an_average_is_loaded_by_name_and_as_the_best_but_never_as_the_latest(
    run: Run, save: Callable[[Run, int], Path]
) -> None:
    with pytest.raises(RunError, match="has no average; it has 10, 30, 40"):
        run.load("average")
    tensors, updates = average(run, 2)
    path = run.save(40, tensors, {}, {"averaged": updates, "validation": {"loss": 1.0}}, average=True)
    assert path.name == "average" and run.checkpoints() == [10, 30, 40]
    assert run.load("best").update == 10
    run.mark_best("average")
    found = Run.open(run.path).load("best")
    assert (found.which, found.update, found.state["averaged"]) == ("average", 40, [30, 40])
    assert (found.model["layer.weight"] == 35).all()
    assert Run.open(run.path).load("latest", for_training=True).which == 40
    assert run.validation("average") == {"loss": 1.0}
    for update in (50, 60):
        save(run, update)
    assert run.load("best").which == "average"


def test_an_average_that_is_damaged_or_not_the_best_gives_way_to_the_newest(run: Run) -> None:
    run.save(40, {"layer.weight": torch.ones(1)}, {}, {}, average=True)
    run.mark_best("average")
    (run.path / "checkpoints" / "average" / "model.safetensors").write_bytes(b"")
    events: list[Event] = []
    assert run.load("best", events.append).which == 40
    assert "average" in str(events[0])
    (run.path / "best").unlink()
    assert run.load("best", events.append).which == 40 and len(events) == 1
