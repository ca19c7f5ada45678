"""What every derived gradient has to meet: finite differences, and the reading of the equations that says the same."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.testing import assert_close


def assert_exact(
    fast: Callable[..., Tensor], slow: Callable[..., Tensor], leaves: Callable[[int], list[Tensor]]
) -> None:
    """A kernel gives what its plain reading gives, and derives the gradient of each of its ``leaves``, none left at 0.

    Against finite differences in full at sizes 1 and 3, in a random direction at 63; against the plain reading at all.
    """
    for size in (1, 3, 63):
        given = leaves(size)
        assert torch.autograd.gradcheck(fast, given, fast_mode=size == 63)
        outputs, expected = fast(*given), slow(*given)
        assert_close(outputs, expected, rtol=0, atol=1e-12)
        derived, plain = (torch.autograd.grad(y.sin().sum(), given) for y in (outputs, expected))
        assert_close(derived, plain, rtol=0, atol=1e-12)
        assert all(gradient.abs().sum() > 0 for gradient in derived)
