"""Backpropagation through time in one dimension, without a nonlinearity."""

import torch

from anaphora.inspection.explain.lesson import Board, Lesson, furthest, n
from anaphora.kernels.cells import Elman
from anaphora.kernels.parts import Project, Unit
from anaphora.kernels.program import Program
from anaphora.kernels.scan import scan

A, B, C, D, H_0 = 0.5, 1.0, 0.25, 2.0, 1.0
X, Y = (1.0, 0.5, 2.0, 1.0), (3.0, 4.0, 6.0, 4.0)


def scalar() -> Lesson:
    """h_t = a h_{t-1} + b x_t + c, yhat_t = d h_t, L_t = (yhat_t - y_t)^2, and the gradients of a."""
    start = Board("Given")
    start.given(a=A, b=B, c=C, d=D, h_0=H_0, x=X, y=Y)
    forward, h, yhat = Board("Forward"), [H_0], list[float]()
    for t, (x, y) in enumerate(zip(X, Y, strict=True), 1):
        before = h[-1]
        h.append(
            forward.number(
                f"h_{t}", f"a h_{t - 1} + b x_{t} + c", f"{n(A)} x {n(before)} + {n(B)} x {n(x)} + {n(C)}",
                A * before + B * x + C,
            )
        )  # fmt: skip
        yhat.append(forward.number(f"yhat_{t}", f"d h_{t}", f"{n(D)} x {n(h[t])}", D * h[t]))
        forward.number(f"L_{t}", f"(yhat_{t} - y_{t})^2", f"({n(yhat[-1])} - {n(y)})^2", (yhat[-1] - y) ** 2)
    backward = Board(
        "Gradients of a",
        "a is used at every step: dh_t/da = h_{t-1} + a dh_{t-1}/da, so L_t sends one term to each step before it.",
    )
    found = []
    for t in range(1, len(X) + 1):
        terms = [(f"a^{t - s} h_{s - 1}", A ** (t - s) * h[s - 1]) for s in range(1, t + 1)]
        formula = f"2 (yhat_{t} - y_{t}) d ({' + '.join(_plain(term) for term, _ in terms)})"
        numbers = f"2 x ({n(yhat[t - 1])} - {n(Y[t - 1])}) x {n(D)} x ({' + '.join(n(value) for _, value in terms)})"
        value = 2 * (yhat[t - 1] - Y[t - 1]) * D * sum(value for _, value in terms)
        found.append(backward.number(f"dL_{t}/da", formula, numbers, value))
    backward.number("dL/da", "dL_1/da + dL_2/da + dL_3/da + dL_4/da", " + ".join(map(n, found)), sum(found))
    return Lesson(
        "A linear recurrence, by hand",
        "h_t = a h_{t-1} + b x_t + c, yhat_t = d h_t, L_t = (yhat_t - y_t)^2.",
        (start.section, forward.section, backward.section),
        _difference(h, found),
    )


def _plain(term: str) -> str:
    return term.removeprefix("a^0 ").replace("a^1 ", "a ")


def _difference(h: list[float], of_a: list[float]) -> float:
    """What is above 0 passes relu as it is, so the simple unit with relu is this example."""

    def number(value: float) -> torch.Tensor:
        return torch.tensor([[value]], dtype=torch.float64)

    a = number(A).requires_grad_()
    program = Program((Project("in", "x", "a", True), Unit("unit", Elman(activation="relu"), ("a",))), ("unit.h",))
    weights = {"in.weight": number(B), "in.bias": number(C)[0], "unit.h": a}
    x_TBD = torch.tensor(X, dtype=torch.float64).reshape(-1, 1, 1)
    states_T = scan(program, {"x": x_TBD}, {"unit.h": number(H_0)}, weights, {}, torch.tensor([len(X)]))
    h_T = states_T.outputs["unit.h"].flatten()
    losses = (D * h_T - torch.tensor(Y, dtype=torch.float64)) ** 2
    gradients = [float(torch.autograd.grad(loss, a, retain_graph=True)[0]) for loss in losses]
    return furthest([*h[1:], *of_a], [*h_T.tolist(), *gradients])
