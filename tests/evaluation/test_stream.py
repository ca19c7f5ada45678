"""Running text read side by side costs what it costs read unit by unit."""

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anaphora.evaluation import stream
from anaphora.evaluation.stream import stream_loss
from anaphora.models import registry
from anaphora.protocols import Batch, Carry, Loss, Sequence
from anaphora.text.coder import symbols_of

SIZE = 12


class Counted:
    """A model that counts how many steps it was asked for, one after another."""

    def __init__(self, forget_bias: float) -> None:
        cell = {"kind": "lstm", "forget_bias": forget_bias}
        tables = {"embedding": {"size": 6}, "recurrence": {"cell": cell, "size": 8, "layers": 2}}
        self.model: Any = registry.build("language-model", tables, {"text": symbols_of(SIZE)}, "a test").eval()
        self.model.initialise(3)
        self.steps = 0

    def __call__(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        self.steps += batch.inputs.ids_BT.shape[1]
        answer: tuple[Loss, Carry] = self.model(batch, carry)
        return answer

    def stepper(self) -> Any:
        return self.model.stepper()

    def one_by_one(self, ids: list[int], before: int) -> float:
        inputs, targets, lengths = torch.tensor([[before, *ids[:-1]]]), torch.tensor([ids]), torch.tensor([len(ids)])
        row = Batch(Sequence(inputs, lengths), Sequence(targets, lengths), torch.tensor([0]), torch.tensor([False]))
        with torch.no_grad():
            loss, _ = self.model(row)
        return float(loss.sum)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments that short texts are cut into."""
    for name, value in {"ROWS": 4, "SEGMENT": 60, "WARM_UP": 50, "WINDOW": 16}.items():
        monkeypatch.setattr(stream, name, value)


def text(length: int) -> list[int]:
    draws = random.Random(length)
    return [draws.randrange(3, SIZE) for _ in range(length)]


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(length=st.integers(1, 400), forget_bias=st.sampled_from([-1.0, 1.0, 40.0]))
def test_a_text_costs_what_it_costs_unit_by_unit(length: int, forget_bias: float) -> None:
    model, ids = Counted(forget_bias), text(length)
    nats, tokens = stream_loss(model, iter(ids), 3)
    assert tokens == length
    assert nats == pytest.approx(model.one_by_one(ids, 3), rel=1e-5)


def test_a_network_that_forgets_is_read_side_by_side_and_one_that_does_not_is_read_unit_by_unit() -> None:
    forgetful, remembering = Counted(-1.0), Counted(40.0)
    for model in (forgetful, remembering):
        stream_loss(model, text(480), 3)
    assert forgetful.steps == 2 * (60 + 50)
    assert remembering.steps == 2 * (60 + 50 + 240)


def test_a_guess_beyond_rounding_is_never_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "WARM_UP", 1)
    model, ids = Counted(-1.0), text(240)
    nats, _ = stream_loss(model, ids, 3)
    assert model.steps == 1 + 60 + 240
    assert nats == pytest.approx(model.one_by_one(ids, 3), rel=1e-6)


def test_progress_ends_with_every_unit_done_and_an_empty_text_costs_nothing() -> None:
    done: list[int] = []
    heard: Callable[[int], None] = done.append
    assert stream_loss(Counted(1.0), text(500), 3, heard)[1] == 500
    assert done == [240, 480, 500]
    assert stream_loss(Counted(1.0), [], 3, heard) == (0.0, 0)
