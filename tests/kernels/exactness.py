"""What every kernel has to meet: finite differences, the reading of the equations that says the same, and bits."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import Parameter
from torch.testing import assert_close

from anaphora.kernels.backends import Backend, runs_in_c, without_c
from anaphora.kernels.cells import Lstm
from anaphora.kernels.parts import Project, Unit
from anaphora.kernels.program import Program
from anaphora.kernels.scan import scan
from anaphora.kernels.softmax import softmax_loss


def drawn(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Normal numbers, always the same of a shape and a seed."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def over_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function of arrays, over tensors of the same memory."""

    def changed(value: Any) -> Any:
        if isinstance(value, tuple | list):
            return type(value)(map(changed, value))
        return value.numpy() if isinstance(value, Tensor) else value

    def call(*arguments: Any) -> Any:
        found = function(*map(changed, arguments))
        if isinstance(found, tuple):
            return tuple(map(torch.from_numpy, found))
        return torch.from_numpy(found) if isinstance(found, np.ndarray) else found

    return call


doubles = partial(drawn, dtype=torch.float64)


def added(weight: Parameter) -> None:
    weight.add_(1)


def replaced(weight: Parameter) -> None:
    weight.data = weight.data + 1


def stepped(weight: Parameter) -> None:
    weight.grad = -torch.ones_like(weight)
    torch.optim.SGD([weight], lr=1.0, fused=True).step()  # torch counts no change of it


BACKENDS = [backend for backend in get_args(Backend) if backend == without_c(backend) or runs_in_c(backend)]
"""Those that are here."""
EACH_OF_TRAINING = pytest.mark.parametrize("backend", [backend for backend in BACKENDS if "int8" not in backend])
CHANGES = (added, replaced)
"""Ways in which a weight gets other values, each by 1, that torch counts."""


def leaves_of(*shapes: tuple[int, ...], seed: int = 6) -> list[Tensor]:
    """Tensors in double precision with gradients, of about the size that weights have."""
    numbers = [drawn(*shape, seed=seed + place, dtype=torch.float64) for place, shape in enumerate(shapes)]
    return [tensor.div_(tensor.shape[-1] ** 0.5).requires_grad_() for tensor in numbers]


def small_network() -> tuple[list[Tensor], Callable[[], Tensor]]:
    """The weights of a small recurrent network, and its loss."""
    program = Program((Project("in", "x", "a", True), Unit("cell", Lstm(), ("a",))), ("cell.h",))
    shapes = {"in.weight": (64, 24), "in.bias": (64,), "cell.h": (64, 16)}
    weights = {name: drawn(*shape, seed=n).mul_(0.3) for n, (name, shape) in enumerate(shapes.items())}
    output, first = drawn(40, 16, seed=8), {name: torch.zeros(3, 16) for name in program.carried}

    def loss() -> Tensor:
        scanned = scan(program, {"x": drawn(9, 3, 24, seed=9)}, first, weights, {}, torch.tensor([7, 9, 2]))
        h_NH = scanned.outputs["cell.h"].flatten(0, 1)
        return softmax_loss(h_NH, output, torch.empty(0), torch.arange(27) % 40, 0.1)

    return [leaf.requires_grad_() for leaf in (*weights.values(), output)], loss


Reading = Callable[..., Tensor]


@dataclass(frozen=True)
class Kernel:
    """Both readings as functions of all tensors that have gradients, which ``leaves`` draws at a size."""

    fast: Reading
    slow: Reading
    leaves: Callable[[int], Sequence[Tensor]]
    unseen: Callable[[Tensor], Tensor] | None = None
    """Where the first leaf is never looked at."""
    filling: float = torch.nan


def ended(block_TBX: Tensor, lengths_B: Tensor) -> Tensor:
    return (torch.arange(len(block_TBX)).unsqueeze(1) >= lengths_B).unsqueeze(-1)


def assert_same_bits(found: Any, expected: Any) -> None:
    assert_close(found, expected, rtol=0, atol=0)


def gradients(outputs: Tensor, leaves: Iterable[Tensor], **options: bool) -> tuple[Tensor, ...]:
    return torch.autograd.grad(outputs.sin().sum(), [*leaves], **options)
