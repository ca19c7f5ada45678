"""A unit that is given its sentence beside its recurrent product: exact gradients, and the naive reading."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from anaphora.kernels.cells import Gru
from anaphora.kernels.naive.units import gru_step
from anaphora.kernels.parts import Project, Unit
from anaphora.kernels.program import Program
from anaphora.kernels.scan import scan

from .exactness import assert_exact

LENGTHS = torch.tensor([1, 3])
UPDATES = pytest.mark.parametrize("cell", [Gru(), Gru(update="new", recurrent_bias=True)], ids=["keep", "new-b"])


def leaves(cell: Gru, size: int) -> dict[str, Tensor]:
    source = torch.Generator().manual_seed(6)
    shapes = {"x": (3, 2, size), "first": (2, size), "condition": (2, 3 * size)}
    shapes |= {"input0.weight": (3 * size, size), "layer0.h": (3 * size, size)}
    shapes |= {f"layer0.{name}": (size,) for name in cell.vectors}
    drawn = {name: torch.randn(shape, generator=source, dtype=torch.float64) for name, shape in shapes.items()}
    return {name: (leaf / leaf.shape[-1] ** 0.5).requires_grad_() for name, leaf in drawn.items()}


def fast(cell: Gru, named: dict[str, Tensor]) -> Tensor:
    program = Program(
        (Project("input0", "x", "a", False), Unit("layer0", cell, ("a",), conditioned=True)),
        ("layer0.h",),
    )
    weights = {name: leaf for name, leaf in named.items() if "." in name}
    condition = {"layer0.condition": named["condition"]}
    return scan(program, {"x": named["x"]}, {"layer0.h": named["first"]}, weights, condition, LENGTHS).outputs[
        "layer0.h"
    ]


def slow(cell: Gru, named: dict[str, Tensor]) -> Tensor:
    weights = {name.removeprefix("layer0."): leaf for name, leaf in named.items() if name.startswith("layer0.")}
    h, steps = named["first"], []
    for t, x_BD in enumerate(named["x"]):
        (h,) = gru_step(cell, x_BD @ named["input0.weight"].T, (h,), weights | {"condition": named["condition"]})
        steps.append(torch.where((t < LENGTHS).unsqueeze(1), h, 0))
    return torch.stack(steps)


@UPDATES
def test_values_and_gradients_are_exact(cell: Gru) -> None:
    names = list(leaves(cell, 1))

    def by_name(reading: Callable[[Gru, dict[str, Tensor]], Tensor]) -> Callable[..., Tensor]:
        return lambda *tensors: reading(cell, dict(zip(names, tensors, strict=True)))

    assert_exact(by_name(fast), by_name(slow), lambda size: list(leaves(cell, size).values()))


def test_a_reset_gate_that_is_shut_hides_what_the_unit_is_conditioned_on() -> None:
    cell, size = Gru(update="new"), 4
    named = {name: leaf.detach() for name, leaf in leaves(cell, size).items()}
    named["condition"][:, :size] = -1e3
    named["condition"][:, size : 2 * size] = 1e3
    other = named | {"condition": named["condition"].clone()}
    other["condition"][:, 2 * size :] += 5
    assert torch.equal(fast(cell, named), fast(cell, other))
