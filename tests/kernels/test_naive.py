"""The second reading against numbers worked out with nothing but the math module."""

import math
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from anaphora.errors import ConfigError
from anaphora.kernels.cells import Cell, Elman, Gru, Lstm, Peephole
from anaphora.kernels.cells.light import MinGru, MinLstm, Qrnn, Sru, Ssru
from anaphora.kernels.cells.lstm_variants import LstmAdditive, LstmInput, LstmNoForget, LstmNoOutputTanh, TwoGate
from anaphora.kernels.cells.mogrifier import Mogrifier
from anaphora.kernels.cells.multiplicative import Multiplicative
from anaphora.kernels.naive.units import UNITS
from anaphora.kernels.scores import Concat, Dot, General, Hybrid, Location, Score
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


@pytest.mark.parametrize(
    ("score", "width"),
    [(Dot(), 6), (General(), 6), (Location(), 6), (Concat(), 5), (Hybrid(), 5)],
    ids=lambda value: getattr(value, "kind", value),
)
def test_the_width_that_scaling_goes_by_is_the_one_summed_over(score: Score, width: int) -> None:
    assert score.width(query=6, hidden=5) == width


def test_dot_refuses_a_query_and_a_memory_of_different_widths() -> None:
    with pytest.raises(ConfigError, match=r"the annotations, 8, not 6: set decoder\.size = 8, or .*general"):
        Dot().weights(query=6, memory=8, hidden=5)


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (Dot(), [2.0, -3.0]),
        # W hs = (1, 0) and (3, 6)
        (General(), [2.0, 0.0]),
        # tanh(h + W hs) = tanh(3, -1) and tanh(5, 5)
        (Concat(), [0.9950548 - 7.6159416, 0.9999092 + 9.999092]),
        # with half of the coverage, which is (0.5, 2), on the second: tanh(3, -0.75) and tanh(5, 6)
        (Concat(coverage=True), [0.9950548 - 6.3514895, 0.9999092 + 9.9998771]),
        # the first two places of W h = (1, -2, ..)
        (Location(), [1.0, -2.0]),
        # of the weights (0.25, 0.75) the filter sees what is to the left twice and what is to the right three times,
        # 2.25 and 0.5, and the second number of the layer gets it: tanh(3, 1.25) and tanh(5, 5.5)
        (Hybrid(filters=1, radius=1), [0.9950548 + 8.4828364, 0.9999092 + 9.999666]),
        # tanh(2, 1.25) and tanh(2, -0.5)
        (Hybrid(filters=1, radius=1, content=False), [0.9640276 + 8.4828364, 0.9640276 - 4.6211716]),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_a_score_by_pencil(score: Any, expected: list[float]) -> None:
    query, memory = torch.tensor([[2.0, -1.0]]), torch.tensor([[[1.0, 0.0], [0.0, 3.0]]])
    weights = {
        "query": torch.eye(2),
        "memory": torch.tensor([[1.0, 1.0], [0.0, 2.0]]),
        "v": torch.tensor([[1.0, 10.0]]),
        "coverage": torch.tensor([0.0, 0.5]),
        "places": torch.tensor([[0.5, 0.0], [0.0, 2.0], [7.0, 7.0]]),
        "filters": torch.tensor([[2.0, 0.0, 3.0]]),
        "location": torch.tensor([[0.0], [1.0]]),
        "bias": torch.zeros(2),
    }
    carried = {"coverage": torch.tensor([[0.5, 2.0]]), "weights": torch.tensor([[0.25, 0.75]])}
    found = naive_attention.SCORES[type(score)](score, query, memory, weights, carried)
    assert_close(found, torch.tensor([expected]))
