"""An LSTM of one cell over two steps, forward and back: the numerical example of Gomez (2016)."""

import numpy as np
import torch

from anaphora.inspection.explain.lesson import Lesson, leaf, scan_unit, tanh
from anaphora.kernels.cells import Lstm

W = {"i": (0.95, 0.8), "f": (0.7, 0.45), "g": (0.45, 0.25), "o": (0.6, 0.4)}
U = {"i": 0.8, "f": 0.1, "g": 0.15, "o": 0.25}
BIAS = {"i": 0.65, "f": 0.15, "g": 0.2, "o": 0.1}
X, Y = ((1.0, 2.0), (0.5, 3.0)), (0.5, 1.25)
"""Inputs and labels of the two steps; gate names are those of the papers, the example calls g a."""
FORWARD = {
    "i_t": "sigm(W_i x_t + U_i h_{t-1} + b_i)",
    "f_t": "sigm(W_f x_t + U_f h_{t-1} + b_f)",
    "g_t": "tanh(W_g x_t + U_g h_{t-1} + b_g)",
    "o_t": "sigm(W_o x_t + U_o h_{t-1} + b_o)",
    "c_t": "f_t c_{t-1} + i_t g_t",
    "h_t": "o_t tanh(c_t)",
    "L_t": "(h_t - y_t)^2 / 2",
}
BACKWARD = {
    "da_i,t": "dc_t g_t i_t (1 - i_t)",
    "da_f,t": "dc_t c_{t-1} f_t (1 - f_t)",
    "da_g,t": "dc_t i_t (1 - g_t^2)",
    "da_o,t": "dh_t tanh(c_t) o_t (1 - o_t)",
}
"""Gradients of what enters each gate."""


def lstm() -> Lesson:
    """Zaremba's form with c_0 = h_0 = 0 and L = sum of (h_t - y_t)^2 / 2."""
    lesson = Lesson(
        "An LSTM cell, by hand",
        "Numbers of Gomez (2016), Backpropogating an LSTM: A Numerical Example; form of Zaremba et al. (2014).",
    )
    lesson.section("Given")
    for gate in "ifgo":
        lesson.add_values(**{f"W_{gate}": W[gate]}, **{f"U_{gate}": U[gate], f"b_{gate}": BIAS[gate]})
    lesson.add_values(x_1=X[0], x_2=X[1], y_1=Y[0], y_2=Y[1], h_0=0.0, c_0=0.0)
    lesson.values |= {"W'": np.array([*W.values()]).T, "U'": np.array([*U.values()])}
    lesson.section("Forward")
    for t in (1, 2):
        lesson.steps(FORWARD, t)
    lesson.section(
        "Backward",
        "dv is the derivative of L_1 + L_2 by v; a_i is what enters the function of gate i; sigm(a) = 1 / (1 + e^-a).",
    )
    _work_out_step_back(lesson, 2, "", "")
    _work_out_step_back(lesson, 1, " + sum of U da_2", " + f_2 dc_2")
    lesson.section("Gradients", "Each gate's da_t times what it was multiplied with, summed over both steps.")
    for gate in "ifgo":
        lesson.row(f"dW_{gate}", f"da_{gate},1 x_1 + da_{gate},2 x_2")
        lesson.row(f"dU_{gate}", f"da_{gate},1 h_0 + da_{gate},2 h_1")
        lesson.row(f"db_{gate}", f"da_{gate},1 + da_{gate},2")
    of_weights = [f"d{weight}_{gate}" for gate in "ifgo" for weight in "WUb"]
    return lesson.check(["h_1", "h_2", "c_1", "c_2", *of_weights], _by_kernels())


def _work_out_step_back(lesson: Lesson, t: int, from_h: str, from_c: str) -> None:
    """Work out the gradients of a step; ``from_h`` and ``from_c`` are the terms from the step after it."""
    values = lesson.values
    values[f"tanh(c_{t})"] = tanh(values[f"c_{t}"])
    lesson.steps({"dh_t": f"h_t - y_t{from_h}", "dc_t": f"dh_t o_t (1 - tanh(c_t)^2){from_c}", **BACKWARD}, t)
    values |= {f"da_{t}": np.array([values[f"da_{gate},{t}"] for gate in "ifgo"])}
    lesson.row(f"dx_{t}", f"W' da_{t}")
    lesson.row(f"dh_{t - 1} from step {t}", f"U' da_{t}", numbers="")
    values[f"sum of U da_{t}"] = values[f"dh_{t - 1} from step {t}"]
    lesson.row(f"dc_{t - 1} from step {t}", f"f_{t} dc_{t}")
    values[f"f_{t} dc_{t}"] = values[f"dc_{t - 1} from step {t}"]


def _by_kernels() -> list[torch.Tensor]:
    """Return h, c, and each gate's gradients, in the order i, f, g, o."""
    w, b, u = (leaf(list(table.values())) for table in (W, BIAS, {gate: [one] for gate, one in U.items()}))
    zero = torch.zeros(1, 1, dtype=torch.float64)
    outputs = scan_unit(Lstm(), X, (w, b, u), {"h": zero, "c": zero}).outputs
    h_T, c_T = outputs["unit.h"].flatten(), outputs["unit.c"].flatten()
    loss = ((h_T - torch.tensor(Y, dtype=torch.float64)) ** 2 / 2).sum()
    dw, du, db = torch.autograd.grad(loss, (w, u, b))
    return [h_T, c_T, torch.cat([dw, du, db.unsqueeze(1)], 1)]
