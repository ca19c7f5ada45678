"""What every language model promises: windows are one long text, and steps, batches and carries change nothing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.search.scoring import score
from tests.searches import beam, sample

from ..batches import pair_batch, text_batch
from . import test_feed_forward, test_language_model
from .interpolation import test_model as test_interpolation
from .ngram import test_model as test_ngram

END = 3
KINDS: dict[str, Callable[[], Any]] = {
    "lstm": lambda: test_language_model.make(),
    "learned": lambda: test_language_model.make(**test_language_model.LEARNED),
    "ngram": lambda: test_ngram.fitted(test_ngram.TEXT, 4),
}
CELLS = ("gru", "ssru", "sru", "qrnn", "min-gru", "min-lstm", "mogrifier")
KINDS |= {cell: lambda own={"size": 8, "cell": cell}: test_language_model.make(recurrence=own) for cell in CELLS}
KINDS |= {name: lambda parts=parts: test_interpolation.make(*parts) for name, parts in test_interpolation.MIXED.items()}
KINDS |= {str(window): lambda window=window: test_feed_forward.make(window) for window in test_feed_forward.KINDS}
TOKENS = st.lists(st.integers(3, 8), min_size=1, max_size=25)


@pytest.fixture(scope="module", params=KINDS)
def model(request: pytest.FixtureRequest) -> Any:
    return KINDS[request.param]().eval()


@settings(max_examples=8)
@given(ids=TOKENS, cut=st.integers(1, 24))
@torch.no_grad()
def test_carried_windows_equal_one_long_pass(model: Any, ids: list[int], cut: int) -> None:
    ids = [END, *ids, 5]
    cut = min(cut, len(ids) - 2)
    whole, _ = model.target_log_probs(text_batch([ids]))
    first, carry = model.target_log_probs(text_batch([ids[: cut + 1]] * 2))
    second, _ = model.target_log_probs(text_batch([ids[cut:]] * 2, continues=[True, False]), carry)
    np.testing.assert_allclose(np.concatenate([first[:1], second[:1]], axis=1), whole, rtol=1e-5, atol=1e-5)
    afresh, _ = model.target_log_probs(text_batch([ids[cut:]]))
    np.testing.assert_allclose(second[1:], afresh, rtol=1e-5, atol=1e-5)
    loss, _ = model(text_batch([ids]))
    assert loss.count == len(ids) - 1 and float(loss.sum) == pytest.approx(-float(whole.sum()), rel=1e-5)


@settings(max_examples=8)
@given(ids=TOKENS, continues=st.booleans())
@torch.no_grad()
def test_the_carry_is_the_same_where_nothing_is_predicted(model: Any, ids: list[int], continues: bool) -> None:
    read = text_batch([[END, *ids]], continues=continues)
    before = model.carry_after(text_batch([[END, *reversed(ids)]]))
    _, expected = model.target_log_probs(read, before)
    after = model.carry_after(read, before)
    assert after.keys() == expected.keys()
    for name, rows in after.items():
        np.testing.assert_array_equal(rows, expected[name])


@torch.no_grad()
def test_padding_and_neighbours_change_nothing(model: Any) -> None:
    rows = [[3, 4, 5, 6, 7, 3], [3, 8, 3, 5, 0, 8]]
    together, carry = model.target_log_probs(text_batch(rows, lengths=[5, 2]))
    for row, length in enumerate([5, 2]):
        alone, its_carry = model.target_log_probs(text_batch([rows[row][: length + 1]]))
        np.testing.assert_allclose(together[row, :length], alone[0], rtol=1e-5, atol=1e-5)
        assert not together[row, length:].any()
        for name, rows_after in carry.items():
            np.testing.assert_allclose(rows_after[row], its_carry[name][0], rtol=1.3e-6, atol=1e-5)


def test_steps_say_what_windows_say_alone_and_in_any_batch(model: Any) -> None:
    rows = [[4, 5, 4, 4, 3], [6, 3], [8, 8, 8, 3]]
    batch, stepper = pair_batch([[END]] * 3, rows, multiple=1), model.train().stepper()
    model.eval()  # where its stepper has put its networks
    assert stepper.bos == stepper.eos == END
    for row, found in zip(rows, score(stepper, batch), strict=True):
        with torch.no_grad():
            loss, _ = model(text_batch([[END, *row]]))
        assert found.score == pytest.approx(-float(loss.sum), rel=1e-5) and found.weights is None
        assert score(stepper, pair_batch([[END]], [row], multiple=1)) == [found]
    assert len(beam(stepper, batch, beam=3, max_length=6)) == len(sample(stepper, batch, max_length=6)) == 3


@settings(max_examples=4)
@given(read=TOKENS)
def test_probabilities_sum_to_one_behind_every_text(model: Any, read: list[int]) -> None:
    stepper = model.stepper()
    steps, state = [stepper.unconditional()], stepper.start(text_batch([[END, END]])).state
    for token in [END, *read]:
        steps.append(stepper.advance(None, state, np.array([token])))
        state = steps[-1].state
    assert [np.exp(step.log_probs_NV).sum() for step in steps] == pytest.approx([1] * len(steps), abs=1e-5)
