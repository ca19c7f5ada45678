"""An LSTM of one cell over two steps, forward and back: the numerical example of Gomez (2016)."""

from math import exp, tanh

import torch
from torch import Tensor

from anaphora.inspection.explain.lesson import Board, Lesson, dot, furthest, n, products
from anaphora.kernels.cells import Lstm
from anaphora.kernels.parts import Project, Unit
from anaphora.kernels.program import Program
from anaphora.kernels.scan import scan

W = {"i": (0.95, 0.8), "f": (0.7, 0.45), "g": (0.45, 0.25), "o": (0.6, 0.4)}
U = {"i": 0.8, "f": 0.1, "g": 0.15, "o": 0.25}
BIAS = {"i": 0.65, "f": 0.15, "g": 0.2, "o": 0.1}
X, Y = ((1.0, 2.0), (0.5, 3.0)), (0.5, 1.25)
"""Inputs and labels of the two steps; gate names are those of the papers, the example calls g a."""


def lstm() -> Lesson:
    """Zaremba's form with c_0 = h_0 = 0 and L = sum of (h_t - y_t)^2 / 2."""
    start, ahead = Board("Given"), Board("Forward")
    for gate in "ifgo":
        start.given(**{f"W_{gate}": W[gate]}, **{f"U_{gate}": U[gate], f"b_{gate}": BIAS[gate]})
    start.given(x_1=X[0], x_2=X[1], y_1=Y[0], y_2=Y[1], h_0=0.0, c_0=0.0)
    gates = list[dict[str, float]]()
    h, c = [0.0], [0.0]
    for t, (x, y) in enumerate(zip(X, Y, strict=True), 1):
        found = {}
        for gate in "ifgo":
            a = dot(W[gate], x) + U[gate] * h[-1] + BIAS[gate]
            name = "tanh" if gate == "g" else "sigm"
            numbers = f"{name}({products(W[gate], x)} + {n(U[gate])} x {n(h[-1])} + {n(BIAS[gate])})"
            value = tanh(a) if gate == "g" else 1 / (1 + exp(-a))
            formula = f"{name}(W_{gate} x_{t} + U_{gate} h_{t - 1} + b_{gate})"
            found[gate] = ahead.number(f"{gate}_{t}", formula, numbers, value)
        i, f, g, o = (found[gate] for gate in "ifgo")
        kept = c[-1]
        c.append(
            ahead.number(
                f"c_{t}", f"f_{t} c_{t - 1} + i_{t} g_{t}", f"{n(f)} x {n(kept)} + {n(i)} x {n(g)}", f * kept + i * g
            )
        )
        h.append(ahead.number(f"h_{t}", f"o_{t} tanh(c_{t})", f"{n(o)} x tanh({n(c[t])})", o * tanh(c[t])))
        ahead.number(f"L_{t}", f"(h_{t} - y_{t})^2 / 2", f"({n(h[t])} - {n(y)})^2 / 2", (h[t] - y) ** 2 / 2)
        gates.append(found)
    back, dw, du, db = _backward(gates, h, c)
    total = Board("Gradients", "Each gate's da_t times what it was multiplied with, summed over both steps.")
    for gate in "ifgo":
        total.vector(f"dW_{gate}", f"da_{gate},1 x_1 + da_{gate},2 x_2", dw[gate])
        total.number(f"dU_{gate}", f"da_{gate},1 h_0 + da_{gate},2 h_1", "", du[gate])
        total.number(f"db_{gate}", f"da_{gate},1 + da_{gate},2", "", db[gate])
    ours = [*h[1:], *c[1:]]
    ours += [value for gate in "ifgo" for value in (*dw[gate], du[gate], db[gate])]
    return Lesson(
        "An LSTM cell, by hand",
        "Numbers of Gomez (2016), Backpropogating an LSTM: A Numerical Example; form of Zaremba et al. (2014).",
        (start.section, ahead.section, back.section, total.section),
        furthest(ours, _by_kernels()),
    )


