"""Truncation by windows: the definition, step by step, against the one wide scan."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.errors import ShapeError
from anaphora.kernels.cells import Cell, Lstm
from anaphora.kernels.truncation import scan_windows
from anaphora.nn.dropout import AnyDropout
from tests.kernels import naive
from tests.runtimes import threads

from .conftest import DROPPED, UNDROPPED, VARIATIONAL
from .exactness import doubles

STEPS = 4
ALL = pytest.mark.parametrize("back", [0, 2, STEPS - 1, STEPS, 10])


def windows(network: Any, back: int, **changed: Tensor) -> dict[str, Tensor]:
    return network.through(partial(scan_windows, back=back), **changed)


def by_definition(network: Any, back: int, factors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Every step has copies of all that it looks at, and L_t counts the copies of the steps t - back .. t alone."""
    output = network.program.returns[0]
    copies: list[dict[str, Tensor]] = []
    losses: list[Tensor] = []
    state = network.first(network.leaves)
    for t, x_BD in enumerate(network.leaves["x"]):
        here = {n: w.detach().clone().requires_grad_() for n, w in network.weights(network.leaves).items()}
        here["x"] = x_BD.detach().clone().requires_grad_()
        there_B = (network.lengths_B > t).long()
        masks = {name: mask[t : t + 1] for name, mask in network.naive_masks().items()}
        walked = naive.stack(network.cell, here["x"].unsqueeze(0), there_B, state, here, masks)
        state = walked.state
        copies.append(here)
        ends_B1 = (network.lengths_B == t + 1).unsqueeze(1)
        loss = (walked.outputs["h"][0] * factors[output][t]).sum()
        losses.append(loss + sum((state[n] * factors[f"last {n}"] * ends_B1).sum() for n in state))

    total = {name: torch.zeros_like(leaf) for name, leaf in network.leaves.items()}
    for t, loss in enumerate(losses):
        for s in range(max(0, t - back), t + 1):
            of_step = torch.autograd.grad(loss, list(copies[s].values()), retain_graph=True, materialize_grads=True)
            for name, gradient in zip(copies[s], of_step, strict=True):
                (total[name][s] if name == "x" else total[name]).add_(gradient)
        if t < back:
            first = {name: leaf for name, leaf in network.leaves.items() if name.startswith("first ")}
            of_first = torch.autograd.grad(loss, list(first.values()), retain_graph=True, materialize_grads=True)
            for name, gradient in zip(first, of_first, strict=True):
                total[name] += gradient
    return total


def gradients(network: Any, outputs: dict[str, Tensor], factors: dict[str, Tensor]) -> dict[str, Tensor]:
    loss = sum((block * factors[name]).sum() for name, block in outputs.items())
    found = torch.autograd.grad(loss, list(network.leaves.values()), materialize_grads=True)  # type: ignore[arg-type]
    return dict(zip(network.leaves, found, strict=True))


@pytest.mark.matrix
@ALL
@pytest.mark.parametrize("dropout", [UNDROPPED, DROPPED], ids=["plain", "masked"])
def test_every_loss_goes_back_over_its_own_window(cell: Cell, back: int, dropout: AnyDropout, layers: Callable) -> None:
    network = layers(cell, 5, height=2, lengths=(2, STEPS, 1, 3), dropout=dropout)
    outputs = windows(network, back)
    factors = {name: doubles(*block.shape, seed=len(name)) for name, block in outputs.items()}
    assert_close(gradients(network, outputs, factors), by_definition(network, back, factors), rtol=0, atol=1e-11)


@pytest.mark.matrix
@ALL
def test_the_outputs_are_those_of_a_scan(cell: Cell, back: int, layers: Callable) -> None:
    network = layers(cell, 5, height=2, lengths=(2, STEPS, 1, 3), residual=True, layer_norm=True, dropout=VARIATIONAL)
    assert_close(windows(network, back), network.fast(), rtol=0, atol=1e-12)


def test_gradients_have_the_same_bits_every_time_on_two_threads(layers: Callable) -> None:
    """A position is in several windows: threads that add up its gradient must not race each other."""
    network = layers(Lstm(), 24, lengths=(12,) * 128).to(torch.float32)
    output, x = network.program.returns[0], network.leaves["x"].requires_grad_()
    assert x.numel() > 1 << 15  # what fewer threads than two take
    with threads(2):
        found = [torch.autograd.grad(windows(network, 3, x=x)[output].sin().sum(), x)[0] for _ in range(3)]
    assert all(torch.equal(found[0], other) for other in found)


def test_padding_full_of_nan_changes_nothing(layers: Callable) -> None:
    network = layers(Lstm(), 5, lengths=(2, STEPS, 1))
    poisoned = network.poisoned()
    poisoned.assert_same(windows(poisoned, 1), windows(network, 1), atol=0, gradient_atol=0, of=network)


def test_it_refuses_what_a_scan_refuses(layers: Callable) -> None:
    network = layers(Lstm(), 5)
    with pytest.raises(ShapeError, match="between 1 and T=4"):
        windows(replace(network, lengths_B=torch.tensor([4, 5, 1])), 1)
