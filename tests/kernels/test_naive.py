"""The second reading against numbers worked out with nothing but the math module."""

import math

import pytest
import torch
from torch.testing import assert_close

from anaphora.kernels.cells import Cell, Elman, Gru, Lstm, Peephole
from anaphora.kernels.cells.light import MinGru, MinLstm, Qrnn, Sru, Ssru
from anaphora.kernels.cells.lstm_variants import LstmAdditive, LstmInput, LstmNoForget, LstmNoOutputTanh, TwoGate
from anaphora.kernels.cells.mogrifier import Mogrifier
from anaphora.kernels.cells.multiplicative import Multiplicative
from anaphora.kernels.naive.units import UNITS
from anaphora.kernels.scores import Dot
from tests.kernels import naive
from tests.kernels.naive import attention as naive_attention
from tests.kernels.naive.attention import AttentionOptions

from .conftest import shown


def sigm(a: float) -> float:
    return 1 / (1 + math.exp(-a))


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64).unsqueeze(1)


H, C = 0.5, -0.6
ENTER, KEEP, NEW, OUT = sigm(0.1 + H), sigm(0.2 + 2 * H), math.tanh(0.3 - H), sigm(0.4 + 0.5 * H)
"""The gates of an LSTM from these inputs and weights, and its new cell with a forget gate and without."""
CELL, ADDED = KEEP * C + ENTER * NEW, C + ENTER * NEW
INPUTS, WEIGHTS = (0.1, 0.2, 0.3, 0.4), (1.0, 2.0, -1.0, 0.5)
LOOKED = sigm(0.2 + 2 * H - 0.8 * C) * C + sigm(0.1 + H + 0.7 * C) * NEW
"""The cell of an LSTM whose gates see it."""
PEEPHOLED = [sigm(0.4 + 0.5 * H + 0.9 * LOOKED) * math.tanh(LOOKED), LOOKED]
NEW_BEFORE, NEW_AFTER = math.tanh(0.3 - 1.5 * (ENTER * H)), math.tanh(0.3 + ENTER * (-1.5 * H + 0.7))
OPEN, SHUT = sigm(0.2), sigm(0.4)
"""The gates of a light unit, which see no state before, and what it remembers of g = 0.1."""
LIGHT, SQUASHED = OPEN * C + (1 - OPEN) * 0.1, sigm(0.2 + 2) * C + (1 - sigm(0.2 + 2)) * math.tanh(0.1 - 1)
SEEN = sigm(0.2 + 0.5 * C) * C + (1 - sigm(0.2 + 0.5 * C)) * 0.1
PASSED = sigm(0.4 - 0.7 * C)
SHARED = OPEN / (OPEN + SHUT)
MOGRIFIED = 2 * sigm(3 * H) * 0.1
STATE = 2 * sigm(-2 * MOGRIFIED) * H
"""What an LSTM reads after two rounds."""
AFTER = sigm(2 * MOGRIFIED + 2 * STATE + 0.2) * C + sigm(MOGRIFIED + STATE) * math.tanh(3 * MOGRIFIED - STATE)
GATED = [sigm(4 * MOGRIFIED + 0.5 * STATE) * math.tanh(AFTER), AFTER]
ROUNDS = {"q1": (3.0,), "r2": (-2.0,), "x": (1.0, 2.0, 3.0, 4.0), "h": WEIGHTS}
ROUNDS |= {"b_i": (0.0,), "b_f": (0.2,), "b_g": (0.0,), "b_o": (0.0,)}
SEES = {"v_f": (0.5,), "v_o": (-0.7,)}
FAR = (0.6, 0.7, 0.8)
GRU = {"h": (1.0, 2.0, -1.5), "bias": (0.7,)}
RESET_BEFORE = {"h": (1.0, 2.0), "rh": (-1.5,)}


