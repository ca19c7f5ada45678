"""Answers of lessons by the kernels, to which those of the formulas are compared."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from anaphora.kernels.cells import Cell, Lstm
from anaphora.kernels.parts import Project, Unit
from anaphora.kernels.program import Program
from anaphora.kernels.truncation import Windows, scan_windows

Values = Mapping[str, Any]


def lstm(values: Values) -> dict[str, Tensor]:
    """Return the states of the LSTM and the gradients of its weights."""
    w, b, u = (leaf([values[f"{name}_{gate}"] for gate in "ifgo"]) for name in ("W", "b", "U"))
    first = {name: leaf(np.reshape(values[f"{name}[0]"], (1, 1))) for name in "hc"}
    outputs = scan_unit(Lstm(), [values["x[1]"], values["x[2]"]], (w, b, u.reshape(4, 1)), first).outputs
    h_T, c_T = outputs["unit.h"].flatten(), outputs["unit.c"].flatten()
    loss = ((h_T - leaf([values["y[1]"], values["y[2]"]])) ** 2 / 2).sum()
    dw, du, db, dh, dc = torch.autograd.grad(loss, (w, u, b, first["h"], first["c"]))
    states = {f"{name}[{t}]": state_T[t - 1] for name, state_T in (("h", h_T), ("c", c_T)) for t in (1, 2)}
    of_gates = {
        f"d{name}_{gate}": rows[n] for name, rows in (("W", dw), ("U", du), ("b", db)) for n, gate in enumerate("ifgo")
    }
    return states | of_gates | {"dh[0]": dh, "dc[0]": dc}


def leaf(values: Any) -> Tensor:
    """Return numbers as a tensor in float64 that has gradients."""
    return torch.tensor(np.array(values), dtype=torch.float64).requires_grad_()


def scan_unit(
    cell: Cell, x: Sequence[Any], weights: Sequence[Tensor], first: Mapping[str, Tensor], back: int | None = None
) -> Windows:
    """Run a unit by the kernels, with the weight of its inputs, their bias and the recurrent weight.

    Each loss goes ``back`` so many steps; None for all of them.
    """
    states = tuple(f"unit.{field}" for field in cell.state)
    program = Program((Project("in", "x", "a", True), Unit("unit", cell, ("a",))), states)
    tensors = dict(zip(("in.weight", "in.bias", "unit.h"), weights, strict=True))
    x_TBD = torch.tensor(np.array(x), dtype=torch.float64).reshape(len(x), 1, -1)
    given = {f"unit.{name}": value for name, value in first.items()}
    return scan_windows(
        program, {"x": x_TBD}, given, tensors, {}, torch.tensor([len(x)]), len(x) if back is None else back
    )
