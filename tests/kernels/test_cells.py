"""Every unit by itself: its derived gradients, its naive reading, and torch.nn where it has the same unit."""

from collections.abc import Callable, Mapping

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.testing import assert_close

from anaphora.kernels.cells import Cell, Gru, Lstm


@pytest.mark.parametrize("hidden", [1, 7])
def test_the_derived_gradients_are_those_of_finite_differences(cell: Cell, hidden: int, layers: Callable) -> None:
    assert layers(cell, hidden, lengths=(1, 2)).exact()


def test_the_derived_gradients_are_right_at_a_large_odd_size(cell: Cell, layers: Callable) -> None:
    assert layers(cell, 63).exact(fast_mode=True)


@pytest.mark.parametrize("hidden", [1, 7, 63])
@pytest.mark.parametrize("masked", [False, True], ids=["plain", "masked"])
def test_values_and_gradients_of_a_stack_equal_the_naive_reading(
    cell: Cell, hidden: int, masked: bool, layers: Callable
) -> None:
    network = layers(cell, hidden, height=2, masked=masked)
    fast, slow = network.fast(), network.naive()
    assert_close(fast, slow, rtol=0, atol=1e-10)
    gradients = network.gradients(fast)
    assert_close(gradients, network.gradients(slow), rtol=0, atol=1e-10)
    assert all(gradient.abs().sum() > 0 for gradient in gradients.values())


@pytest.mark.parametrize("hidden", [1, 7])
def test_a_unit_has_the_shapes_that_it_declares(cell: Cell, hidden: int, layers: Callable) -> None:
    outputs = layers(cell, hidden).fast()
    assert list(outputs) == [f"layer0.{cell.state[0]}", *(f"last layer0.{name}" for name in cell.state)]
    assert outputs["layer0.h"].shape == (4, 3, hidden)
    assert all(outputs[f"last layer0.{name}"].shape == (3, hidden) for name in cell.state)


def lstm_weights(leaves: Mapping[str, Tensor], layer: int) -> dict[str, Tensor]:
    return {f"bias_hh_l{layer}": torch.zeros_like(leaves[f"input{layer}.bias"])}


def gru_weights(leaves: Mapping[str, Tensor], layer: int) -> dict[str, Tensor]:
    inside = leaves[f"layer{layer}.bias"]
    return {f"bias_hh_l{layer}": torch.cat([inside.new_zeros(2 * len(inside)), inside])}


@pytest.mark.parametrize(
    ("unit", "theirs", "second_bias"),
    [(Lstm(), nn.LSTM, lstm_weights), (Gru(recurrent_bias=True), nn.GRU, gru_weights)],
    ids=["lstm", "gru"],
)
@pytest.mark.parametrize("lengths", [(4, 4, 4), (2, 4, 1)], ids=["full", "packed"])
def test_torch_gives_the_same_with_the_same_weights(
    unit: Cell, theirs: type[nn.RNNBase], second_bias: Callable, lengths: tuple[int, ...], layers: Callable
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

    got = network.fast()
    assert_close(got, expected, rtol=0, atol=1e-12)
    assert_close(network.gradients(got), network.gradients({name: expected[name] for name in got}), rtol=0, atol=1e-11)


def test_an_update_gate_that_takes_the_new_is_the_negative_of_one_that_keeps_the_old(layers: Callable) -> None:
    keep, new = layers(Gru(update="keep"), 7), layers(Gru(update="new"), 7)
    z = slice(7, 14)
    negated = {name: leaf.detach().clone() for name, leaf in keep.leaves.items()}
    for name in ("input0.weight", "input0.bias", "layer0.h"):
        negated[name][z] *= -1
    assert_close(keep.fast(), new.fast(**negated), rtol=0, atol=1e-14)


def test_an_lstm_starts_with_its_forget_gate_open() -> None:
    bias = torch.zeros(12)
    Lstm().start_bias(bias)
    assert bias.tolist() == [0] * 3 + [1] * 3 + [0] * 6
