"""Every unit, by itself and with what may stand between units: its gradients, its naive reading, and torch.nn's."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations
from typing import Any, ClassVar, Literal

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.testing import assert_close

from anaphora.kernels.cells import Cell, Elman, Gru, Lstm, Peephole
from anaphora.kernels.cells.light import MinGru, MinLstm, Qrnn, Sru, Ssru
from anaphora.kernels.cells.lstm_variants import LstmForget, LstmNoOutputTanh, TwoGate
from anaphora.kernels.cells.mogrifier import Mogrifier
from anaphora.kernels.cells.multiplicative import Multiplicative
from anaphora.kernels.cells.recorded import AutogradCell, State
from anaphora.kernels.naive.units import NORMALISED_UNITS

from .conftest import DROPPED, VARIATIONAL

TOGETHER = {"residual": True, "layer_norm": True, "dropout": VARIATIONAL}
PLAIN: list[tuple[int, dict[str, Any]]] = [
    (hidden, some) for hidden in (1, 7, 63) for some in ({}, {"dropout": DROPPED})
]
STACKS = [*PLAIN, *((7, dict(some)) for count in (1, 2, 3) for some in combinations(TOGETHER.items(), count))]


def test_the_derived_gradients_are_those_of_finite_differences(cell: Cell, layers: Callable) -> None:
    assert layers(cell, 1, lengths=(1, 2)).exact()
    assert layers(cell, 63).exact(fast_mode=True)


@pytest.mark.matrix
def test_the_derived_gradients_are_right_with_all_that_may_stand_between_units(cell: Cell, layers: Callable) -> None:
    assert layers(cell, 63, height=2, **TOGETHER).exact(fast_mode=True)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("hidden", "options"), STACKS, ids=lambda value: str(value) if isinstance(value, int) else "-".join(value)
)
def test_a_stack_is_its_naive_reading(cell: Cell, hidden: int, options: dict[str, Any], layers: Callable) -> None:
    if type(cell) not in NORMALISED_UNITS:
        options = options | {"layer_norm": False}
    layers(cell, hidden, height=3, **options).assert_naive()


def test_padding_full_of_nan_changes_no_bit(cell: Cell, layers: Callable) -> None:
    network = layers(cell, 7, height=2)
    poisoned = network.poisoned()
    poisoned.assert_same(poisoned.fast(), network.fast(), atol=0, gradient_atol=0, of=network)


def test_two_chunks_with_carried_state_equal_one_pass(cell: Cell, layers: Callable) -> None:
    whole = layers(cell, 7, height=2, lengths=(4, 5, 5))
    whole.assert_same(whole.in_two_chunks(3), whole.fast(), atol=1e-12, gradient_atol=1e-12)


@pytest.mark.matrix
@pytest.mark.parametrize("output", ["layer0.h", "last"])
def test_each_output_alone_has_its_whole_gradient(cell: Cell, output: str, layers: Callable) -> None:
    network = layers(cell, 7)
    derived, expected = (
        torch.autograd.grad(
            sum(value.sin().sum() for name, value in outputs.items() if name.startswith(output)),
            network.leaves.values(),
            materialize_grads=True,
        )
        for outputs in (network.fast(), network.naive())
    )
    assert_close(derived, expected, rtol=0, atol=1e-10)


def no_weights(leaves: Mapping[str, Tensor], layer: int) -> dict[str, Tensor]:
    return {f"bias_hh_l{layer}": torch.zeros_like(leaves[f"input{layer}.bias"])}


def gru_weights(leaves: Mapping[str, Tensor], layer: int) -> dict[str, Tensor]:
    inside = leaves[f"layer{layer}.bias"]
    return {f"bias_hh_l{layer}": torch.cat([inside.new_zeros(2 * len(inside)), inside])}


@pytest.mark.parametrize(
    ("unit", "theirs", "second_bias"),
    [
        (Elman(), nn.RNN, no_weights),
        (Elman(activation="relu"), partial(nn.RNN, nonlinearity="relu"), no_weights),
        (Lstm(), nn.LSTM, no_weights),
        (Gru(recurrent_bias=True), nn.GRU, gru_weights),
    ],
    ids=["elman-tanh", "elman-relu", "lstm", "gru"],
)
@pytest.mark.parametrize("lengths", [(4, 4, 4), (2, 4, 1)], ids=["full", "packed"])
def test_torch_gives_the_same_with_the_same_weights(
    unit: Cell, theirs: Callable[..., nn.RNNBase], second_bias: Callable, lengths: tuple[int, ...], layers: Callable
) -> None:
    network = layers(unit, 7, height=2, lengths=lengths)
    leaves = network.leaves
    weights = {}
    for n in (0, 1):
        weights |= {f"weight_ih_l{n}": leaves[f"input{n}.weight"], f"weight_hh_l{n}": leaves[f"layer{n}.h"]}
        weights |= {f"bias_ih_l{n}": leaves[f"input{n}.bias"]} | second_bias(leaves, n)
    first = tuple(torch.stack([leaves[f"first layer{n}.{f}"] for n in (0, 1)]) for f in unit.state)
    packed = pack_padded_sequence(leaves["x"], torch.tensor(lengths), enforce_sorted=False)
    module = theirs(5, 7, num_layers=2, dtype=torch.float64)
    result, last = functional_call(module, weights, (packed, first if len(first) > 1 else first[0]))
    last = last if isinstance(last, tuple) else (last,)
    expected = {"layer1.h": pad_packed_sequence(result)[0]}
    expected |= {f"last layer{n}.{f}": last[k][n] for n in (0, 1) for k, f in enumerate(unit.state)}

    network.assert_same(network.fast(), expected, atol=1e-12, gradient_atol=1e-11)


@pytest.mark.parametrize(
    "forgetting", [Lstm, LstmForget, LstmNoOutputTanh, Peephole, TwoGate, Ssru, Sru, Qrnn, MinGru, MinLstm]
)
def test_a_unit_that_can_forget_starts_with_its_forget_gate_open(forgetting: type[Cell]) -> None:
    unit = forgetting()
    bias = torch.zeros(3 * unit.gates)
    unit.start_bias(bias)
    assert bias.tolist() == [0] * 3 + [1] * 3 + [0] * 3 * (unit.gates - 2)


def test_a_mogrifier_starts_with_the_forget_gate_of_its_lstm_open() -> None:
    unit = Mogrifier(forget_bias=2.0)
    bias, vectors = torch.zeros(3), {name: torch.zeros(3) for name in unit.vectors}
    unit.start_bias(bias)
    unit.start_vectors(vectors)
    assert {name: vector.sum().item() for name, vector in {"x": bias, **vectors}.items() if vector.any()} == {"b_f": 6}


def test_the_factors_of_a_multiplicative_unit_start_without_a_bias() -> None:
    bias = torch.ones(6)
    Multiplicative().start_bias(bias)
    assert bias.tolist() == [0] * 3 + [1] * 3


def test_a_sentence_has_the_same_bits_alone_and_among_others(cell: Cell, layers: Callable) -> None:
    network = layers(cell, 20, height=2, lengths=(5, 2, 7, 1, 9, 3, 9), **TOGETHER).to(torch.float32)
    with torch.no_grad():
        network.assert_same_bits_alone()


def sigmoid(a: Tensor) -> Tensor:
    return 1 / (1 + torch.exp(-a))


class SketchedPeephole(AutogradCell):
    """The LSTM with diagonal peepholes."""

    kind: Literal["sketched-peephole"] = "sketched-peephole"

    blocks: ClassVar[str] = "ifgo"
    state: ClassVar[tuple[str, ...]] = ("h", "c")
    matmuls = property(lambda self: (("h", "ifgo"),))
    vectors = property(lambda self: ("c_i", "c_f", "c_o"))

    def step(self, x_BG: Tensor, state: State, ops: Any) -> State:
        h, c = state
        i, f, g, o = (x_BG + ops.times("h", h)).chunk(4, -1)
        i, f = sigmoid(i + ops.vector("c_i") * c), sigmoid(f + ops.vector("c_f") * c)
        c = f * c + i * torch.tanh(g)
        return sigmoid(o + ops.vector("c_o") * c) * torch.tanh(c), c


class SketchedTwice(AutogradCell):
    """A unit that multiplies by the same matrix twice in a step."""

    kind: Literal["sketched-twice"] = "sketched-twice"

    blocks: ClassVar[str] = "h"
    state: ClassVar[tuple[str, ...]] = ("h",)
    matmuls = property(lambda self: (("h", "h"),))

    def step(self, x_BG: Tensor, state: State, ops: Any) -> State:
        (h,) = state
        return (torch.tanh(x_BG + ops.times("h", torch.tanh(ops.times("h", h)))),)


@pytest.mark.parametrize("unit", [SketchedPeephole(), SketchedTwice()], ids=lambda unit: unit.kind)
def test_values_and_gradients_equal_the_naive_reading(unit: AutogradCell, layers: Callable) -> None:
    layers(unit, 7, height=2, dropout=DROPPED).assert_naive()


def test_search_needs_no_gradient_of_it(layers: Callable) -> None:
    network = layers(SketchedPeephole(), 7)
    expected = {name: value.detach() for name, value in network.fast().items()}
    with torch.inference_mode():
        got = network.fast()
    assert_close(got, expected, rtol=0, atol=1e-12)
    assert not any(value.requires_grad for value in got.values())
