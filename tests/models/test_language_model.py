"""Recurrent language models: penalties of states, outputs whose layout comes from counts, truncation.

Windows of backpropagation reach across the borders of chunks: chunks of any length give one gradient.
"""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from anaphora.errors import ConfigError
from anaphora.models.language_model import LanguageModel
from anaphora.nn.counts import Counts
from anaphora.protocols import Carry, VocabularyInfo
from anaphora.run.weights import fill, tensors_of
from tests.kernels import naive
from tests.networks import made
from tests.runtimes import updating

from ..batches import text_batch

SYMBOLS = VocabularyInfo(17, 0, 1, 2, 3)


def make(**tables: Any) -> LanguageModel:
    small = {"embedding": {"size": 6}, "recurrence": {"size": 8, "layers": 2}}
    return made(LanguageModel, "language-model", small | tables, SYMBOLS)


LEARNED = {"recurrence": {"size": 8, "layers": 2, "initial_state": "learned"}, "initializer": "uniform"}


IDS = torch.randint(4, 17, (3, 8), generator=torch.Generator().manual_seed(1))
DROPOUTS = [0.0, 0.3, {"kind": "variational", "probability": 0.3, "recurrent": 0.3}]


@pytest.mark.parametrize("dropout", DROPOUTS)
def test_truncation_by_windows_keeps_the_loss_and_what_states_cost_and_shortens_gradients(dropout: Any) -> None:
    def of(truncation: Any) -> tuple[torch.Tensor, ...]:
        options = {"size": 8, "layers": 2, "dropout": dropout, "weight_dropout": 0.2, "residual": True}
        options |= {"activation_regularization": 0.7, "temporal_activation_regularization": 0.3}
        model = make(recurrence=options | {"truncation": truncation}).double()
        with updating(1, 1):
            loss, _ = model(text_batch(IDS, False))
        assert loss.penalty is not None
        weights = [weight for weight in model.parameters() if weight.numel()]
        of_penalty = torch.autograd.grad(loss.penalty, list(model.recurrence.parameters()), retain_graph=True)
        return (loss.sum.detach(), loss.penalty.detach(), *of_penalty, *torch.autograd.grad(loss.sum, weights))

    whole = of("chunk")
    for steps in 6, 100:  # the first state has no gradient here, so it may reach the first step alone
        torch.testing.assert_close(of({"kind": "window", "steps": steps}), whole, rtol=1e-10, atol=1e-10)
    loss, penalty, *short = of({"kind": "window", "steps": 5})
    torch.testing.assert_close((loss, penalty), whole[:2])
    assert any((one - other).any() for one, other in zip(short, whole[2:], strict=True))


@pytest.mark.parametrize("dropout", DROPOUTS)
@pytest.mark.parametrize("residual", [False, True])
def test_states_cost_the_size_of_the_dropped_ones_and_the_change_of_the_others(dropout: Any, residual: bool) -> None:
    options = {"size": 8, "layers": 2, "dropout": dropout, "residual": residual, "activation_regularization": 0.7}
    model = make(recurrence=options | {"temporal_activation_regularization": 0.3}).double()
    ones = torch.ones(3)
    with updating(1, 1):
        loss, _ = model(text_batch(IDS, False))
    with updating(1, 1):
        x_TBD = model.embedding.vectors(IDS[:, :-1].T)
        outputs, state, _ = model.recurrence(x_TBD, torch.full((3,), 7))
    torch.testing.assert_close(outputs["undropped"][-1], state["layer1.h"])
    expected = 0.7 * naive.size_penalty(outputs["h"], 7 * ones, ones)
    expected += 0.3 * naive.change_penalty(outputs["undropped"], 7 * ones, ones)
    torch.testing.assert_close(loss.penalty, expected)
    torch.testing.assert_close(loss.minimised, loss.sum + expected)
    plain = make(recurrence={"size": 8, "layers": 2, "dropout": dropout, "residual": residual}).double()
    with updating(1, 1):
        assert torch.equal(plain(text_batch(IDS, False))[0].sum, loss.sum)
    assert model.eval()(text_batch(IDS, False))[0].penalty is None


def test_a_window_needs_its_steps() -> None:
    with pytest.raises(ConfigError, match=r"recurrence\.truncation\.steps is missing"):
        make(recurrence={"truncation": "window"})


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_a_deep_model_with_everything_on_it_learns(cell: str) -> None:
    dropout = {"kind": "variational", "probability": 0.1}
    deep = {"size": 8, "cell": cell, "layers": 4, "residual": True, "layer_norm": True, "weight_dropout": 0.1}
    model = make(
        embedding={"size": 6, "dropout": dropout | {"words": 0.1}},
        recurrence=deep | {"dropout": dropout | {"recurrent": 0.1}, "truncation": {"kind": "window", "steps": 2}},
    )
    before = model.eval()(text_batch(IDS, False))[0].sum.item()
    with updating(1, 1):
        loss, _ = model.train()(text_batch(IDS, False))
    weights = [weight for weight in model.parameters() if weight.numel()]
    for weight, gradient in zip(weights, torch.autograd.grad(loss.sum, weights), strict=True):
        assert gradient.any()
        weight.data -= 0.005 * gradient.sign()
    assert model.eval()(text_batch(IDS, False))[0].sum.item() < before


