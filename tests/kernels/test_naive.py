"""The second reading against numbers worked out with nothing but the math module."""

import math

import pytest
import torch
from torch.testing import assert_close

from anaphora.kernels import naive
from anaphora.kernels.cells import (
    Elman,
    Gru,
    Lstm,
    LstmAdditive,
    LstmInput,
    LstmNoForget,
    LstmNoOutputTanh,
    Multiplicative,
    Peephole,
    TwoGate,
)
from anaphora.kernels.naive import attention as naive_attention
from anaphora.kernels.naive import units as naive_units
from anaphora.kernels.naive.attention import Scored
from anaphora.kernels.scores import Dot


def sigm(a: float) -> float:
    return 1 / (1 + math.exp(-a))


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64).unsqueeze(1)


def test_lstm_by_pencil() -> None:
    a, h, c = torch.tensor([[0.1, 0.2, 0.3, 0.4]], dtype=torch.float64), column(0.5), column(-0.6)
    i, f, g, o = sigm(0.1 + 0.5), sigm(0.2 + 1.0), math.tanh(0.3 - 0.5), sigm(0.4 + 0.25)
    expected_c = f * -0.6 + i * g
    new_h, new_c = naive_units.lstm_step(Lstm(), a, (h, c), {"h": column(1.0, 2.0, -1.0, 0.5)})
    assert_close((new_h.item(), new_c.item()), (o * math.tanh(expected_c), expected_c))


@pytest.mark.parametrize(
    ("activation", "expected"), [("tanh", math.tanh(-0.4)), ("sigmoid", sigm(-0.4)), ("relu", 0.0)]
)
def test_elman_by_pencil(activation: str, expected: float) -> None:
    (new,) = naive_units.elman_step(Elman(activation=activation), column(0.1), (column(0.5),), {"h": column(-1.0)})
    assert_close(new.item(), expected)


def test_the_lstm_built_up_by_pencil() -> None:
    c, g, i, f = 0.5, math.tanh(0.3 - 0.5), sigm(0.1 + 0.5), sigm(0.2 + 1.0)
    a_i, a_f, a_g = (torch.tensor([[a]], dtype=torch.float64) for a in (0.1, 0.2, 0.3))
    (additive,) = naive_units.lstm_additive_step(LstmAdditive(), a_g, (column(c),), {"h": column(-1.0)})
    a = torch.cat([a_i, a_g], 1)
    (gated,) = naive_units.lstm_input_step(LstmInput(), a, (column(c),), {"h": column(1.0, -1.0)})
    a = torch.cat([a_i, a_f, a_g], 1)
    (forgetting,) = naive_units.two_gate_step(TwoGate(), a, (column(c),), {"h": column(1.0, 2.0, -1.0)})
    assert_close((additive.item(), gated.item(), forgetting.item()), (c + g, c + i * g, f * c + i * g))


def test_the_lstm_taken_apart_by_pencil() -> None:
    a, h, c = torch.tensor([[0.1, 0.2, 0.3, 0.4]], dtype=torch.float64), column(0.5), column(-0.6)
    i, f, g, o = sigm(0.1 + 0.5), sigm(0.2 + 1.0), math.tanh(0.3 - 0.5), sigm(0.4 + 0.25)
    weights = {"h": column(1.0, 2.0, -1.0, 0.5)}
    new = naive_units.lstm_no_output_tanh_step(LstmNoOutputTanh(), a, (h, c), weights)
    expected_c = f * -0.6 + i * g
    assert_close([t.item() for t in new], [o * expected_c, expected_c])
    keep = [0, 2, 3]
    new = naive_units.lstm_no_forget_step(LstmNoForget(), a[:, keep], (h, c), {"h": weights["h"][keep]})
    expected_c = -0.6 + i * g
    assert_close([t.item() for t in new], [o * math.tanh(expected_c), expected_c])


