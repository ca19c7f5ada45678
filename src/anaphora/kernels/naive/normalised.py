"""The second reading of units with layer normalisation: Ba, Kiros and Hinton 2016, section 3 and appendix.

Two units stand for all of them: what normalises does not know which unit it works for.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from anaphora.kernels.cells import Cell, Gru, Lstm
from anaphora.kernels.cells.recorded import State

Tensors = Mapping[str, Tensor]


def normalise(a_BW: Tensor, gain: Tensor) -> Tensor:
    """Ba, Kiros and Hinton 2016, equation 4, without the bias."""
    d = a_BW - a_BW.mean(dim=-1, keepdim=True)
    return gain * d / torch.sqrt((d * d).mean(dim=-1, keepdim=True) + 1e-5)


def normalised_lstm_step(cell: Lstm, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """Return the normalised LSTM of the appendix, with the cell as it is on its way out."""
    h, c = before
    a_i, a_f, a_g, a_o = (a_BG + normalise(h @ weights["h"].T, weights["h_gain"])).chunk(4, dim=-1)
    c = torch.sigmoid(a_f) * c + torch.sigmoid(a_i) * torch.tanh(a_g)
    return torch.sigmoid(a_o) * torch.tanh(c), c


def normalised_gru_step(cell: Gru, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """The normalised GRU of the appendix, with both axes of the unit; what is one product is normalised as one."""
    (h,) = before
    a_r, a_z, a_g = a_BG.chunk(3, dim=-1)
    u = normalise(h @ weights["h"].T, weights["h_gain"]) + weights.get("condition", 0)
    u_r, u_z, *u_g = u.chunk(len(weights["h"]) // h.shape[-1], dim=-1)
    r, z = torch.sigmoid(a_r + u_r), torch.sigmoid(a_z + u_z)
    if cell.reset == "before":
        g = torch.tanh(a_g + normalise((r * h) @ weights["rh"].T, weights["rh_gain"]))
    else:
        g = torch.tanh(a_g + r * (u_g[0] + (weights["bias"] if cell.recurrent_bias else 0)))
    return (z * g + (1 - z) * h if cell.update == "new" else z * h + (1 - z) * g,)


NORMALISED_UNITS: dict[type[Cell], Callable[..., State]] = {Lstm: normalised_lstm_step, Gru: normalised_gru_step}
"""The step of the units that have a normalised reading."""
