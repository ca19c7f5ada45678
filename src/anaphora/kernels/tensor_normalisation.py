"""Layer normalisation of tensors: steps 1 to 3 of ``normalisation.py``, forward and back."""

from typing import NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.normalisation import EPSILON


class Normal(NamedTuple):
    """A block as it was before steps 1 to 3, and what going back needs."""

    a: Tensor
    mean: Tensor
    """Of each row, with 1 as its width."""
    inverse: Tensor
    """1 / s of each row, the same."""


def normal(a_XBW: Tensor, gain_W: Tensor, bias_W: Tensor | None = None) -> tuple[Tensor, Normal]:
    """Steps 1 to 3, and what to keep of them; the bits of a row depend on that row alone."""
    y_XBW, *rows = torch.native_layer_norm(a_XBW, a_XBW.shape[-1:], gain_W, bias_W, EPSILON)
    return y_XBW, Normal(a_XBW, *rows)


def normal_back(saved: Normal, dy_XBW: Tensor, gain_W: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradients da and dgain, by torch's reading of what ``kernels/README.md`` derives, in one pass.

    da = (dn - mean(dn) - n * mean(dn * n)) / s with dn = dy * gain; dgain is the sum of dy * n over all rows.
    """
    a_XBW, mean_XB1, inverse_XB1 = saved
    da_XBW, dgain_W, _ = torch.ops.aten.native_layer_norm_backward(
        dy_XBW, a_XBW, a_XBW.shape[-1:], mean_XB1, inverse_XB1, gain_W, None, [True, True, False]
    )
    return da_XBW, dgain_W
