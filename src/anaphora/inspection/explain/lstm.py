"""An LSTM of one cell over two steps, forward and back: the numerical example of Gomez (2016)."""

from collections.abc import Sequence

import torch

from anaphora.inspection.explain.lesson import (
    Lesson,
    Section,
    Term,
    as_term,
    difference,
    dot,
    leaf,
    scan_unit,
    sigm,
    tanh,
    total,
)
from anaphora.kernels.cells import Lstm

W = {"i": (0.95, 0.8), "f": (0.7, 0.45), "g": (0.45, 0.25), "o": (0.6, 0.4)}
U = {"i": 0.8, "f": 0.1, "g": 0.15, "o": 0.25}
BIAS = {"i": 0.65, "f": 0.15, "g": 0.2, "o": 0.1}
X, Y = ((1.0, 2.0), (0.5, 3.0)), (0.5, 1.25)
"""Inputs and labels of the two steps; gate names are those of the papers, the example calls g a."""


def lstm() -> Lesson:
    """Zaremba's form with c_0 = h_0 = 0 and L = sum of (h_t - y_t)^2 / 2."""
    start, ahead, back = Section("Given"), Section("Forward"), Section("Backward")
    weights = {}
    for gate in "ifgo":
        weights[gate] = start.given(**{f"W_{gate}": W[gate]}, **{f"U_{gate}": U[gate], f"b_{gate}": BIAS[gate]})
    *given, h_0, c_0 = start.given(x_1=X[0], x_2=X[1], y_1=Y[0], y_2=Y[1], h_0=0.0, c_0=0.0)
    x, y = [h_0, *given[:2]], [h_0, *given[2:]]
    h, c, gates = [h_0], [c_0], list[dict[str, Term]]()
    for t in (1, 2):
        found = {}
        for gate, (w, u, bias) in weights.items():
            function = tanh if gate == "g" else sigm
            found[gate] = ahead.row(f"{gate}_{t}", function(w @ x[t] + u * h[t - 1] + bias))
        i, f, g, o = found.values()
        c.append(ahead.row(f"c_{t}", f * c[t - 1] + i * g))
        h.append(ahead.row(f"h_{t}", o * tanh(c[t])))
        ahead.row(f"L_{t}", (h[t] - y[t]) ** 2 / 2)
        gates.append(found)
    da = _backward(back, gates, h, c, y)
    sums = Section("Gradients", "Each gate's da_t times what it was multiplied with, summed over both steps.")
    of_weights = [
        term
        for gate in "ifgo"
        for term in (
            sums.row(f"dW_{gate}", total([da[t][gate] * x[t] for t in (1, 2)])),
            sums.row(f"dU_{gate}", total([da[t][gate] * h[t - 1] for t in (1, 2)])),
            sums.row(f"db_{gate}", total([da[t][gate] for t in (1, 2)])),
        )
    ]
    return Lesson(
        "An LSTM cell, by hand",
        "Numbers of Gomez (2016), Backpropogating an LSTM: A Numerical Example; form of Zaremba et al. (2014).",
        (start, ahead, back, sums),
        difference([*h[1:], *c[1:], *of_weights], _by_kernels()),
    )


def _backward(
    back: Section, gates: Sequence[dict[str, Term]], h: Sequence[Term], c: Sequence[Term], y: Sequence[Term]
) -> dict[int, dict[str, Term]]:
    """Work from the last step to the first, and return the gradients of what enters each gate."""
    found: dict[int, dict[str, Term]] = {}
    from_h, from_c = list[Term](), list[Term]()
    for t in (2, 1):
        i, f, g, o = gates[t - 1].values()
        m = as_term(f"tanh(c_{t})", tanh(c[t]).value)
        dh = back.row(f"dh_{t}", total([h[t] - y[t], *from_h]))
        dc = back.row(f"dc_{t}", total([dh * o * (1 - m**2), *from_c]))
        sources = {"i": dc * g * i * (1 - i), "f": dc * c[t - 1] * f * (1 - f), "g": dc * i * (1 - g**2)}
        sources["o"] = dh * m * o * (1 - o)
        found[t] = {gate: back.row(f"da_{gate},{t}", term) for gate, term in sources.items()}
        values = [term.value for term in found[t].values()]
        columns = zip(*W.values(), strict=True)
        back.row(f"dx_{t}", as_term(f"W' da_{t}", [dot(column, values) for column in columns]))
        of_h = as_term(f"U' da_{t}", dot(list(U.values()), values))
        back.row(f"dh_{t - 1} from step {t}", of_h, numbers="")
        of_c = back.row(f"dc_{t - 1} from step {t}", f * dc)
        from_h, from_c = [as_term(f"sum of U da_{t}", of_h.value)], [as_term(f"f_{t} dc_{t}", of_c.value)]
    return found


def _by_kernels() -> list[torch.Tensor]:
    """Return h, c, and each gate's gradients, in the order i, f, g, o."""
    w, b, u = (leaf(list(table.values())) for table in (W, BIAS, {gate: [one] for gate, one in U.items()}))
    zero = torch.zeros(1, 1, dtype=torch.float64)
    outputs = scan_unit(Lstm(), X, (w, b, u), {"h": zero, "c": zero}).outputs
    h_T, c_T = outputs["unit.h"].flatten(), outputs["unit.c"].flatten()
    loss = ((h_T - torch.tensor(Y, dtype=torch.float64)) ** 2 / 2).sum()
    dw, du, db = torch.autograd.grad(loss, (w, u, b))
    return [h_T, c_T, torch.cat([dw, du, db.unsqueeze(1)], 1)]
