"""Answers of lessons by the kernels, with which those of the formulas are compared."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from anaphora.kernels.cells import Cell, Elman
from anaphora.kernels.linear import linear
from anaphora.kernels.parts import Activate, Project, Unit
from anaphora.kernels.program import Program
from anaphora.kernels.scan import scan
from anaphora.kernels.softmax import softmax_loss
from anaphora.kernels.truncation import Windows, scan_windows
from anaphora.nn.attention import AttentionConfig, SoftAttention
from anaphora.nn.encoders.encoder import EncoderSpec

Values = Mapping[str, Any]


def linear_recurrence(values: Values) -> dict[str, Any]:
    """Return the states of h_t = a h_{t-1} + b x_t + c, and the gradients of a, by two cells with relu.

    They are the positive and the negative part of h_t.
    """
    signs = torch.tensor([[1.0], [-1.0]], dtype=torch.float64)
    a, first = leaf(values["a"]), leaf([[max(values["h[0]"], 0.0), max(-values["h[0]"], 0.0)]])
    weights = [values["b"] * signs, values["c"] * signs[:, 0], a * (signs @ signs.T)]
    h_TD = scan_unit(Elman(activation="relu"), values["x"], weights, {"h": first}).outputs["unit.h"][:, 0]
    h_T = (h_TD @ signs)[:, 0]
    losses = (values["d"] * h_T - torch.tensor(values["y"])) ** 2
    gradients = [torch.autograd.grad(loss, a, retain_graph=True)[0] for loss in losses]
    return _steps("h", h_T) | _steps("da", gradients) | {"da": sum(gradients)}


def simple_unit(values: Values) -> dict[str, Any]:
    """Return the losses of the simple unit with a softmax, and its gradients."""
    losses, gradients = simple_unit_gradients(values)
    return _steps("L", losses) | gradients


def truncation(values: Values) -> dict[str, Any]:
    """Return the gradient of the recurrent weight, whole and truncated in both ways."""
    ways = {"dW_hh": {}, "dW_chunks": {"chunk": values["K"]}, "dW_windows": {"back": values["k"]}}
    return {name: simple_unit_gradients(values, **way)[1]["dW_hh"] for name, way in ways.items()}


def simple_unit_gradients(
    values: Values, back: int | None = None, chunk: int | None = None
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return losses and gradients by the kernels: of windows that go ``back`` k steps, or of chunks of k steps."""
    shapes = {"W_xh": (cells := np.size(values["b"]), -1), "b": (-1,), "W_hh": (cells, cells), "W_hy": (-1, cells)}
    leaves = {f"d{name}": leaf(np.reshape(values[name], shape)) for name, shape in shapes.items()}
    state = leaves["dh[0]"] = leaf(np.reshape(values["h[0]"], (1, cells)))
    losses, y = list[Tensor](), values["y"]
    width = chunk or len(y)
    for begin in range(0, len(y), width):
        scanned = scan_unit(Elman(), values["x"][begin : begin + width], [*leaves.values()][:3], {"h": state}, back)
        for row, word in zip(scanned.outputs["unit.h"], y[begin:], strict=False):
            losses.append(softmax_loss(row, leaves["dW_hy"], row.new_empty(0), torch.tensor([word - 1])))
        state = scanned.state["unit.h"].detach()
    gradients = torch.autograd.grad(torch.stack(losses).sum(), list(leaves.values()))
    return torch.stack(losses), dict(zip(leaves, gradients, strict=True))


def attention(values: Values) -> dict[str, Any]:
    """Return the weights, the context, the state and the probabilities of attention with the score "general"."""
    soft = SoftAttention(AttentionConfig(), len(values["h"]), EncoderSpec(2, 2, 1, ("h",), True))
    parts = (
        *soft.parts("h"),
        Project("of_context", "context", "one", False),
        Project("of_state", "h", "other", False),
        Activate("combine", ("one", "other"), "htilde"),
    )
    [name] = soft.matrices()
    weights = {name: leaf(values["W"])}
    weights |= {"of_context.weight": leaf(values["W_c"]), "of_state.weight": leaf(values["W_h"])}
    memory = soft.prepare(leaf([values["hbar"]]), torch.tensor([len(values["hbar"])]), weights)
    program = Program(parts, ("weights", "context", "htilde"))
    with torch.no_grad():
        outputs = scan(program, {"h": leaf([[values["h"]]])}, {}, weights, memory, torch.tensor([1])).outputs
        p = torch.softmax(linear(outputs["htilde"], leaf(values["W_s"])), -1)
    found = {"c": outputs["context"], "htilde": outputs["htilde"], "p": p}
    return _steps("alpha", outputs["weights"].flatten()) | found


def _steps(name: str, values: Sequence[Any] | Tensor) -> dict[str, Any]:
    """Return values by the symbols of their steps."""
    return {f"{name}[{step}]": value for step, value in enumerate(values, 1)}


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
