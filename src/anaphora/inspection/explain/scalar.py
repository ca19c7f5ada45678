"""Backpropagation through time in one dimension, without a nonlinearity."""

import torch

from anaphora.inspection.explain.lesson import Lesson, Section, as_term, difference, leaf, scan_unit, total
from anaphora.kernels.cells import Elman


def scalar() -> Lesson:
    """h_t = a h_{t-1} + b x_t + c, yhat_t = d h_t, L_t = (yhat_t - y_t)^2, and the gradients of a."""
    start, forward = Section("Given"), Section("Forward")
    a, b, c, d, h_0, x, y = start.given(
        a=0.5, b=1.0, c=0.25, d=2.0, h_0=1.0, x=(1.0, 0.5, 2.0, 1.0), y=(3.0, 4.0, 6.0, 4.0)
    )
    backward = Section(
        "Gradients of a",
        "a is used at every step: dh_t/da = h_{t-1} + a dh_{t-1}/da, so L_t sends one term to each step before it.",
    )
    h, of_a = [h_0], []
    for t in range(1, len(x.value) + 1):
        h.append(forward.row(f"h_{t}", a * h[t - 1] + b * x[t] + c))
        yhat = forward.row(f"yhat_{t}", d * h[t])
        forward.row(f"L_{t}", (yhat - y[t]) ** 2)
        powers = ["", "a ", *(f"a^{power} " for power in range(2, t))]
        terms = [as_term(f"{powers[t - s]}h_{s - 1}", a.value ** (t - s) * h[s - 1].value) for s in range(1, t + 1)]
        of_a.append(backward.row(f"dL_{t}/da", 2 * (yhat - y[t]) * d * total(terms).in_brackets()))
    backward.row("dL/da", total(of_a))
    # relu changes nothing above 0, so the simple unit with relu is this example
    weights = [leaf([[b.value]]), leaf([c.value]), leaf([[a.value]])]
    scanned = scan_unit(Elman(activation="relu"), x.value, weights, {"h": leaf([[h_0.value]])})
    h_T = scanned.outputs["unit.h"].flatten()
    losses = (d.value * h_T - torch.tensor(y.value)) ** 2
    gradients = [torch.autograd.grad(loss, weights[2], retain_graph=True)[0] for loss in losses]
    return Lesson(
        "A linear recurrence, by hand",
        "h_t = a h_{t-1} + b x_t + c, yhat_t = d h_t, L_t = (yhat_t - y_t)^2.",
        (start, forward, backward),
        difference([*h[1:], *of_a], [h_T, *gradients]),
    )
