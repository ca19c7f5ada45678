"""Every unit, by itself and with what may stand between units: its gradients, its naive reading, and torch.nn's."""

import itertools
from collections.abc import Callable, Mapping
from functools import partial

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
from anaphora.kernels.naive.units import NORMALISED_UNITS


def test_the_derived_gradients_are_those_of_finite_differences(cell: Cell, layers: Callable) -> None:
    assert layers(cell, 1, lengths=(1, 2)).exact()


def test_the_derived_gradients_are_right_at_a_large_odd_size(cell: Cell, layers: Callable) -> None:
    assert layers(cell, 63).exact(fast_mode=True)


@pytest.mark.matrix
@pytest.mark.parametrize("hidden", [1, 7, 63])
@pytest.mark.parametrize("masked", [False, True], ids=["plain", "masked"])
def test_values_and_gradients_of_a_stack_equal_the_naive_reading(
    cell: Cell, hidden: int, masked: bool, layers: Callable
) -> None:
    layers(cell, hidden, height=2, masked=masked).assert_naive()


def test_padding_full_of_nan_changes_no_bit(cell: Cell, layers: Callable) -> None:
    network = layers(cell, 7, height=2)
    poisoned = network.poisoned()
    poisoned.assert_same(poisoned.fast(), network.fast(), atol=0, gradient_atol=0, of=network)


def test_two_chunks_with_carried_state_equal_one_pass(cell: Cell, layers: Callable) -> None:
    whole = layers(cell, 7, height=2, lengths=(4, 5, 5))
    whole.assert_same(whole.in_two_chunks(3), whole.fast(), atol=1e-12, gradient_atol=1e-12)


@pytest.mark.matrix
@pytest.mark.parametrize("output", ["layer0.h", "last"])
def test_outputs_alone_and_last_state_alone_have_their_whole_gradient(
    cell: Cell, output: str, layers: Callable
) -> None:
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


OPTIONS = [
    dict(zip(("residual", "normalised", "variational"), on, strict=True)) for on in itertools.product([0, 1], repeat=3)
]
TOGETHER = {"residual": True, "normalised": True, "variational": True}


def shown(options: dict[str, int]) -> str:
    return "-".join(name for name, on in options.items() if on) or "plain"


@pytest.mark.matrix
@pytest.mark.parametrize("options", OPTIONS[1:], ids=shown)
def test_values_and_gradients_equal_the_naive_reading(cell: Cell, options: dict[str, bool], layers: Callable) -> None:
    if options["normalised"] and type(cell) not in NORMALISED_UNITS:
        options = options | {"normalised": False}
    layers(cell, 7, height=3, **options).assert_naive()


@pytest.mark.matrix
def test_the_derived_gradients_are_right_with_all_that_may_stand_between_units(cell: Cell, layers: Callable) -> None:
    assert layers(cell, 63, height=2, **TOGETHER).exact(fast_mode=True)


def test_a_sentence_has_the_same_bits_alone_and_among_others(cell: Cell, layers: Callable) -> None:
    network = layers(cell, 20, height=2, lengths=(5, 2, 7, 1, 9, 3, 9), **TOGETHER).to(torch.float32)
    with torch.no_grad():
        network.assert_same_bits_alone()
