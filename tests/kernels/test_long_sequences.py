"""Sums over thousands of steps in single precision, beside the same in double precision."""

import math
from collections.abc import Callable, Mapping, Sequence

import pytest
import torch
from torch import Tensor

from anaphora.kernels.cells import Cell, Gru, Lstm
from anaphora.kernels.densities import MixtureShape
from anaphora.kernels.losses import label_loss, squared_error
from anaphora.kernels.mixture import mixture_loss
from anaphora.kernels.parts import Add, Project, Unit, previous
from anaphora.kernels.penalties import change_penalty, doubly_stochastic, guidance, size_penalty
from anaphora.kernels.pooling import attention_pool, mean_pool
from anaphora.kernels.program import Program
from anaphora.kernels.runtime import Runtime, running
from anaphora.kernels.scan import scan
from anaphora.kernels.softmax import softmax_loss
from anaphora.kernels.window import GaussianWindow, Move

from .exactness import drawn

STEPS = 5000
LENGTHS_B = torch.tensor([STEPS, STEPS - 7])
MASK_BT = torch.arange(STEPS) < LENGTHS_B.unsqueeze(1)
DENSITY = MixtureShape(3, 2, True, 0.01)


def distance(single: Tensor, double: Tensor) -> float:
    """The greatest difference, as a fraction of the greatest number."""
    return float((single.double() - double).abs().max() / double.abs().max())


def farthest(compute: Callable[..., Sequence[Tensor]], *leaves: Tensor) -> tuple[float, float]:
    """How far results and gradients in single precision are from those in double precision."""
    found = []
    for dtype in (torch.float32, torch.float64):
        given = [leaf.to(dtype).requires_grad_() for leaf in leaves]
        results = compute(*given)
        total = torch.stack([(one * drawn(*one.shape).to(one)).sum() for one in results]).sum()
        gradients = torch.autograd.grad(total, given, allow_unused=True)
        found.append(([one.detach() for one in results], [one for one in gradients if one is not None]))
    return tuple(max(map(distance, *both)) for both in zip(*found, strict=True))  # type: ignore[return-value]


SHARES_TBS = torch.softmax(3 * drawn(STEPS, 2, 20), 2)
LINKS_TBS = torch.softmax(3 * drawn(STEPS, 2, 20, seed=1), 2)
LOSSES: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...]]] = {
    "doubly-stochastic": (lambda a: doubly_stochastic(a, LENGTHS_B, torch.tensor([20, 11])), (SHARES_TBS,)),
    "guidance": (lambda a: guidance(a, LINKS_TBS.to(a)), (SHARES_TBS,)),
    "size": (lambda h: size_penalty(h, LENGTHS_B), (1 + drawn(STEPS, 2, 10),)),
    "change": (lambda h: change_penalty(h, LENGTHS_B), (1 + drawn(STEPS, 2, 10),)),
    "mean": (lambda h: mean_pool(h, MASK_BT), (1 + drawn(2, STEPS, 10),)),
    "attention": (lambda h, e: attention_pool(h, e, MASK_BT), (1 + drawn(2, STEPS, 10), drawn(2, STEPS))),
    "mixture": (lambda p: mixture_loss(p, drawn(STEPS, 2).to(p), DENSITY), (drawn(STEPS, DENSITY.width),)),
    "squared": (lambda y: squared_error(y, drawn(STEPS, 3, seed=1).to(y)), (drawn(STEPS, 3),)),
    "labels": (lambda z: label_loss(z, (drawn(STEPS, 3, seed=1) > 0).to(z)), (drawn(STEPS, 3),)),
    "softmax": (
        lambda h, w, b: softmax_loss(h, w, b, torch.arange(STEPS) % 9, 0.0, None),
        (drawn(STEPS, 4), drawn(9, 4), drawn(9)),
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_over_thousands_of_steps_is_as_exact_as_one_step(name: str) -> None:
    loss, leaves = LOSSES[name]
    of_results, of_gradients = farthest(lambda *given: [loss(*given)], *leaves)
    assert of_results < 1e-6
    assert of_gradients < 1e-5


def scanned(
    program: Program, first: Mapping[str, Tensor], names: Sequence[str], memory: Mapping[str, Tensor]
) -> Callable[..., list[Tensor]]:
    """What a program returns for its input x and its weights of these names, in C where that can be."""

    def compute(x_TBX: Tensor, *weights: Tensor) -> list[Tensor]:
        state = {name: zero.to(x_TBX) for name, zero in first.items()}
        sentences = {name: one.to(x_TBX) if one.is_floating_point() else one for name, one in memory.items()}
        with running(Runtime(backend="gemm", training=True)):
            found = scan(program, {"x": x_TBX}, state, dict(zip(names, weights, strict=True)), sentences, LENGTHS_B)
        return list(found.outputs.values())

    return compute


@pytest.mark.slow
@pytest.mark.parametrize("cell", [Lstm(), Gru()], ids=str)
def test_gradients_through_thousands_of_steps_are_exact(cell: Cell) -> None:
    size = 8
    program = Program((Project("in", "x", "a", True), Unit("unit", cell, ("a",))), ("unit.h",))
    weights = {"in.weight": drawn(cell.gates * size, 3) / 3, "in.bias": drawn(cell.gates * size, seed=1) / 9}
    weights |= {f"unit.{name}": drawn(len(blocks) * size, size, seed=2) / 8 for name, blocks in cell.matmuls}
    compute = scanned(program, {f"unit.{name}": torch.zeros(2, size) for name in cell.state}, [*weights], {})
    of_results, of_gradients = farthest(compute, drawn(STEPS, 2, 3), *weights.values())
    assert of_results < 1e-5
    assert of_gradients < 1e-5


def test_coverage_of_thousands_of_steps_is_exact() -> None:
    program = Program((Add("coverage", (previous("coverage"), "x"), "coverage"),), ("coverage",))
    compute = scanned(program, {"coverage": torch.zeros(2, 20)}, [], {})
    assert max(farthest(compute, SHARES_TBS)) < 1e-4


@pytest.mark.slow
def test_a_window_that_moves_for_thousands_of_steps_is_where_it_should_be() -> None:
    positions = 250  # the window ends at about position 240, which single precision knows to 2e-5
    parts = (Project("w", "x", "hat", False), Move("move", "hat"), GaussianWindow("window", "hat"))
    memory = {
        "window.values": drawn(2, positions, 2),
        "window.closed": torch.zeros(2, positions, dtype=torch.bool),
        "window.length": torch.tensor([[positions], [positions]]),
    }
    x_TBX = drawn(STEPS, 2, 3) / 3 + torch.tensor([0.0, 0.5, math.log(0.045)])
    for returned, within in (("kappa", 1e-5), ("context", 2e-3)):
        compute = scanned(Program(parts, (returned,)), {"kappa": torch.zeros(2, 1)}, ["w.weight"], memory)
        assert max(farthest(compute, x_TBX, torch.eye(3))) < within
