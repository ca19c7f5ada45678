"""The bias of step 1 of ``kernels/softmax.py``, and step 2: see ``softmax.c``."""

from torch import Tensor

from anaphora.kernels.compiled.library import run


def softmax_exponentials(z_NV: Tensor, bias_V: Tensor) -> tuple[Tensor, Tensor]:
    """max z and s (N x 1); ``z_NV``, without its bias (of no elements for none), becomes q."""
    top, s = z_NV.new_empty(len(z_NV), 1), z_NV.new_empty(len(z_NV), 1)
    run("softmax_exponentials", *z_NV.shape, bias_V if bias_V.numel() else 0, z_NV, top, s)
    return top, s
