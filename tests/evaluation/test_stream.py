"""Running text read side by side costs what it costs read unit by unit."""

import random
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anaphora.batch import Batch, pad
from anaphora.evaluation import stream
from anaphora.evaluation.stream import stream_components, stream_log_probs, stream_loss
from anaphora.kernels.runtime import Runtime, running
from anaphora.protocols import Carry
from anaphora.text.tokenizer import symbols_of
from tests.networks import build

SIZE = 12


class Counted:
    """A model that counts how many steps it was asked for, one after another."""

    def __init__(self, forget_bias: float) -> None:
        cell = {"kind": "lstm", "forget_bias": forget_bias}
        tables = {"embedding": {"size": 6}, "recurrence": {"cell": cell, "size": 8, "layers": 2}}
        self.model: Any = build("language-model", tables, {"text": symbols_of(SIZE)}, "a test").eval()
        self.model.initialise(3)
        self.steps = 0

    def target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Any, Carry]:
        self.steps += batch.input_ids.ids_BT.shape[1]
        answer: tuple[Any, Carry] = self.model.target_log_probs(batch, carry)
        return answer

    def one_by_one(self, ids: list[int], before: int) -> float:
        with torch.no_grad():
            loss, _ = self.model(Batch.of_rows([0], pad([[before, *ids[:-1]]]), pad([ids])))
        return float(loss.sum)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments that short texts are cut into."""
    for name, value in {"ROWS": 4, "SEGMENT": 60, "FEW": 2, "SHORT": 30, "READINGS": 2, "WINDOW": 16}.items():
        monkeypatch.setattr(stream, name, value)


def text(length: int) -> list[int]:
    draws = random.Random(length)
    return [draws.randrange(3, SIZE) for _ in range(length)]


@settings(max_examples=5)
@given(length=st.integers(1, 300), forget_bias=st.sampled_from([-1.0, 1.0, 40.0]))
@example(length=131, forget_bias=-1.0)  # side by side, and a rest
def test_a_text_costs_what_it_costs_unit_by_unit(length: int, forget_bias: float) -> None:
    model, ids = Counted(forget_bias), text(length)
    nats, tokens = stream_loss(model, iter(ids), 3)
    assert tokens == length
    assert nats == pytest.approx(model.one_by_one(ids, 3), rel=1e-5)


def test_a_network_that_forgets_is_read_side_by_side_and_one_that_does_not_is_read_unit_by_unit() -> None:
    forgetful, remembering = Counted(-1.0), Counted(40.0)
    for model in (forgetful, remembering):
        stream_loss(model, text(480), 3)
    assert 2 * (60 + 16) <= forgetful.steps < 2 * (60 + 60)  # read again until the states meet, by whole windows
    assert remembering.steps == 2 * (60 + 2 * 60 + 240)
    for length, least, most in ((100, 50 + 16, 99), (59, 59, 59)):  # short texts have few segments
        forgetful.steps = 0
        stream_loss(forgetful, text(length), 3)
        assert least <= forgetful.steps <= most
    for precision in ("bf16", "int8"):
        with running(Runtime.inference(precision=precision)):
            forgetful.steps, ids = 0, text(480)
            nats, _ = stream_loss(forgetful, ids, 3)
            assert forgetful.steps < 2 * (60 + 60)
            assert nats == pytest.approx(forgetful.one_by_one(ids, 3), rel=1e-3)


def test_every_unit_comes_with_what_it_costs_and_an_empty_text_costs_nothing() -> None:
    ids = text(500)
    found = list(stream_log_probs(Counted(1.0), iter(ids), 3))
    assert np.concatenate([some for some, _ in found]).tolist() == ids
    assert (-sum(float(log_probs.sum()) for _, log_probs in found), 500) == stream_loss(Counted(1.0), ids, 3)
    assert stream_loss(Counted(1.0), [], 3) == (0.0, 0)


def test_the_members_of_a_mixture_are_read_each_in_its_own_way() -> None:
    members, whole, ids = (Counted(-1.0), Counted(40.0)), Counted(1.0), text(140)
    member = {"model": "recurrent", "embedding": {"size": 6}, "recurrence": {"size": 8, "layers": 2}}
    mixed = {"runs": ["a", "b"], "members": [member, member], "cache": {"kind": "counts", "tokens": 5}}
    tables = {"model": "interpolation", "interpolation": mixed}
    mixture: Any = build("language-model", tables, {"text": symbols_of(SIZE)}, "a test")
    mixture.members[0], mixture.members[1] = (one.model for one in members)
    whole.model = mixture
    nats, tokens = stream_loss(mixture, ids, 3)
    assert tokens == 140 and nats == pytest.approx(whole.one_by_one(ids, 3), rel=1e-5)
    sources = np.concatenate([some.log_probs for some in stream_components(mixture, ids, 3)], axis=1)
    expected = [member_alone.one_by_one(ids, 3) for member_alone in members]
    assert (-sources[:2].sum(1)).tolist() == pytest.approx(expected, rel=1e-5)