@pytest.mark.parametrize("peephole", ["full", "diagonal"])
def test_peephole_by_pencil(peephole: str) -> None:
    a, h, c = torch.tensor([[0.1, 0.2, 0.3, 0.4]], dtype=torch.float64), column(0.5), column(-0.6)
    i, f, g = sigm(0.1 + 0.5 - 0.6 * 0.7), sigm(0.2 + 1.0 - 0.6 * -0.8), math.tanh(0.3 - 0.5)
    expected_c = f * -0.6 + i * g
    o = sigm(0.4 + 0.25 + 0.9 * expected_c)
    weights = {"h": column(1.0, 2.0, -1.0, 0.5)}
    if peephole == "full":
        weights |= {"c": column(0.7, -0.8), "c_new": column(0.9)}
    else:
        weights |= {"c_i": column(0.7)[0], "c_f": column(-0.8)[0], "c_o": column(0.9)[0]}
    new_h, new_c = naive_units.peephole_step(Peephole(peephole=peephole), a, (h, c), weights)
    assert_close((new_h.item(), new_c.item()), (o * math.tanh(expected_c), expected_c))


def test_multiplicative_by_pencil() -> None:
    a = torch.tensor([[0.1, 0.2]], dtype=torch.float64)
    (new,) = naive_units.multiplicative_step(Multiplicative(), a, (column(0.5),), {"h": column(3.0), "m": column(-2.0)})
    assert_close(new.item(), math.tanh(0.2 - 2.0 * (0.1 * (3.0 * 0.5))))


@pytest.mark.parametrize("reset", ["before", "after"])
@pytest.mark.parametrize("update", ["new", "keep"])
def test_gru_by_pencil(reset: str, update: str) -> None:
    a, h, size = torch.tensor([[0.1, 0.2, 0.3]], dtype=torch.float64), 0.5, 1
    r, z = sigm(0.1 + 0.5), sigm(0.2 + 1.0)
    if reset == "before":
        g = math.tanh(0.3 - 1.5 * (r * h))
        weights = {"h": column(1.0, 2.0), "rh": column(-1.5)}
    else:
        g = math.tanh(0.3 + r * (-1.5 * h + 0.7))
        weights = {"h": column(1.0, 2.0, -1.5), "bias": torch.full((size,), 0.7, dtype=torch.float64)}
    expected = z * g + (1 - z) * h if update == "new" else z * h + (1 - z) * g
    unit = Gru(reset=reset, update=update, recurrent_bias=reset == "after")
    (new,) = naive_units.gru_step(unit, a, (column(h),), weights)
    assert_close(new.item(), expected)


def test_attention_by_pencil() -> None:
    query, memory = torch.tensor([[math.log(3.0)]]), torch.tensor([[[1.0], [0.0], [9.0]]])
    context, weights, _ = naive_attention.attention(Scored(Dot()), query, memory, torch.tensor([2]), {}, {})
    assert_close(weights, torch.tensor([[0.75, 0.25, 0.0]]))
    assert_close(context, torch.tensor([[0.75]]))


def test_cross_entropy_by_pencil() -> None:
    hidden, weight, targets = torch.tensor([[1.0]]), torch.tensor([[0.0], [math.log(3.0)]]), torch.tensor([1])
    assert_close(naive.cross_entropy(hidden, weight, None, targets).item(), -math.log(0.75))
    smoothed = -0.9 * math.log(0.75) - 0.1 * math.log(0.25)
    assert_close(naive.cross_entropy(hidden, weight, None, targets, smoothing=0.2).item(), smoothed)
    biased = naive.cross_entropy(hidden, weight, torch.tensor([math.log(3.0), 0.0]), targets)
    assert_close(biased.item(), math.log(2.0))


def test_a_sentence_that_has_ended_keeps_its_state_and_puts_out_zero() -> None:
    weights = {"input0.weight": torch.ones(3, 1), "layer0.h": torch.ones(3, 1)}
    x_TBD = torch.ones(3, 2, 1)
    outputs, state = naive.stack(Gru(), x_TBD, torch.tensor([1, 3]), {"layer0.h": torch.zeros(2, 1)}, weights)
    assert outputs["h"][1:, 0].count_nonzero() == 0
    assert_close(state["layer0.h"][0], outputs["h"][0, 0])
    assert_close(state["layer0.h"][1], outputs["h"][2, 1])
