"""Backpropagation through time by pencil: the linear example of the texts, and the simple unit step by step."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels.cells import Elman
from anaphora.kernels.parts import Project, Unit
from anaphora.kernels.program import Program
from anaphora.kernels.scan import advance, scan
from anaphora.kernels.softmax import softmax_loss


def simple(activation: str) -> Program:
    """h_t = f(W_xh x_t + W_hh h_{t-1} + b)."""
    unit = Unit("unit", Elman(activation=activation), ("a",))
    return Program((Project("input", "x", "a", True), unit), ("unit.h",))


def number(value: float) -> Tensor:
    return torch.tensor([[value]], dtype=torch.float64)


# h_t = a h_{t-1} + b x_t + c, yhat_t = d h_t, L_t = (yhat_t - y_t)^2: what is above 0 passes relu as it is
A, B, C, D, H_0 = 0.7, 0.4, 0.3, 1.5, 0.9
X, Y = [1.0, 0.5, 2.0, 0.1], [0.2, 1.0, -0.5, 0.8]


def states() -> list[float]:
    h = [H_0]
    for x in X:
        h.append(A * h[-1] + B * x + C)
    return h


def test_single_steps_give_the_states_of_the_linear_example() -> None:
    weights = {"input.weight": number(B), "input.bias": number(C)[0], "unit.h": number(A)}
    state = {"unit.h": number(H_0).unsqueeze(0)}
    for x, expected in zip(X, states()[1:], strict=True):
        signals = advance(simple("relu"), {"x": number(x).unsqueeze(0)}, state, weights, {})
        state = {"unit.h": signals["unit.h"]}
        assert signals["unit.h"].item() == pytest.approx(expected, rel=1e-14)


def test_the_gradients_of_the_linear_example_are_those_by_pencil() -> None:
    a, x_TBD = number(A).requires_grad_(), torch.tensor(X, dtype=torch.float64).reshape(4, 1, 1)
    weights = {"input.weight": number(B), "input.bias": number(C)[0], "unit.h": a}
    outputs, _ = scan(simple("relu"), {"x": x_TBD}, {"unit.h": number(H_0)}, weights, {}, torch.tensor([4]))
    yhat_T = D * outputs["unit.h"].flatten()
    losses = (yhat_T - torch.tensor(Y, dtype=torch.float64)) ** 2
    da = [torch.autograd.grad(loss, a, retain_graph=True)[0].item() for loss in losses]
    h = states()
    yhat = [D * value for value in h[1:]]
    assert da[0] == pytest.approx(2 * (yhat[0] - Y[0]) * D * h[0])
    assert da[1] == pytest.approx(2 * (yhat[1] - Y[1]) * D * (h[1] + A * h[0]))
    assert da[3] == pytest.approx(2 * (yhat[3] - Y[3]) * D * (A**3 * h[0] + A**2 * h[1] + A * h[2] + h[3]))


@pytest.mark.parametrize("activation", ["tanh", "sigmoid", "relu"])
def test_the_loop_walks_back_in_the_seven_steps_of_the_derivation(activation: str) -> None:
    generator = torch.Generator().manual_seed(3)
    steps, width, hidden, size = 5, 3, 4, 6
    shapes = {"W_xh": (hidden, width), "W_hh": (hidden, hidden), "b": (hidden,), "W_hy": (size, hidden)}
    shapes |= {"x": (steps, 1, width), "h_0": (1, hidden)}
    leaf = {n: torch.randn(s, generator=generator, dtype=torch.float64).requires_grad_() for n, s in shapes.items()}
    y = torch.randint(size, (steps,), generator=generator)
    weights = {"input.weight": leaf["W_xh"], "input.bias": leaf["b"], "unit.h": leaf["W_hh"]}
    outputs, _ = scan(simple(activation), {"x": leaf["x"]}, {"unit.h": leaf["h_0"]}, weights, {}, torch.tensor([steps]))
    loss = softmax_loss(outputs["unit.h"][:, 0], leaf["W_hy"], leaf["h_0"].new_empty(0), y)
    got = dict(zip(leaf, torch.autograd.grad(loss, leaf.values()), strict=True))

    with torch.no_grad():
        h = [leaf["h_0"][0], *outputs["unit.h"][:, 0]]
        d = {name: torch.zeros_like(tensor) for name, tensor in leaf.items()}
        dh = torch.zeros(hidden, dtype=torch.float64)
        slope = {"tanh": lambda h: 1 - h * h, "sigmoid": lambda h: h * (1 - h), "relu": lambda h: (h > 0).double()}
        for t in range(steps, 0, -1):
            ds = torch.softmax(leaf["W_hy"] @ h[t], 0)  # 1
            ds[y[t - 1]] -= 1
            d["W_hy"] += torch.outer(ds, h[t])  # 2
            dh += leaf["W_hy"].T @ ds  # 3
            delta = slope[activation](h[t]) * dh  # 4
            d["W_xh"] += torch.outer(delta, leaf["x"][t - 1, 0])  # 5
            d["W_hh"] += torch.outer(delta, h[t - 1])
            d["b"] += delta
            d["x"][t - 1, 0] = leaf["W_xh"].T @ delta  # 6
            dh = leaf["W_hh"].T @ delta  # 7
        d["h_0"][0] = dh
    assert_close(got, d, rtol=0, atol=1e-12)
