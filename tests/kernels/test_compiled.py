"""The steps in C: the mathematics of the torch operations beside them, whatever the sizes, wherever a row stands."""

import random
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels.cells import Cell, Gru, Lstm
from anaphora.kernels.compiled.library import available, run
from anaphora.kernels.compiled.loop import run_once
from anaphora.kernels.compiled.places import find_places
from anaphora.kernels.compiled.softmax import softmax_rows
from anaphora.kernels.eager import Eager
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.runtime import Runtime, running
from anaphora.kernels.softmax import softmax_loss

from .exactness import drawn, over_tensors

built = pytest.mark.skipif(not available(), reason="the library was not built: there is no C compiler")

CELLS: list[Cell] = [Lstm(), Gru(), Gru(update="new"), Gru(recurrent_bias=True)]


def products(cell: Cell, size: int, scale: float) -> Matmuls:
    weights = {f"unit.{name}": scale * drawn(len(blocks) * size, size) for name, blocks in cell.matmuls}
    weights |= {f"unit.{name}": drawn(size, seed=5) for name in cell.vectors}
    return Matmuls(weights, {}, recording=True)


def step(cell: Cell, x_1BG: Tensor, state: tuple[Tensor, ...], dstate: tuple[Tensor, ...]) -> list[Tensor]:
    """What a step gives, forward and back."""
    matmuls = products(cell, state[0].shape[-1], 0.3)
    ops = Eager(matmuls, "unit", x_1BG.shape[1])
    after, saved = cell.forward(ops, x_1BG, state)
    dx, dbefore = cell.backward(ops, saved, dstate)
    return [*after, dx, *dbefore, *matmuls.gradients().values()]


@built
@pytest.mark.parametrize("cell", CELLS, ids=str)
@settings(max_examples=15)
@given(rows=st.integers(0, 20), size=st.integers(1, 40), scale=st.sampled_from([0.1, 1.0, 30.0]))
def test_a_compiled_unit_takes_the_steps_of_torch(cell: Cell, rows: int, size: int, scale: float) -> None:
    x = scale * drawn(1, rows, cell.gates * size)
    state, dstate = (tuple(drawn(1, rows, size, seed=s + n) for n in range(len(cell.state))) for s in (1, 7))
    fast = step(cell, x, state, dstate)
    with running(Runtime(kernels="python")):
        plain = step(cell, x, state, dstate)
    assert_close(fast, plain, rtol=2e-5, atol=2e-6)


@built
@settings(max_examples=15)
@given(rows=st.integers(1, 20), size=st.integers(2, 70), biased=st.booleans(), scale=st.sampled_from([1.0, 50.0]))
def test_the_compiled_softmax_takes_the_steps_of_torch(rows: int, size: int, biased: bool, scale: float) -> None:
    leaves = [scale * drawn(rows, 6), drawn(size, 6), drawn(size if biased else 0)]
    targets = torch.arange(rows) % size

    def loss_and_gradients() -> list[Tensor]:
        own = [leaf.clone().requires_grad_() for leaf in leaves]
        loss = softmax_loss(own[0], own[1], own[2], targets, 0.1)
        return [loss, *torch.autograd.grad(loss, own, allow_unused=True)]

    fast = loss_and_gradients()
    with running(Runtime(kernels="python")):
        plain = loss_and_gradients()
    assert_close(fast, plain, rtol=2e-5, atol=2e-5)


EVERYWHERE = torch.cat(
    [torch.linspace(-100, 100, 400_001), torch.logspace(-30, 0, 5000), -torch.logspace(-30, 0, 5000)]
)
BOUND = 2.5e-7
"""Of the value: four roundings and the polynomial of the exponential, which is off by 3e-9."""


@built
@pytest.mark.parametrize(("function", "truth"), [("sigmoid", torch.sigmoid), ("tanh", torch.tanh)])
def test_the_gates_are_exact_to_single_precision_everywhere(function: str, truth: Callable[[Tensor], Tensor]) -> None:
    found, exact = torch.empty_like(EVERYWHERE), truth(EVERYWHERE.double())
    over_tensors(run_once)(f"{function}_rows", [found.view(1, 1, -1)], [EVERYWHERE.view(1, 1, -1)])
    # a sigmoid below the smallest normal number may be any number as small
    assert bool(((found.double() - exact).abs() <= BOUND * exact.abs() + 1e-37).all())
    assert bool((found.abs() <= 1).all())


@built
def test_the_exponentials_of_the_softmax_are_exact_to_single_precision() -> None:
    z = torch.cat([torch.zeros(1), -EVERYWHERE[::50].abs()])[None]
    dz = z.clone()
    top, s, right, mean = over_tensors(softmax_rows)(True, dz, torch.empty(0), torch.tensor([1]), None, 0.0).flatten()
    exact = z[0].double().exp()
    assert (top, right, mean) == (0, z[0, 1], 0) and float(s) == pytest.approx(float(exact.sum()), rel=2 * BOUND)
    rest = torch.arange(len(exact)) != 1  # all but the target
    found, exact = dz[0].double()[rest] * float(s), exact[rest]
    assert bool(((found - exact).abs() <= 2 * BOUND * exact + 1e-34).all())


@built
def test_a_target_that_is_no_word_is_refused_before_memory_is_touched() -> None:
    for target in (-1, 3):
        with pytest.raises(IndexError, match="0 to 2"):
            over_tensors(softmax_rows)(True, drawn(1, 3), torch.empty(0), torch.tensor([target]), None, 0.0)


@built
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_a_number_stays_none_and_infinity_saturates(bad: float) -> None:
    for cell in CELLS:
        x = torch.full((1, 1, cell.gates * 9), bad)
        state = tuple(torch.zeros(1, 1, 9) for _ in cell.state)
        after, _ = cell.forward(Eager(products(cell, 9, 0), "unit", 1), x, state)
        assert bool(after[0].isnan().all()) if bad != bad else bool(after[0].isfinite().all())


@built
def test_a_block_that_is_not_contiguous_is_refused_rather_than_misread() -> None:
    with pytest.raises(ValueError, match="contiguous"):
        run("limit_instructions", drawn(2, 4).T.numpy())


@built
@given(
    numbers=st.lists(st.integers(-(2**62), 2**62), max_size=70, unique=True).map(sorted),
    others=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20),
    draws=st.randoms(),
)
def test_keys_are_found_among_ascending_numbers(numbers: list[int], others: list[int], draws: random.Random) -> None:
    keys = [*others, *draws.sample(numbers, len(numbers) // 2)]
    draws.shuffle(keys)
    places = find_places(np.array(numbers, np.int64), np.array(keys, np.int64))
    assert places.tolist() == [numbers.index(key) if key in numbers else -1 for key in keys]
