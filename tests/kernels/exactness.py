"""What every kernel has to meet: finite differences, the reading of the equations that says the same, and bits."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.testing import assert_close


def drawn(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Normal numbers, always the same of a shape and a seed."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def leaves_of(*shapes: tuple[int, ...], seed: int = 6) -> list[Tensor]:
    """Tensors in double precision with gradients, of about the size that weights have."""
    numbers = [drawn(*shape, seed=seed + place, dtype=torch.float64) for place, shape in enumerate(shapes)]
    return [tensor.div_(tensor.shape[-1] ** 0.5).requires_grad_() for tensor in numbers]


def assert_same_bits(found: Any, expected: Any) -> None:
    assert_close(found, expected, rtol=0, atol=0)


def gradients(outputs: Tensor, leaves: Iterable[Tensor], **options: bool) -> tuple[Tensor, ...]:
    return torch.autograd.grad(outputs.sin().sum(), [*leaves], **options)


def assert_exact(
    fast: Callable[..., Tensor], slow: Callable[..., Tensor], leaves: Callable[[int], Sequence[Tensor]]
) -> None:
    """A kernel gives what its plain reading gives, and derives the gradient of each of its ``leaves``, none left at 0.

    Against finite differences in full at sizes 1 and 3, in a random direction at 63; against the plain reading at all.
    """
    for size in (1, 3, 63):
        given = leaves(size)
        assert torch.autograd.gradcheck(fast, tuple(given), fast_mode=size == 63)
        outputs, expected = fast(*given), slow(*given)
        assert_close(outputs, expected, rtol=1e-12, atol=1e-12)
        derived, plain = gradients(outputs, given), gradients(expected, given)
        assert_close(derived, plain, rtol=1e-11, atol=1e-11)
        assert all(gradient.abs().sum() > 0 for gradient in derived)
