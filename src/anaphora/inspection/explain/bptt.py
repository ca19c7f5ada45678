"""Backpropagation through time: of a linear recurrence, and of the simple unit with a softmax, whole and truncated."""

from math import log
from typing import Any

import numpy as np
import torch
from torch import Tensor

from anaphora.inspection.explain.lesson import Lesson, dot, leaf, n, scan_unit
from anaphora.kernels.cells import Elman
from anaphora.kernels.softmax import softmax_loss

A, B, C, D, H_0 = 0.5, 1.0, 0.25, 2.0, 1.0
X_SCALAR, Y_SCALAR = (1.0, 0.5, 2.0, 1.0), (3.0, 4.0, 6.0, 4.0)
SCALAR = {"h_t": "a h_{t-1} + b x_t + c", "yhat_t": "d h_t", "L_t": "(yhat_t - y_t)^2"}
"""Recurrence without a nonlinearity."""

W_HY, X = (1.0, -0.5), (1.0, -0.5, 0.25, 1.0)
GIVEN: dict[str, Any] = {"W_xh": 0.8, "W_hh": 0.9, "b": 0.1, "W_hy": W_HY, "h_0": 0.5, "x": X}
Y = (0, 1, 0, 1)
"""The word, one of two, that is right at each step."""
STEPS = range(1, len(X) + 1)
FORWARD = {"a_t": "W_xh x_t + W_hh h_{t-1} + b", "h_t": "tanh(a_t)", "s_t": "W_hy h_t", "p_t": "softmax(s_t)"}
K = 2
"""Steps of a chunk, and of the backward pass of a window."""


def scalar() -> Lesson:
    """h_t = a h_{t-1} + b x_t + c, yhat_t = d h_t, L_t = (yhat_t - y_t)^2, and the gradients of a."""
    source = "h_t = a h_{t-1} + b x_t + c, yhat_t = d h_t, L_t = (yhat_t - y_t)^2."
    lesson, steps = Lesson("A linear recurrence, by hand", source), range(1, len(X_SCALAR) + 1)
    lesson.section("Given")
    lesson.add_values(a=A, b=B, c=C, d=D, h_0=H_0, x=X_SCALAR, y=Y_SCALAR)
    lesson.section("Forward")
    for t in steps:
        lesson.steps(SCALAR, t)
    lesson.section(
        "Gradients of a",
        "a is used at every step: dh_t/da = h_{t-1} + a dh_{t-1}/da, so L_t sends one term to each step before it.",
    )
    for t in steps:
        powers = ["", "a ", *(f"a^{power} " for power in range(2, t))]
        terms = [f"{powers[t - s]}h_{s - 1}" for s in range(1, t + 1)]
        lesson.values |= {term: A ** (t - s) * lesson.values[f"h_{s - 1}"] for s, term in enumerate(terms, 1)}
        lesson.row(f"dL_{t}/da", f"2 (yhat_{t} - y_{t}) d ({' + '.join(terms)})")
    gradients = [f"dL_{t}/da" for t in steps]
    lesson.row("dL/da", " + ".join(gradients))
    # relu changes nothing above 0, so the simple unit with relu is this example
    weights = [leaf([[B]]), leaf([C]), leaf([[A]])]
    h_T = scan_unit(Elman(activation="relu"), X_SCALAR, weights, {"h": leaf([[H_0]])}).outputs["unit.h"].flatten()
    losses = (D * h_T - torch.tensor(Y_SCALAR)) ** 2
    theirs = [torch.autograd.grad(loss, weights[2], retain_graph=True)[0] for loss in losses]
    return lesson.check([*(f"h_{t}" for t in steps), *gradients], [h_T, *theirs])


def forward(title: str, source: str) -> Lesson:
    """Work out what is given, and the states, probabilities and losses of all steps."""
    lesson = Lesson(title, source)
    lesson.section("Given")
    lesson.add_values(**GIVEN, y=tuple(map(float, Y)))
    lesson.section("Forward")
    for t, y in enumerate(Y, 1):
        lesson.steps(FORWARD, t)
        p_y = lesson.values[f"p_{t}"][y]
        lesson.row(f"L_{t}", f"-ln p_{t}[{y}]", -log(p_y), numbers=f"-ln {n(p_y)}")
    return lesson


