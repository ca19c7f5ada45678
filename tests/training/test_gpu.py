"""Training and prediction on a GPU, where there is one: the numbers of the processor, within rounding."""

import copy
import warnings

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from anaphora.kernels.runtime import Runtime, running
from anaphora.nn import randomness
from anaphora.training.reduction import reduced, weighted
from tests.networks import build
from tests.training.test_device import NETWORKS, SYMBOLS, batch, recipe

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    pytest.mark.filterwarnings("ignore:RNN module weights"),  # as cudnn.py has it
]


def updated(model: nn.Module, device: torch.device, times: int) -> tuple[list[float], dict[str, Tensor]]:
    """The losses of updates on the same batch, and the gradients of the last."""
    model = copy.deepcopy(model).to(device)
    losses, carry = list[float](), None
    for _ in range(times):
        torch.manual_seed(1)
        given = weighted(batch(), "mean_per_sequence").to(device)
        model.zero_grad()
        with running(Runtime(device, training=True, seed=1, update=1)):
            loss, _ = model(given, carry)
        objective = reduced(loss, 4, loss.count, "mean_per_sequence")
        objective.backward()
        losses.append(float(objective.detach()))
    return losses, {name: weight.grad.cpu() for name, weight in model.named_parameters() if weight.grad is not None}


@pytest.mark.parametrize("name", NETWORKS)
def test_an_update_of_every_recipe_is_that_of_the_processor(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # masks are drawn where they are used, so those of a GPU would be others
    monkeypatch.setattr(randomness, "_source", lambda purpose, device: randomness.generator(1, purpose))
    torch.manual_seed(0)
    tables = recipe(name)
    model = build(str(tables["task"]), tables, dict.fromkeys(("source", "target", "text"), SYMBOLS), name)
    expected, gradients = updated(model, torch.device("cpu"), 1)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*step by step")  # a loop that no graph could be recorded of
        got, found = updated(model, torch.device("cuda"), 3)  # the sizes are met, recorded, and come back
    assert_close(torch.tensor(got), torch.tensor(expected * 3), rtol=1e-3, atol=1e-4)
    assert found.keys() == gradients.keys()
    for weight, gradient in ((name, gradient) for name, gradient in gradients.items() if gradient.numel()):
        assert_close(found[weight], gradient, rtol=2e-2, atol=1e-4 * float(gradient.abs().max() + 1e-6))