@pytest.mark.parametrize(
    ("unit", "inputs", "weights", "expected"),
    [
        (Lstm(), INPUTS, {"h": WEIGHTS}, [OUT * math.tanh(CELL), CELL]),
        (LstmNoOutputTanh(), INPUTS, {"h": WEIGHTS}, [OUT * CELL, CELL]),
        (LstmNoForget(), (0.1, 0.3, 0.4), {"h": (1.0, -1.0, 0.5)}, [OUT * math.tanh(ADDED), ADDED]),
        (LstmAdditive(), (0.3,), {"h": (-1.0,)}, [H + NEW]),
        (LstmInput(), (0.1, 0.3), {"h": (1.0, -1.0)}, [H + ENTER * NEW]),
        (TwoGate(), (0.1, 0.2, 0.3), {"h": (1.0, 2.0, -1.0)}, [KEEP * H + ENTER * NEW]),
        (Peephole(peephole="full"), INPUTS, {"h": WEIGHTS, "c": (0.7, -0.8), "c_new": (0.9,)}, PEEPHOLED),
        (
            Peephole(peephole="diagonal"),
            INPUTS,
            {"h": WEIGHTS, "c_i": (0.7,), "c_f": (-0.8,), "c_o": (0.9,)},
            PEEPHOLED,
        ),
        (Multiplicative(), (0.1, 0.2), {"h": (3.0,), "m": (-2.0,)}, [math.tanh(0.2 - 2 * (0.1 * (3 * H)))]),
        (Mogrifier(rounds=2), (0.1,), ROUNDS, GATED),
        (Ssru(), (0.1, 0.2), {}, [max(LIGHT, 0.0), LIGHT]),
        (MinGru(), (0.1, 0.2), {}, [OPEN * H + (1 - OPEN) * 0.1]),
        (MinLstm(), (0.1, 0.2, 0.4), {}, [SHARED * H + (1 - SHARED) * 0.1]),
        (Sru(), (*INPUTS[:2], 0.4, 0.3), SEES, [PASSED * SEEN + (1 - PASSED) * 0.3, SEEN]),
        (Qrnn(), (*INPUTS[:2], 0.4, *FAR), {}, [sigm(0.4 + 3) * SQUASHED, SQUASHED, *FAR]),
        (Elman(activation="tanh"), (0.1,), {"h": (-1.0,)}, [math.tanh(-0.4)]),
        (Elman(activation="sigmoid"), (0.1,), {"h": (-1.0,)}, [sigm(-0.4)]),
        (Elman(activation="relu"), (0.1,), {"h": (-1.0,)}, [0.0]),
        (Gru(update="new", recurrent_bias=True), (0.1, 0.2, 0.3), GRU, [KEEP * NEW_AFTER + (1 - KEEP) * H]),
        (Gru(update="keep", recurrent_bias=True), (0.1, 0.2, 0.3), GRU, [KEEP * H + (1 - KEEP) * NEW_AFTER]),
        (Gru(reset="before", update="new"), (0.1, 0.2, 0.3), RESET_BEFORE, [KEEP * NEW_BEFORE + (1 - KEEP) * H]),
        (Gru(reset="before", update="keep"), (0.1, 0.2, 0.3), RESET_BEFORE, [KEEP * H + (1 - KEEP) * NEW_BEFORE]),
    ],
    ids=lambda value: shown(value) if isinstance(value, Cell) else "",
)
def test_a_unit_by_pencil(
    unit: Cell, inputs: tuple[float, ...], weights: dict[str, tuple[float, ...]], expected: list[float]
) -> None:
    tensors = {name: column(*values)[0 if name in unit.vectors else slice(None)] for name, values in weights.items()}
    state = tuple(column(value) for value, _ in zip((H, C, -1, 2, 3), unit.state, strict=False))
    new = UNITS[type(unit)](unit, column(*inputs).T, state, tensors)
    assert_close([value.item() for value in new], expected)


def test_attention_by_pencil() -> None:
    query, memory = torch.tensor([[math.log(3.0)]]), torch.tensor([[[1.0], [0.0], [9.0]]])
    context, weights, _ = naive_attention.attention(AttentionOptions(Dot()), query, memory, torch.tensor([2]), {}, {})
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