def bptt() -> Lesson:
    """h_t = tanh(W_xh x_t + W_hh h_{t-1} + b), p_t = softmax(W_hy h_t), L_t = -ln p_t[y_t]."""
    lesson = forward(
        "Backpropagation through time, by hand",
        "h_t = tanh(W_xh x_t + W_hh h_{t-1} + b), p_t = softmax(W_hy h_t), L_t = -ln p_t[y_t] is minimised.",
    )
    values, back = lesson.values, STEPS[::-1]
    lesson.section("Backward", "From the last step to the first. dh from step t + 1 is added to what the loss sends.")
    for t in back:
        values["1_y"] = np.eye(2)[Y[t - 1]]
        lesson.row(f"ds_{t}", f"p_{t} - 1_y")
        values[f"W_hy' ds_{t}"] = dot(W_HY, values[f"ds_{t}"])
        later = f" + W_hh delta_{t + 1}" if t < len(X) else ""
        lesson.steps({"dh_t": f"W_hy' ds_t{later}", "delta_t": "(1 - h_t^2) dh_t"}, t)
        for name, term in (("dW_xh", f"delta_{t} x_{t}"), ("dW_hh", f"delta_{t} h_{t - 1}")):
            lesson.row(term, term, words=f"its term of {name}")
        lesson.row(f"dx_{t}", f"W_xh delta_{t}")
        values[f"W_hh delta_{t}"] = values["W_hh"] * values[f"delta_{t}"]
    lesson.section("Gradients", "The terms of all steps summed up.")
    for name, term, words in (
        ("dW_hy", "ds_{0} h_{0}", "ds_t h_t"),
        ("dW_xh", "delta_{0} x_{0}", "delta_t x_t"),
        ("dW_hh", "delta_{0} h_{1}", "delta_t h_{t-1}"),
        ("db", "delta_{0}", "delta_t"),
    ):
        terms = " + ".join(term.format(t, t - 1) for t in back)
        lesson.row(name, terms, words=f"sum over t of {words}", numbers="")
    lesson.row("dh_0", "W_hh delta_1", numbers="")
    losses, gradients = kernel_gradients()
    return lesson.check([*(f"L_{t}" for t in STEPS), *gradients], [losses, *gradients.values()])


def truncation() -> Lesson:
    """dL_t/dW_hh is a sum of one term for each step s up to t; truncation leaves some of them out."""
    lesson = Lesson(
        "Truncated backpropagation through time, by hand",
        "The network and the numbers of the lesson bptt. Chunks: windows of text whose state is carried while the "
        "gradient stops at the border. Windows: every loss goes back the same number of steps.",
    )
    given = forward("", "").values
    lesson.section(
        "Terms",
        f"T(t, s) is what L_t sends to W_hh as it was used at step s. Chunks of {K} steps keep it where s and t are in "
        f"the same chunk; windows of k = {K - 1} where s is at least t - {K - 1}.",
    )
    kept = {"full": 0.0, "chunk": 0.0, "window": 0.0}
    for t in STEPS:
        arriving = dot(W_HY, given[f"p_{t}"] - np.eye(2)[Y[t - 1]])
        for s in range(t, 0, -1):
            delta = (1 - given[f"h_{s}"] ** 2) * arriving
            keeps = {"chunk": (t - 1) // K == (s - 1) // K, "window": s >= t - (K - 1)}
            path = " ".join(f"(1 - h_{j}^2)" + (" W_hh" if j > s else "") for j in range(t, s - 1, -1))
            marks = ", ".join(f"{name} {'keeps' if kept_too else 'cuts'} it" for name, kept_too in keeps.items())
            term = delta * given[f"h_{s - 1}"]
            lesson.row(f"T({t}, {s})", f"dL_{t}/dh_{t} {path} h_{s - 1}", term, numbers=marks)
            for name, factor in {"full": True, **keeps}.items():
                kept[name] += term * factor
            arriving = given["W_hh"] * delta
    lesson.section("dW_hh")
    for name, value in kept.items():
        which = "all terms" if name == "full" else f"the terms that the {name} keeps"
        lesson.row(f"dW_hh, {name}", which, value)
    lesson.values |= kept
    lesson.row("cut by chunks", "full - chunk")
    lesson.row("cut by windows", "full - window")
    theirs = (kernel_gradients(), kernel_gradients(chunk=K), kernel_gradients(back=K - 1))
    return lesson.check(list(kept), [gradients["dW_hh"] for _, gradients in theirs])


def kernel_gradients(back: int | None = None, chunk: int | None = None) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the losses and gradients by the kernels: of windows that go ``back`` k steps, or of chunks of k steps."""
    w_xh, w_hh, b, h_0 = (GIVEN[name] for name in ("W_xh", "W_hh", "b", "h_0"))
    values = {"dW_xh": [[w_xh]], "db": [b], "dW_hh": [[w_hh]], "dW_hy": [[w] for w in W_HY], "dh_0": [[h_0]]}
    leaves = {name: leaf(value) for name, value in values.items()}
    state, losses, width = leaves["dh_0"], list[Tensor](), chunk or len(X)
    for begin in range(0, len(X), width):
        scanned = scan_unit(Elman(), X[begin : begin + width], list(leaves.values())[:3], {"h": state}, back)
        for row, y in zip(scanned.outputs["unit.h"][:, 0], Y[begin:], strict=False):
            losses.append(softmax_loss(row.unsqueeze(0), leaves["dW_hy"], row.new_empty(0), torch.tensor([y])))
        state = scanned.state["unit.h"].detach()
    gradients = torch.autograd.grad(torch.stack(losses).sum(), list(leaves.values()))
    return torch.stack(losses), dict(zip(leaves, gradients, strict=True))
