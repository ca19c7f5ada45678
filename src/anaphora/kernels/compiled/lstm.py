"""Steps 1 to 5 of ``cells/lstm.py`` after the recurrent product, and back: see ``lstm.c``."""

from torch import Tensor

from anaphora.kernels.compiled.library import rows_of, run


def lstm_forward(uh_BG: Tensor, x_BG: Tensor, c_before_BH: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """c, m and h, each ... x H; ``uh_BG``, the recurrent product, becomes the gates."""
    c, m, h = (c_before_BH.new_empty(c_before_BH.shape) for _ in range(3))
    run("lstm_forward", *rows_of(c), uh_BG, x_BG.contiguous(), c_before_BH.contiguous(), c, m, h)
    return c, m, h


def lstm_backward(
    gates_BG: Tensor, c_before_BH: Tensor, m_BH: Tensor, dh_BH: Tensor, dc_BH: Tensor
) -> tuple[Tensor, Tensor]:
    """da (... x 4 H) and dc_{t-1} (... x H)."""
    da, dc_before = gates_BG.new_empty(gates_BG.shape), m_BH.new_empty(m_BH.shape)
    states = (c_before_BH.contiguous(), m_BH, dh_BH.contiguous(), dc_BH.contiguous())
    run("lstm_backward", *rows_of(m_BH), gates_BG, *states, da, dc_before)
    return da, dc_before
