"""Windows of backpropagation reach across the borders of chunks: chunks of any length give one gradient."""

from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from anaphora.models.language_model import LanguageModel, LanguageModelConfig
from anaphora.protocols import Carry, VocabularyInfo
from tests.runtimes import updating

from ..batches import text_batch

SYMBOLS, STEPS = 17, 12
IDS = torch.randint(4, SYMBOLS, (3, STEPS + 1), generator=torch.Generator().manual_seed(1))


def make(truncation: Any, **recurrence: Any) -> LanguageModel:
    options = {"size": 7, "cell": "lstm", "layers": 2, "truncation": truncation} | recurrence
    table = {"embedding": {"size": 6}, "recurrence": options}
    model = LanguageModel(LanguageModelConfig.parse(table, "test"), VocabularyInfo(SYMBOLS, 0, 1, 2, 3)).double()
    model.initialise(1)
    return model


def summed(model: LanguageModel, borders: list[int]) -> tuple[float, list[Tensor], Carry]:
    """The loss of the text in chunks that end there, its gradients added up, and what is carried at the end."""
    carry: Carry = {}
    losses, weights = list[Tensor](), [weight for weight in model.parameters() if weight.numel()]
    for start, end in zip([0, *borders], [*borders, STEPS], strict=True):
        with updating():
            found, carry = model(text_batch(IDS[:, start : end + 1], start > 0), carry or None)
        losses.append(found.sum)
    total = torch.stack(losses).sum()
    return total.item(), list(torch.autograd.grad(total, weights)), carry


@cache
def by_definition(back: int) -> list[Tensor]:
    """Each loss by itself: the steps t - back to t, from a state that is a constant."""
    model, losses = make("chunk"), list[Tensor]()
    for t in range(STEPS):
        start, carry = max(0, t - back), None
        if start:
            with torch.no_grad():
                carry = model.carry_after(text_batch(IDS[:, : start + 1], False))
        losses.append(model(text_batch(IDS[:, start : t + 2], start > 0), carry)[0].sum)
        if t > start:
            losses.append(-model(text_batch(IDS[:, start : t + 1], start > 0), carry)[0].sum)
    weights = [weight for weight in model.parameters() if weight.numel()]
    return list(torch.autograd.grad(torch.stack(losses).sum(), weights))


@pytest.mark.matrix
@pytest.mark.parametrize("back", [1, 5, 8, 30])
@pytest.mark.parametrize("borders", [[], [4, 8], [1, 2, 7], [11]], ids=str)
def test_chunks_of_any_length_give_the_sum_over_windows(back: int, borders: list[int]) -> None:
    loss, gradients, _ = summed(make({"kind": "window", "steps": back}), borders)
    whole, _, _ = summed(make("chunk"), [])
    assert loss == pytest.approx(whole, rel=1e-12)
    torch.testing.assert_close(gradients, by_definition(back), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("truncation", ["chunk", {"kind": "window", "steps": 5}], ids=str)
def test_the_first_chunk_alone_trains_a_learned_initial_state(truncation: Any) -> None:
    model = make(truncation, initial_state="learned")
    learned, carry = list(model.recurrence.initial.parameters()), None
    assert len(learned) == 4
    for start in (0, 4, 8):  # windows of the second chunk reach back to the first step
        with updating():
            found, carry = model(text_batch(IDS[:, start : start + 5], start > 0), carry)
        gradients = torch.autograd.grad(found.sum, learned, allow_unused=True)
        assert all((one is not None and bool(one.any())) is (start == 0) for one in gradients)


def test_the_carry_of_older_checkpoints_suffices_and_rows_that_begin_anew_have_no_context() -> None:
    model = make({"kind": "window", "steps": 5})
    _, _, carry = summed(model, [6])
    state = {name: h for name, h in carry.items() if name.startswith("layer")}
    assert carry.keys() > state.keys()
    with updating():
        with_it, without = (model(text_batch(IDS[:, :7], True), one)[0].sum for one in (carry, state))
        begun = model(text_batch(IDS[:, :7], torch.tensor([True, False, True])), carry)[0].sum
    torch.testing.assert_close(with_it, without, rtol=1e-12, atol=0)
    alone = model(text_batch(IDS[1:2, :7], False))[0].sum
    others = model(text_batch(IDS[[0, 2], :7], True), {name: h[[0, 2]] for name, h in state.items()})[0].sum
    torch.testing.assert_close(begun, alone + others, rtol=1e-12, atol=0)


@torch.no_grad()
@pytest.mark.parametrize("cell", ["ssru", "sru", "qrnn", "min-gru", "min-lstm", "mogrifier"])
def test_a_row_goes_on_from_its_state_where_it_is_asked_to_and_from_zeros_elsewhere(cell: str) -> None:
    model = make("chunk", cell=cell).eval()
    _, carry = model(text_batch(IDS[:, :7], False))
    assert carry.keys() == {f"layer{n}.{field}" for n in (0, 1) for field in model.config.recurrence.cell.state}
    found = model(text_batch(IDS[:, 6:], torch.tensor([True, False, True])), carry)[0].sum
    whole, first = (model(text_batch(IDS[[0, 2], :end], False))[0].sum for end in (STEPS + 1, 7))
    anew = model(text_batch(IDS[1:2, 6:], False))[0].sum
    torch.testing.assert_close(found, whole - first + anew, rtol=1e-12, atol=0)


@pytest.mark.parametrize("probability", [0.3, {"kind": "variational", "probability": 0.2, "recurrent": 0.2}])
def test_context_steps_have_dropout_and_no_loss(probability: Any) -> None:
    model = make({"kind": "window", "steps": 5}, dropout=probability, temporal_activation_regularization=0.5)
    _, gradients, _ = summed(model, [6])
    assert all(gradient.isfinite().all() and gradient.any() for gradient in gradients)
    with updating():
        first, carry = model(text_batch(IDS[:, :7], False))
        second, _ = model(text_batch(IDS[:, 6:], True), carry)
    assert first.count == second.count == 18
