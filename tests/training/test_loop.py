from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, Literal

import pytest
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from anaphora.batch import Batch, Supervision
from anaphora.errors import DataError, RunError
from anaphora.events import Note, Saved, Update, Validated
from anaphora.kernels.backends import backend_for
from anaphora.kernels.cells import Cell, Lstm
from anaphora.kernels.cells.recorded import AutogradCell
from anaphora.kernels.parts import Unit
from anaphora.kernels.program import Program
from anaphora.nn.randomness import dropout_mask
from anaphora.run.weights import as_tensors
from tests.runtimes import threads
from tests.training import toy

from .conftest import Session, Trainer, weights_of


class Sketched(AutogradCell):
    """A unit without a derived gradient."""

    kind: Literal["sketched"] = "sketched"
    blocks: ClassVar[str] = "h"

    def step(self, x_BG: Any, state: Any, ops: Any) -> Any:
        raise AssertionError("it is not run")


@pytest.mark.skipif(backend_for("fp32") != "gemm", reason="no loop runs in C here")
def test_a_loop_that_runs_in_python_is_reported(session: Session) -> None:
    units: dict[str, Cell] = {"known": Lstm(), "other": Sketched()}
    parts = tuple(Unit(name, cell, (f"a {name}",)) for name, cell in units.items())
    session.model.stack = torch.nn.Module()
    session.model.stack.program = Program(parts, ("known.h", "other.h"))
    session.train(epochs=1, precision="fp32")
    [note] = [event.text for event in session.of(Note) if "step by step" in event.text]
    assert note == (
        "The loop of other runs step by step in Python, which is slower: other: autograd runs the unit 'sketched'."
    )


def test_every_update_is_reported_and_logged_in_order_with_its_place(session: Session) -> None:
    session.train(epochs=2)
    updates = session.of(Update)
    assert [event.update for event in updates] == list(range(1, 13))
    places = [(event.epoch, event.done, event.total, event.epochs) for event in updates[5:7]]
    assert places == [(1, 6, 6, 2), (2, 1, 6, 2)]
    assert all(event.tokens == 15 and event.seconds > 0 and event.gradient_norm > 0 for event in updates)
    lines = session.run.metrics.lines()
    assert [line["loss"] for line in lines if "loss" in line] == [event.loss for event in updates]
    validations = [line["validation"] for line in lines if "validation" in line]
    assert validations == [event.metrics for event in session.of(Validated)]


@pytest.mark.parametrize(("every", "expected"), [(4, [(4, 1), (8, 2), (12, 2)]), (0, [(6, 1), (12, 2)])])
def test_a_checkpoint_is_saved_at_every_validation_at_the_latest_at_the_end(
    session: Session, every: int, expected: list[tuple[int, int]]
) -> None:
    session.train(epochs=2, validate_every=every, save_every=0)
    assert [(event.update, event.epoch) for event in session.of(Validated)] == expected
    assert [event.update for event in session.of(Saved)] == [update for update, _ in expected]


def test_validation_is_in_evaluation_mode_without_gradients_and_training_in_training_mode(session: Session) -> None:
    modes = []

    def validate(model: torch.nn.Module) -> Mapping[str, float]:
        modes.append((model.training, torch.is_grad_enabled()))
        return {"loss": 1.0}

    session.validate = validate
    session.model.register_forward_pre_hook(lambda module, inputs: modes.append((module.training, True)))
    session.train(epochs=1, validate_every=3)
    assert modes == [*[(True, True)] * 3, (False, False)] * 2


def test_early_stopping_counts_validations_without_improvement(session: Session) -> None:
    session.figures(3.0, 2.0, 2.5, 2.5, 2.5, 1.0)
    outcome = session.train(epochs=9, validate_every=2, patience=3)
    assert (outcome.reason, outcome.update, outcome.best_update) == ("patience", 10, 4)
    assert outcome.metrics == {"loss": 2.0}
    assert session.run.best() == 4
    assert session.run.load("best").update == 4  # kept, though older than the newest two
    assert "| validation loss | 2.0000 |" in (session.run.path / "card.md").read_text()


def test_a_batch_multiplies_the_learning_rate_of_its_update(session: Session) -> None:
    class Uneven:
        def epoch(self, number: int) -> list[Batch]:
            batches = toy.ToyBatches().epoch(number)
            factors = [Supervision(learning_rate_factor=1 / (1 + place)) for place in range(len(batches))]
            return [replace(batch, supervision=own) for batch, own in zip(batches, factors, strict=True)]

    session.train(Uneven(), epochs=1, schedule="constant", optimizer={"kind": "sgd", "learning_rate": 0.6})
    assert [event.rate for event in session.of(Update)] == pytest.approx([0.6, 0.3, 0.2, 0.15, 0.12, 0.1])


def test_the_rate_that_is_reported_is_the_rate_of_the_step(session: Session) -> None:
    used: list[float] = []
    with register_optimizer_step_pre_hook(lambda optimizer, *_: used.append(optimizer.param_groups[0]["lr"])):
        session.train(
            epochs=3,
            optimizer={"kind": "sgd", "learning_rate": 1.0},
            schedule={"kind": "halving", "after": 1, "warmup": 2},
        )
    assert used == [event.rate for event in session.of(Update)]
    assert used == [0.5, *[1.0] * 5, *[0.5] * 6, *[0.25] * 6]  # six updates an epoch


def test_the_plateau_schedule_lowers_the_rate_of_later_updates(session: Session) -> None:
    session.validate = lambda model: {"loss": 1.0}
    session.train(epochs=1, validate_every=2, schedule={"kind": "plateau", "patience": 1, "factor": 0.1})
    assert [event.rate for event in session.of(Update)] == pytest.approx([1e-3] * 4 + [1e-4] * 2)


