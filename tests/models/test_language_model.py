"""Recurrent language models: truncation, penalties of states, learned initial states."""

from typing import Any

import pytest
import torch

from anaphora.errors import ConfigError
from anaphora.models.language_model import LanguageModel
from anaphora.protocols import VocabularyInfo
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
def test_what_states_cost_is_that_of_the_dropped_ones_size_and_of_the_others_change(
    dropout: Any, residual: bool
) -> None:
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
