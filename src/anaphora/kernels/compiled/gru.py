"""Steps 1 to 4 of ``cells/gru.py`` with reset "after", after the recurrent product, and back: see ``gru.c``."""

from torch import Tensor

from anaphora.kernels.compiled.library import rows_of, run


def gru_forward(uh_BG: Tensor, x_BG: Tensor, h_before_BH: Tensor, keep: bool) -> tuple[Tensor, Tensor]:
    """g and h, each ... x H; ``uh_BG``, the recurrent product with its bias, becomes r, z and u.

    ``keep``: whether an update gate of 1 keeps the old value.
    """
    g, h = h_before_BH.new_empty(h_before_BH.shape), h_before_BH.new_empty(h_before_BH.shape)
    run("gru_forward", *rows_of(h), int(keep), uh_BG, x_BG.contiguous(), h_before_BH.contiguous(), g, h)
    return g, h


def gru_backward(
    gates_BG: Tensor, g_BH: Tensor, h_before_BH: Tensor, dh_BH: Tensor, keep: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """dx, the gradient of U h_{t-1} (both ... x 3 H), and dh_{t-1} without what comes back through U (... x H)."""
    dx, duh, dh_before = (
        gates_BG.new_empty(gates_BG.shape),
        gates_BG.new_empty(gates_BG.shape),
        g_BH.new_empty(g_BH.shape),
    )
    states = (g_BH, h_before_BH.contiguous(), dh_BH.contiguous())
    run("gru_backward", *rows_of(g_BH), int(keep), gates_BG, *states, dx, duh, dh_before)
    return dx, duh, dh_before
