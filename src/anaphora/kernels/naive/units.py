"""The second reading of every unit: one step, written as in its paper and differentiated by autograd.

The projected input a = W x + b, the state before, and the unit's own weights give the state after. ``parts.py`` takes
these steps in a program.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from anaphora.kernels.cells import Cell, Elman, Gru, Lstm, Peephole, lstm_variants
from anaphora.kernels.cells.light import MinGru, MinLstm, Qrnn, Sru, Ssru
from anaphora.kernels.cells.mogrifier import Mogrifier
from anaphora.kernels.cells.multiplicative import Multiplicative
from anaphora.kernels.cells.recorded import AutogradCell, State

Tensors = Mapping[str, Tensor]


def elman_step(cell: Elman, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """h_t = f(a + W_h h_{t-1}) (Elman 1990)."""
    (h,) = before
    return (_FUNCTIONS[cell.activation](a_BG + h @ weights["h"].T),)


def lstm_step(cell: Lstm, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """Zaremba, Sutskever and Vinyals 2014, section 3, with the gates in the order i, f, g, o."""
    h, c = before
    a_i, a_f, a_g, a_o = (a_BG + h @ weights["h"].T).chunk(4, dim=-1)
    i, f, o = sigmoid(a_i), sigmoid(a_f), sigmoid(a_o)
    g = torch.tanh(a_g)
    c = f * c + i * g
    return o * torch.tanh(c), c


def lstm_additive_step(cell: Cell, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """c_t = c_{t-1} + g and h_t = c_t."""
    (c,) = before
    return (c + torch.tanh(a_BG + c @ weights["h"].T),)


def lstm_input_step(cell: Cell, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """c_t = c_{t-1} + i * g and h_t = c_t, with the blocks in the order i, g."""
    (c,) = before
    a_i, a_g = (a_BG + c @ weights["h"].T).chunk(2, dim=-1)
    return (c + sigmoid(a_i) * torch.tanh(a_g),)


def two_gate_step(cell: Cell, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """h_t = f * h_{t-1} + i * g, with the blocks in the order i, f, g."""
    (h,) = before
    a_i, a_f, a_g = (a_BG + h @ weights["h"].T).chunk(3, dim=-1)
    return (sigmoid(a_f) * h + sigmoid(a_i) * torch.tanh(a_g),)


def lstm_no_output_tanh_step(cell: Cell, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """Return the LSTM with h_t = o * c_t."""
    h, c = before
    a_i, a_f, a_g, a_o = (a_BG + h @ weights["h"].T).chunk(4, dim=-1)
    c = sigmoid(a_f) * c + sigmoid(a_i) * torch.tanh(a_g)
    return sigmoid(a_o) * c, c


def lstm_no_forget_step(cell: Cell, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """Return the LSTM with f = 1, and the other gates in the order i, g, o."""
    h, c = before
    a_i, a_g, a_o = (a_BG + h @ weights["h"].T).chunk(3, dim=-1)
    c = c + sigmoid(a_i) * torch.tanh(a_g)
    return sigmoid(a_o) * torch.tanh(c), c


def peephole_step(cell: Peephole, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """Graves 2013, equations 7 to 11, with the gates in the order i, f, g, o."""
    h, c = before
    a_i, a_f, a_g, a_o = (a_BG + h @ weights["h"].T).chunk(4, dim=-1)
    if cell.peephole == "full":
        P_i, P_f = weights["c"].chunk(2)
        P_o = weights["c_new"]
    else:
        P_i, P_f, P_o = (torch.diag(weights[name]) for name in ("c_i", "c_f", "c_o"))
    i, f = sigmoid(a_i + c @ P_i.T), sigmoid(a_f + c @ P_f.T)
    c = f * c + i * torch.tanh(a_g)
    o = sigmoid(a_o + c @ P_o.T)
    return o * torch.tanh(c), c


def multiplicative_step(cell: Multiplicative, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """Sutskever, Martens and Hinton 2011, equations 7 and 8, with W_mx x_t in front of W_hx x_t."""
    (h,) = before
    x_m, x_h = a_BG.chunk(2, dim=-1)
    m = x_m * (h @ weights["h"].T)
    return (torch.tanh(x_h + m @ weights["m"].T),)


def gru_step(cell: Gru, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """Cho et al. 2014, equations 5 to 8, with the gates in the order r, z, g and both axes of the literature.

    ``condition`` is C c of the decoder there (appendix A.1.2), beside every recurrent product.
    """
    (h,) = before
    a_r, a_z, a_g = a_BG.chunk(3, dim=-1)
    c_r, c_z, c_g = weights["condition"].chunk(3, dim=-1) if "condition" in weights else (0, 0, 0)
    if cell.reset == "before":
        U_r, U_z = weights["h"].chunk(2)
        U_g = weights["rh"]
    else:
        U_r, U_z, U_g = weights["h"].chunk(3)
    r = sigmoid(a_r + h @ U_r.T + c_r)
    z = sigmoid(a_z + h @ U_z.T + c_z)
    if cell.reset == "before":
        g = torch.tanh(a_g + (r * h) @ U_g.T)
    else:
        b = weights["bias"] if cell.recurrent_bias else 0
        g = torch.tanh(a_g + r * (h @ U_g.T + c_g + b))
    if cell.update == "new":
        return (z * g + (1 - z) * h,)
    return (z * h + (1 - z) * g,)


def mogrifier_step(cell: Mogrifier, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """Melis et al. 2020, equations 1 and 2, and the LSTM of their section 2."""
    x, (h, c) = a_BG, before
    for n in range(1, cell.rounds + 1):
        gated = sigmoid(h @ weights[f"q{n}"].T) * x if n % 2 else sigmoid(x @ weights[f"r{n}"].T) * h
        x, h = (gated + gated, h) if n % 2 else (x, gated + gated)
    a_i, a_f, a_g, a_o = (x @ weights["x"].T + h @ weights["h"].T).chunk(4, dim=-1)
    i, f, o = sigmoid(a_i + weights["b_i"]), sigmoid(a_f + weights["b_f"]), sigmoid(a_o + weights["b_o"])
    c = f * c + i * torch.tanh(a_g + weights["b_g"])
    return o * torch.tanh(c), c


def ssru_step(cell: Ssru | MinGru, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """Kim et al. 2019, section 3.1, and Feng et al. 2024, section 3.1, where z is 1 - f; the blocks are g, f."""
    a_g, a_f = a_BG.chunk(2, dim=-1)
    f = sigmoid(a_f)
    c = f * before[-1] + (1 - f) * a_g
    return (c,) if isinstance(cell, MinGru) else (c.clamp(min=0), c)


def sru_step(cell: Sru, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """Lei et al. 2018, equations 1 to 4, with the blocks in the order g, f, r, and x beside them."""
    a_g, a_f, a_o, x = a_BG.chunk(4, dim=-1)
    f = sigmoid(a_f + before[1] * weights["v_f"])
    r = sigmoid(a_o + before[1] * weights["v_o"])
    c = f * before[1] + (1 - f) * a_g
    return r * c + (1 - r) * x, c


def qrnn_step(cell: Qrnn, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """Bradbury et al. 2017, equations 2 and 4: what the filter gives of the step before was handed on."""
    _, c, *far = before
    a_g, a_f, a_o, *ahead = a_BG.chunk(3 * cell.width, dim=-1)
    if far:
        a_g, a_f, a_o = a_g + far[0], a_f + far[1], a_o + far[2]
    f = sigmoid(a_f)
    c = f * c + (1 - f) * torch.tanh(a_g)
    return sigmoid(a_o) * c, c, *ahead


def min_lstm_step(cell: MinLstm, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """Feng et al. 2024, section 3.2, with the blocks in the order g, f, i."""
    a_g, a_f, a_i = a_BG.chunk(3, dim=-1)
    f, i = sigmoid(a_f), sigmoid(a_i)
    return (f / (f + i) * before[0] + i / (f + i) * a_g,)


UNITS: dict[type[Cell], Callable[..., State]] = {
    Elman: elman_step,
    Lstm: lstm_step,
    lstm_variants.LstmAdditive: lstm_additive_step,
    lstm_variants.LstmInput: lstm_input_step,
    lstm_variants.LstmForget: two_gate_step,
    lstm_variants.LstmNoOutputTanh: lstm_no_output_tanh_step,
    lstm_variants.LstmNoForget: lstm_no_forget_step,
    Peephole: peephole_step,
    Gru: gru_step,
    lstm_variants.TwoGate: two_gate_step,
    Multiplicative: multiplicative_step,
    Mogrifier: mogrifier_step,
    Ssru: ssru_step,
    Sru: sru_step,
    Qrnn: qrnn_step,
    MinGru: ssru_step,
    MinLstm: min_lstm_step,
}
"""The step of each unit that has a derived gradient."""


def normalise(a_BW: Tensor, gain: Tensor) -> Tensor:
    """Layer normalisation (Ba, Kiros and Hinton 2016, equation 4) without the bias."""
    d = a_BW - a_BW.mean(dim=-1, keepdim=True)
    return gain * d / torch.sqrt((d * d).mean(dim=-1, keepdim=True) + 1e-5)


def normalised_lstm_step(cell: Lstm, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """LSTM with layer normalisation (Ba, Kiros and Hinton 2016, appendix), which leaves c as it is."""
    h, c = before
    a_i, a_f, a_g, a_o = (a_BG + normalise(h @ weights["h"].T, weights["h_gain"])).chunk(4, dim=-1)
    c = torch.sigmoid(a_f) * c + torch.sigmoid(a_i) * torch.tanh(a_g)
    return torch.sigmoid(a_o) * torch.tanh(c), c


def normalised_gru_step(cell: Gru, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """GRU with layer normalisation (the same appendix) in all its variants; each matrix product is normalised once."""
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
"""The step of the units that have a reading with layer normalisation; the two stand for all, which it treats alike."""


def unit_step(cell: Cell, a_BG: Tensor, before: State, weights: Tensors) -> State:
    """Return one step of any unit; one without a derived gradient is its own naive reading."""
    if isinstance(cell, AutogradCell):
        return cell.step(a_BG, before, _Weights(weights))
    return UNITS[type(cell)](cell, a_BG, before, weights)


class _Weights:
    """The weights of a unit as it asks for them."""

    def __init__(self, weights: Tensors) -> None:
        self._weights = weights

    def times(self, name: str, a_XBK: Tensor) -> Tensor:
        return a_XBK @ self._weights[name].T

    def vector(self, name: str) -> Tensor:
        return self._weights[name]


def sigmoid(a: Tensor) -> Tensor:
    """1 / (1 + exp(-a))."""
    return 1 / (1 + torch.exp(-a))


_FUNCTIONS: Mapping[str, Callable[..., Tensor]] = {"tanh": torch.tanh, "sigmoid": sigmoid, "relu": torch.relu}
"""Functions of Elman's unit."""