def _backward(
    gates: list[dict[str, float]], h: list[float], c: list[float]
) -> tuple[Board, dict[str, tuple[float, ...]], dict[str, float], dict[str, float]]:
    """From the last step to the first."""
    board = Board("Backward")
    arriving_h = arriving_c = 0.0
    dw: dict[str, tuple[float, ...]] = dict.fromkeys("ifgo", (0.0, 0.0))
    du, db = dict.fromkeys("ifgo", 0.0), dict.fromkeys("ifgo", 0.0)
    for t in (2, 1):
        i, f, g, o = (gates[t - 1][gate] for gate in "ifgo")
        y, m, last = Y[t - 1], tanh(c[t]), t == 2
        dh = board.number(
            f"dh_{t}", f"h_{t} - y_{t}" + ("" if last else " + sum of U da_2"),
            f"{n(h[t])} - {n(y)}" + ("" if last else f" + {n(arriving_h)}"), h[t] - y + arriving_h,
        )  # fmt: skip
        dc = board.number(
            f"dc_{t}", f"dh_{t} o_{t} (1 - tanh(c_{t})^2)" + ("" if last else " + f_2 dc_2"),
            f"{n(dh)} x {n(o)} x (1 - {n(m)}^2)" + ("" if last else f" + {n(arriving_c)}"),
            dh * o * (1 - m * m) + arriving_c,
        )  # fmt: skip
        da = {
            "i": board.number(f"da_i,{t}", f"dc_{t} g_{t} i_{t} (1 - i_{t})", "", dc * g * i * (1 - i)),
            "f": board.number(f"da_f,{t}", f"dc_{t} c_{t - 1} f_{t} (1 - f_{t})", "", dc * c[t - 1] * f * (1 - f)),
            "g": board.number(f"da_g,{t}", f"dc_{t} i_{t} (1 - g_{t}^2)", "", dc * i * (1 - g * g)),
            "o": board.number(f"da_o,{t}", f"dh_{t} tanh(c_{t}) o_{t} (1 - o_{t})", "", dh * m * o * (1 - o)),
        }
        columns = [[W[gate][k] for gate in "ifgo"] for k in (0, 1)]
        board.vector(f"dx_{t}", f"W' da_{t}", [dot(column, list(da.values())) for column in columns])
        arriving_h = board.number(f"dh_{t - 1} from step {t}", f"U' da_{t}", "", sum(U[gate] * da[gate] for gate in da))
        arriving_c = board.number(f"dc_{t - 1} from step {t}", f"f_{t} dc_{t}", f"{n(f)} x {n(dc)}", f * dc)
        for gate, one in da.items():
            dw[gate] = tuple(total + one * x for total, x in zip(dw[gate], X[t - 1], strict=True))
            du[gate] += one * h[t - 1]
            db[gate] += one
    return board, dw, du, db


def _by_kernels() -> list[float]:
    """h, c, and each gate's gradients, in the order i, f, g, o."""

    def column(values: list[float]) -> Tensor:
        return torch.tensor(values, dtype=torch.float64).requires_grad_()

    w = torch.tensor([W[gate] for gate in "ifgo"], dtype=torch.float64).requires_grad_()
    u = torch.tensor([[U[gate]] for gate in "ifgo"], dtype=torch.float64).requires_grad_()
    b = column([BIAS[gate] for gate in "ifgo"])
    program = Program((Project("in", "x", "a", True), Unit("unit", Lstm(), ("a",))), ("unit.h", "unit.c"))
    zero = torch.zeros(1, 1, dtype=torch.float64)
    x_TBD = torch.tensor(X, dtype=torch.float64).unsqueeze(1)
    weights = {"in.weight": w, "in.bias": b, "unit.h": u}
    outputs = scan(program, {"x": x_TBD}, {"unit.h": zero, "unit.c": zero}, weights, {}, torch.tensor([2])).outputs
    h_T, c_T = outputs["unit.h"].flatten(), outputs["unit.c"].flatten()
    loss = ((h_T - torch.tensor(Y, dtype=torch.float64)) ** 2 / 2).sum()
    dw, du, db = torch.autograd.grad(loss, (w, u, b))
    rows = torch.cat([dw, du, db.unsqueeze(1)], 1)
    return [*h_T.tolist(), *c_T.tolist(), *rows.flatten().tolist()]