def test_time_runs_out_after_an_update_with_a_checkpoint_and_is_counted_over_all_parts(session: Session) -> None:
    short = Session(session.run.path.with_name("short"))
    outcome = short.train(epochs=9, minutes=1e-9, validate_every=100)
    assert (outcome.reason, outcome.update) == ("minutes", 1)
    assert short.run.checkpoints() == [1]
    first = session.train(epochs=1, minutes=60)
    session.train(epochs=2, minutes=60)
    third = session.train(epochs=3, minutes=first.seconds / 60 / 2)  # the end of the first is in no checkpoint
    assert (third.reason, third.update) == ("minutes", 12)
    left = [event.seconds_left for event in session.of(Update)]
    assert all(0 < after < before <= 3600 for before, after in pairwise(left))


def clipped(session: Session, **training: Any) -> list[torch.Tensor]:
    """The gradients of every step, laid end to end."""
    steps: list[torch.Tensor] = []

    def keep(*_: Any) -> None:
        steps.append(torch.cat([w.grad.flatten() for w in session.model.parameters() if w.grad is not None]))

    with register_optimizer_step_pre_hook(keep):
        session.train(epochs=1, **training)
    return steps


def test_gradients_are_clipped_by_their_global_norm_and_number_by_number(session: Session) -> None:
    assert [float(step.norm()) for step in clipped(session, clip_norm=0.05)] == pytest.approx([0.05] * 6)
    assert all(event.gradient_norm > 0.05 for event in session.of(Update))
    steps = clipped(Session(session.run.path.with_name("other")), clip_norm=0.0, clip_value=0.01)
    assert max(float(step.abs().max()) for step in steps) == pytest.approx(0.01)


@pytest.mark.parametrize(
    "averaging",
    [{"moving_average": 0.3}, {"optimizer": {"kind": "averaged-sgd", "from_epoch": 2}}],
    ids=["moving", "all"],
)
def test_the_averaged_weights_are_validated_and_saved(session: Session, averaging: dict[str, Any]) -> None:
    validated: list[dict[str, torch.Tensor]] = []

    def validate(model: torch.nn.Module) -> Mapping[str, float]:
        validated.append(weights_of(model))
        return {"loss": 1.0}

    session.validate = validate
    session.train(epochs=2, validate_every=0, save_every=0, **averaging)
    saved = session.run.load("latest", for_training=True)
    now = weights_of(session.model)
    optimizer = as_tensors(saved.optimizer)
    for name, tensor in as_tensors(saved.model).items():
        assert torch.equal(tensor, validated[-1][name])
        assert not torch.equal(tensor, now[name])
        assert torch.equal(optimizer[f"optimizer/iterate/{name}"], now[name])


@pytest.mark.parametrize(("figures", "begins"), [((3.0, 2.0, 1.0), True), ((1.0, 2.0, 3.0), False)])
def test_averaging_begins_when_the_deciding_figure_gets_worse(
    session: Session, figures: tuple[float, ...], begins: bool
) -> None:
    session.figures(*figures, metric="bleu")
    session.better = "higher"
    averaged = {"kind": "averaged-sgd", "interval": 1}
    session.train(epochs=1, validate_every=2, metric="bleu", optimizer=averaged)
    assert session.run.load("latest").state["optimizer"]["triggered"] is begins


@pytest.mark.parametrize(("reduction", "times"), [("mean_per_token", 1), ("sum_per_sentence", 5), ("sum", 15)])
def test_what_is_minimised_is_the_loss_as_it_is_to_be_reduced(session: Session, reduction: str, times: int) -> None:
    session.train(epochs=1, reduction="mean_per_token")
    other = Session(session.run.path.with_name("other"))
    other.train(epochs=1, reduction=reduction)
    first, second = session.of(Update)[0], other.of(Update)[0]
    assert second.gradient_norm == pytest.approx(times * first.gradient_norm)  # three rows of five steps
    assert second.loss == pytest.approx(first.loss)


def test_every_update_makes_draws_of_its_own_which_the_seed_decides(session: Session) -> None:
    def masks(seed: int, name: str) -> list[list[float]]:
        one = Session(session.run.path.with_name(name))
        found: list[list[float]] = []

        def draw(module: torch.nn.Module, inputs: Any) -> None:
            if module.training:
                found.append(dropout_mask("probe", (50,), 0.5, torch.zeros(1)).tolist())

        one.model.register_forward_pre_hook(draw)
        one.train(epochs=1, seed=seed)
        return found

    first, again, other = masks(3, "first"), masks(3, "again"), masks(4, "other")
    assert len({tuple(mask) for mask in [*first, *other]}) == 12
    assert first == again


def test_an_epoch_without_batches_is_refused(session: Session) -> None:
    with pytest.raises(DataError, match="at least one batch"):
        session.train(toy.ToyBatches(0))


def test_resuming_elsewhere_says_that_bits_may_differ_and_with_another_network_is_refused(session: Session) -> None:
    session.train(epochs=1)
    with threads(2):
        session.train(epochs=2)
    (note,) = session.of(Note)
    assert "with 1 thread on" in note.text and "2 threads" in note.text and "may differ" in note.text
    session.model.output = torch.nn.Linear(toy.WIDTH, 5)
    session.model.extra = torch.nn.Linear(2, 2)
    with pytest.raises(RunError, match=r"step-12.* has no tensor extra.bias"):
        session.train(epochs=3)


def test_freed_memory_costs_no_page_faults_when_it_is_asked_for_again(trainer: Trainer) -> None:
    found = trainer(keeps_freed_memory=True)
    if not found["known"]:
        pytest.skip("this C library has no such setting")
    assert found["kept"] * 10 < found["given_back"]
