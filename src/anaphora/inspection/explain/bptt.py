"""Backpropagation through time of the simple unit with a softmax, whole and truncated."""

from math import log
from typing import Any

import torch
from torch import Tensor

from anaphora.inspection.explain.lesson import (
    Lesson,
    Section,
    Term,
    as_term,
    difference,
    dot,
    leaf,
    n,
    scan_unit,
    softmax,
    tanh,
    total,
)
from anaphora.kernels.cells import Elman
from anaphora.kernels.softmax import softmax_loss

W_HY, X = (1.0, -0.5), (1.0, -0.5, 0.25, 1.0)
GIVEN: dict[str, Any] = {"W_xh": 0.8, "W_hh": 0.9, "b": 0.1, "W_hy": W_HY, "h_0": 0.5, "x": X}
Y = (0, 1, 0, 1)
"""The word, one of two, that is right at each step."""
K = 2
"""Steps of a chunk, and of the backward pass of a window."""


def forward(start: Section, ahead: Section) -> tuple[list[Term], list[Term], list[Term], list[Term]]:
    """Work out what is given, and the states, probabilities and losses of steps 0, 1, ..; a loss is of step 1 first."""
    given = start.given(**GIVEN, y=tuple(map(float, Y)))
    w_xh, w_hh, b, _, h_0, x, _ = given
    h, p, losses = [h_0], [h_0], list[Term]()
    for t, y in enumerate(Y, 1):
        a = ahead.row(f"a_{t}", w_xh * x[t] + w_hh * h[t - 1] + b)
        h.append(ahead.row(f"h_{t}", tanh(a)))
        s = ahead.row(f"s_{t}", as_term(f"W_hy h_{t}", [w * h[t].value for w in W_HY]))
        p.append(ahead.row(f"p_{t}", softmax(s)))
        p_y = p[t].value[y]
        losses.append(ahead.row(f"L_{t}", as_term(f"-ln p_{t}[{y}]", -log(p_y)), numbers=f"-ln {n(p_y)}"))
    return given, h, p, losses


def bptt() -> Lesson:
    """h_t = tanh(W_xh x_t + W_hh h_{t-1} + b), p_t = softmax(W_hy h_t), L_t = -ln p_t[y_t]."""
    start, ahead = Section("Given"), Section("Forward")
    back = Section("Backward", "From the last step to the first. dh from step t + 1 is added to what the loss sends.")
    given, h, p, own_losses = forward(start, ahead)
    w_xh, w_hh, *_, x, _ = given
    later, deltas, of_y = list[Term](), list[Term](), list[Term]()
    terms: dict[str, list[Term]] = {"dW_xh": [], "dW_hh": []}
    for t in range(len(X), 0, -1):
        ds = back.row(f"ds_{t}", p[t] - as_term("1_y", [float(k == Y[t - 1]) for k in (0, 1)]))
        dh = back.row(f"dh_{t}", total([as_term(f"W_hy' ds_{t}", dot(W_HY, ds.value)), *later]))
        delta = back.row(f"delta_{t}", (1 - h[t] ** 2) * dh)
        for name, factor in (("dW_xh", x[t]), ("dW_hh", h[t - 1])):
            term = delta * factor
            terms[name].append(back.row(term.formula, term, f"its term of {name}"))
        back.row(f"dx_{t}", w_xh * delta)
        deltas.append(delta)
        of_y.append(ds * h[t])
        later = [as_term(f"W_hh delta_{t}", (w_hh * delta).value)]
    sums = Section("Gradients", "The terms of all steps summed up.")
    gradients = [
        sums.row("dW_hy", total(of_y), "sum over t of ds_t h_t"),
        sums.row("dW_xh", total(terms["dW_xh"]), "sum over t of delta_t x_t", ""),
        sums.row("dW_hh", total(terms["dW_hh"]), "sum over t of delta_t h_{t-1}", ""),
        sums.row("db", total(deltas), "sum over t of delta_t", ""),
        sums.row("dh_0", later[0], numbers=""),
    ]
    losses, theirs = kernel_gradients()
    return Lesson(
        "Backpropagation through time, by hand",
        "h_t = tanh(W_xh x_t + W_hh h_{t-1} + b), p_t = softmax(W_hy h_t), L_t = -ln p_t[y_t] is minimised.",
        (start, ahead, back, sums),
        difference([*own_losses, *gradients], [losses, *(theirs[name.formula] for name in gradients)]),
    )


def truncation() -> Lesson:
    """dL_t/dW_hh is a sum of one term for each step s up to t; truncation leaves some of them out."""
    given, states, probabilities, _ = forward(Section(""), Section(""))
    w_hh, h = given[1].value, [one.value for one in states]
    kept: dict[str, float] = {"full": 0.0, "chunk": 0.0, "window": 0.0}
    table = Section(
        "Terms",
        f"T(t, s) is what L_t sends to W_hh as it was used at step s. Chunks of {K} steps keep it where s and t are in "
        f"the same chunk; windows of k = {K - 1} where s is at least t - {K - 1}.",
    )
    for t in range(1, len(X) + 1):
        arriving = dot(W_HY, [p - (k == Y[t - 1]) for k, p in enumerate(probabilities[t].value)])
        for s in range(t, 0, -1):
            delta = (1 - h[s] ** 2) * arriving
            keeps = {"chunk": (t - 1) // K == (s - 1) // K, "window": s >= t - (K - 1)}
            path = " ".join(f"(1 - h_{j}^2)" + (" W_hh" if j > s else "") for j in range(t, s - 1, -1))
            marks = ", ".join(f"{name} {'keeps' if kept_too else 'cuts'} it" for name, kept_too in keeps.items())
            term = table.row(
                f"T({t}, {s})", as_term(f"dL_{t}/dh_{t} {path} h_{s - 1}", delta * h[s - 1]), numbers=marks
            )
            for name, factor in {"full": True, **keeps}.items():
                kept[name] += term.value * factor
            arriving = w_hh * delta
    sums = Section("dW_hh")
    for name, value in kept.items():
        which = "all terms" if name == "full" else f"the terms that the {name} keeps"
        sums.row(f"dW_hh, {name}", as_term(which, value), numbers="")
    full, chunk, window = (as_term(name, value) for name, value in kept.items())
    sums.row("cut by chunks", full - chunk)
    sums.row("cut by windows", full - window)
    theirs = (kernel_gradients(), kernel_gradients(chunk=K), kernel_gradients(back=K - 1))
    return Lesson(
        "Truncated backpropagation through time, by hand",
        "The network and the numbers of the lesson bptt. Chunks: windows of text whose state is carried while the "
        "gradient stops at the border. Windows: every loss goes back the same number of steps.",
        (table, sums),
        difference([full, chunk, window], [gradients["dW_hh"] for _, gradients in theirs]),
    )


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
