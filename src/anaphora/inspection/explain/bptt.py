"""Backpropagation through time of the simple unit with a softmax, in seven steps."""

from dataclasses import dataclass
from math import exp, log, tanh

import torch
from torch import Tensor

from anaphora.inspection.explain.lesson import Board, Lesson, furthest, n
from anaphora.kernels.cells import Elman
from anaphora.kernels.parts import Project, Unit
from anaphora.kernels.program import Program
from anaphora.kernels.softmax import softmax_loss
from anaphora.kernels.truncation import scan_windows

W_XH, W_HH, BIAS, W_HY, H_0 = 0.8, 0.9, 0.1, (1.0, -0.5), 0.5
X, Y = (1.0, -0.5, 0.25, 1.0), (0, 1, 0, 1)
"""Inputs, and which of two words is right."""


@dataclass
class Values:
    """Everything on the way forward; entry t - 1 is that of step t, but of h, whose entry 0 is h_0."""

    h: list[float]
    p: list[tuple[float, float]]
    loss: list[float]


def forward(board: Board | None = None) -> Values:
    """The states, probabilities and losses."""
    board = board or Board("")
    values = Values([H_0], [], [])
    for t, (x, y) in enumerate(zip(X, Y, strict=True), 1):
        before = values.h[-1]
        a = board.number(
            f"a_{t}", f"W_xh x_{t} + W_hh h_{t - 1} + b", f"{n(W_XH)} x {n(x)} + {n(W_HH)} x {n(before)} + {n(BIAS)}",
            W_XH * x + W_HH * before + BIAS,
        )  # fmt: skip
        h = board.number(f"h_{t}", f"tanh(a_{t})", f"tanh({n(a)})", tanh(a))
        s = board.vector(f"s_{t}", f"W_hy h_{t}", [w * h for w in W_HY])
        total = sum(map(exp, s))
        p = board.vector(f"p_{t}", f"softmax(s_{t})", [exp(one) / total for one in s])
        loss = board.number(f"L_{t}", f"-ln p_{t}[{y}]", f"-ln {n(p[y])}", -log(p[y]))
        values.h.append(h)
        values.p.append((p[0], p[1]))
        values.loss.append(loss)
    return values


def bptt() -> Lesson:
    """h_t = tanh(W_xh x_t + W_hh h_{t-1} + b), p_t = softmax(W_hy h_t), L_t = -ln p_t[y_t]."""
    start, ahead = Board("Given"), Board("Forward")
    start.given(W_xh=W_XH, W_hh=W_HH, b=BIAS, W_hy=W_HY, h_0=H_0, x=X, y=tuple(map(float, Y)))
    values = forward(ahead)
    back = Board("Backward", "From the last step to the first. dh from step t + 1 is added to what the loss sends.")
    steps = len(X)
    arriving, sums = 0.0, {"dW_xh": 0.0, "dW_hh": 0.0, "db": 0.0}
    dw_hy = [0.0, 0.0]
    for t in range(steps, 0, -1):
        h, before, x = values.h[t], values.h[t - 1], X[t - 1]
        ds = back.vector(f"ds_{t}", f"p_{t} - 1_y", [p - (k == Y[t - 1]) for k, p in enumerate(values.p[t - 1])])
        dw_hy = [total + one * h for total, one in zip(dw_hy, ds, strict=True)]
        of_loss = sum(w * one for w, one in zip(W_HY, ds, strict=True))
        dh = back.number(
            f"dh_{t}", f"W_hy' ds_{t}" + (f" + W_hh delta_{t + 1}" if t < steps else ""),
            f"{n(of_loss)}" + (f" + {n(arriving)}" if t < steps else ""), of_loss + arriving,
        )  # fmt: skip
        delta = back.number(f"delta_{t}", f"(1 - h_{t}^2) dh_{t}", f"(1 - {n(h)}^2) x {n(dh)}", (1 - h * h) * dh)
        sums["dW_xh"] += back.number(f"delta_{t} x_{t}", "its term of dW_xh", f"{n(delta)} x {n(x)}", delta * x)
        sums["dW_hh"] += back.number(
            f"delta_{t} h_{t - 1}", "its term of dW_hh", f"{n(delta)} x {n(before)}", delta * before
        )
        sums["db"] += delta
        back.number(f"dx_{t}", f"W_xh delta_{t}", f"{n(W_XH)} x {n(delta)}", W_XH * delta)
        arriving = W_HH * delta
    total = Board("Gradients", "The terms of all steps summed up.")
    total.vector("dW_hy", "sum over t of ds_t h_t", dw_hy)
    for name, value in sums.items():
        total.number(
            name,
            "sum over t of " + {"dW_xh": "delta_t x_t", "dW_hh": "delta_t h_{t-1}"}.get(name, "delta_t"),
            "",
            value,
        )
    total.number("dh_0", "W_hh delta_1", "", arriving)
    return Lesson(
        "Backpropagation through time, by hand",
        "h_t = tanh(W_xh x_t + W_hh h_{t-1} + b), p_t = softmax(W_hy h_t), L_t = -ln p_t[y_t] is minimised.",
        (start.section, ahead.section, back.section, total.section),
        _difference([*values.loss, *sums.values(), *dw_hy, arriving]),
    )  # fmt: skip


def kernel_gradients(back: int | None = None, chunk: int | None = None) -> tuple[list[float], dict[str, Tensor]]:
    """The losses and gradients by the kernels: of windows that go ``back`` k steps, or of chunks of k steps."""
    leaf = {
        name: torch.tensor(value, dtype=torch.float64).requires_grad_()
        for name, value in {
            "dW_xh": [[W_XH]],
            "dW_hh": [[W_HH]],
            "db": [BIAS],
            "dW_hy": [[w] for w in W_HY],
            "dh_0": [[H_0]],
        }.items()
    }
    program = Program((Project("in", "x", "a", True), Unit("unit", Elman(), ("a",))), ("unit.h",))
    weights = {"in.weight": leaf["dW_xh"], "in.bias": leaf["db"], "unit.h": leaf["dW_hh"]}
    x_TBD, state, losses = torch.tensor(X, dtype=torch.float64).reshape(-1, 1, 1), leaf["dh_0"], list[Tensor]()
    width = chunk or len(X)
    for begin in range(0, len(X), width):
        part = x_TBD[begin : begin + width]
        lengths = torch.tensor([len(part)])
        reach = len(X) if back is None else back
        scanned = scan_windows(program, {"x": part}, {"unit.h": state}, weights, {}, lengths, reach)
        for row, y in zip(scanned.outputs["unit.h"][:, 0], Y[begin:], strict=False):
            losses.append(softmax_loss(row.unsqueeze(0), leaf["dW_hy"], row.new_empty(0), torch.tensor([y])))
        state = scanned.state["unit.h"].detach()
    gradients = torch.autograd.grad(torch.stack(losses).sum(), list(leaf.values()))
    return [loss.item() for loss in losses], dict(zip(leaf, gradients, strict=True))


def _difference(ours: list[float]) -> float:
    losses, gradients = kernel_gradients()
    names = ("dW_xh", "dW_hh", "db", "dW_hy", "dh_0")
    theirs = [*losses, *(value for name in names for value in gradients[name].flatten().tolist())]
    return furthest(ours, theirs)