@pytest.mark.parametrize("output", ["class-factored", "hierarchical", "adaptive"])
def test_saved_weights_mean_the_same_words_where_counts_give_an_output_another_layout(output: str) -> None:
    def counted(counts_V: torch.Tensor) -> LanguageModel:
        model = make(output=output).eval()
        for module in model.modules():
            if isinstance(module, Counts):
                module.set_token_counts(counts_V)
        return model

    model, other = counted(torch.arange(17).flip(0)), counted(torch.arange(17))
    expected = model(text_batch(IDS))[0].sum
    assert other(text_batch(IDS))[0].sum != expected
    fill(other, tensors_of(model), Path("here"))
    assert torch.equal(other(text_batch(IDS))[0].sum, expected)


STEPS = 12
TEXT = torch.randint(4, 17, (3, STEPS + 1), generator=torch.Generator().manual_seed(1))


def truncated(truncation: Any, **recurrence: Any) -> LanguageModel:
    return make(recurrence={"size": 7, "layers": 2, "truncation": truncation} | recurrence).double()


def summed(model: LanguageModel, borders: list[int]) -> tuple[float, list[Tensor], Carry]:
    """The loss of the text in chunks that end there, its gradients added up, and what is carried at the end."""
    carry: Carry = {}
    losses, weights = list[Tensor](), [weight for weight in model.parameters() if weight.numel()]
    for start, end in zip([0, *borders], [*borders, STEPS], strict=True):
        with updating():
            found, carry = model(text_batch(TEXT[:, start : end + 1], start > 0), carry or None)
        losses.append(found.sum)
    total = torch.stack(losses).sum()
    return total.item(), list(torch.autograd.grad(total, weights)), carry


@cache
def by_definition(back: int) -> list[Tensor]:
    """Each loss by itself: the steps t - back to t, from a state that is a constant."""
    model, losses = truncated("chunk"), list[Tensor]()
    for t in range(STEPS):
        start, carry = max(0, t - back), None
        if start:
            with torch.no_grad():
                carry = model.carry_after(text_batch(TEXT[:, : start + 1], False))
        losses.append(model(text_batch(TEXT[:, start : t + 2], start > 0), carry)[0].sum)
        if t > start:
            losses.append(-model(text_batch(TEXT[:, start : t + 1], start > 0), carry)[0].sum)
    weights = [weight for weight in model.parameters() if weight.numel()]
    return list(torch.autograd.grad(torch.stack(losses).sum(), weights))


@pytest.mark.matrix
@pytest.mark.parametrize("back", [1, 5, 8, 30])
@pytest.mark.parametrize("borders", [[], [4, 8], [1, 2, 7], [11]], ids=str)
def test_chunks_of_any_length_give_the_sum_over_windows(back: int, borders: list[int]) -> None:
    loss, gradients, _ = summed(truncated({"kind": "window", "steps": back}), borders)
    whole, _, _ = summed(truncated("chunk"), [])
    assert loss == pytest.approx(whole, rel=1e-12)
    torch.testing.assert_close(gradients, by_definition(back), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("truncation", ["chunk", {"kind": "window", "steps": 5}], ids=str)
def test_the_first_chunk_alone_trains_a_learned_initial_state(truncation: Any) -> None:
    model = truncated(truncation, initial_state="learned")
    learned, carry = list(model.recurrence.initial.parameters()), None
    assert len(learned) == 4
    for start in (0, 4, 8):  # windows of the second chunk reach back to the first step
        with updating():
            found, carry = model(text_batch(TEXT[:, start : start + 5], start > 0), carry)
        gradients = torch.autograd.grad(found.sum, learned, allow_unused=True)
        assert all((one is not None and bool(one.any())) is (start == 0) for one in gradients)


def test_the_carry_of_older_checkpoints_suffices_and_rows_that_begin_anew_have_no_context() -> None:
    model = truncated({"kind": "window", "steps": 5})
    _, _, carry = summed(model, [6])
    state = {name: h for name, h in carry.items() if name.startswith("layer")}
    assert carry.keys() > state.keys()
    with updating():
        with_it, without = (model(text_batch(TEXT[:, :7], True), one)[0].sum for one in (carry, state))
        begun = model(text_batch(TEXT[:, :7], torch.tensor([True, False, True])), carry)[0].sum
    torch.testing.assert_close(with_it, without, rtol=1e-12, atol=0)
    with torch.no_grad():  # a loss is the same where nothing is recorded
        alone = model(text_batch(TEXT[1:2, :7], False))[0].sum
        others = model(text_batch(TEXT[[0, 2], :7], True), {name: h[[0, 2]] for name, h in state.items()})[0].sum
    torch.testing.assert_close(begun.detach(), alone + others, rtol=1e-12, atol=0)


@pytest.mark.parametrize("probability", [0.3, {"kind": "variational", "probability": 0.2, "recurrent": 0.2}])
def test_context_steps_have_dropout_and_no_loss(probability: Any) -> None:
    model = truncated({"kind": "window", "steps": 5}, dropout=probability, temporal_activation_regularization=0.5)
    _, gradients, _ = summed(model, [6])
    assert all(gradient.isfinite().all() and gradient.any() for gradient in gradients)
    with updating():
        first, carry = model(text_batch(TEXT[:, :7], False))
        second, _ = model(text_batch(TEXT[:, 6:], True), carry)
    assert first.count == second.count == 18
