"""Units that leave the way back to autograd: the same numbers as derived units, wherever those may stand."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels.cells import Peephole, Recorded, State
from anaphora.kernels.scores import General


def sigmoid(a: Tensor) -> Tensor:
    return 1 / (1 + torch.exp(-a))


class SketchedPeephole(Recorded):
    """The LSTM with diagonal peepholes."""

    kind: Literal["sketched-peephole"] = "sketched-peephole"

    gates: ClassVar[int] = 4
    state: ClassVar[tuple[str, ...]] = ("h", "c")
    matmuls = property(lambda self: (("h", 4),))
    vectors = property(lambda self: ("c_i", "c_f", "c_o"))

    def step(self, x_BG: Tensor, state: State, matmul: Any) -> State:
        h, c = state
        i, f, g, o = (x_BG + matmul("h", h)).chunk(4, -1)
        i, f = sigmoid(i + matmul.vector("c_i") * c), sigmoid(f + matmul.vector("c_f") * c)
        c = f * c + i * torch.tanh(g)
        return sigmoid(o + matmul.vector("c_o") * c) * torch.tanh(c), c


class SketchedTwice(Recorded):
    """A unit that multiplies by the same matrix twice in a step."""

    kind: Literal["sketched-twice"] = "sketched-twice"

    gates: ClassVar[int] = 1
    state: ClassVar[tuple[str, ...]] = ("h",)
    matmuls = property(lambda self: (("h", 1),))

    def step(self, x_BG: Tensor, state: State, matmul: Any) -> State:
        (h,) = state
        return (torch.tanh(x_BG + matmul("h", torch.tanh(matmul("h", h)))),)


SKETCHES = pytest.mark.parametrize("unit", [SketchedPeephole(), SketchedTwice()], ids=lambda unit: unit.kind)


def test_values_and_gradients_are_those_of_the_derived_unit(layers: Callable) -> None:
    sketched, derived = layers(SketchedPeephole(), 7, height=2), layers(Peephole(), 7, height=2)
    got, expected = sketched.fast(), derived.fast()
    assert_close(got, expected, rtol=0, atol=1e-12)
    assert_close(sketched.gradients(got), derived.gradients(expected), rtol=0, atol=1e-11)


@SKETCHES
def test_values_and_gradients_equal_the_naive_reading(unit: Recorded, layers: Callable) -> None:
    network = layers(unit, 7, height=2, masked=True)
    fast, slow = network.fast(), network.naive()
    assert_close(fast, slow, rtol=0, atol=1e-10)
    gradients = network.gradients(fast)
    assert_close(gradients, network.gradients(slow), rtol=0, atol=1e-10)
    assert all(gradient.abs().sum() > 0 for gradient in gradients.values())


def test_a_decoder_can_have_such_a_unit(query: str, decoder: Callable) -> None:
    network = decoder(SketchedPeephole(), General(), query, True, 7)
    assert_close(network.gradients(network.fast()), network.gradients(network.naive()), rtol=0, atol=1e-10)


@SKETCHES
def test_the_way_back_can_be_walked_twice(unit: Recorded, layers: Callable) -> None:
    network = layers(unit, 7)
    loss = network.fast()["layer0.h"].sum()
    once, twice = (torch.autograd.grad(loss, network.leaves.values(), retain_graph=True) for _ in range(2))
    assert_close(once, twice, rtol=0, atol=0)


def test_search_needs_no_gradient_of_it(layers: Callable) -> None:
    network = layers(SketchedPeephole(), 7)
    expected = {name: value.detach() for name, value in network.fast().items()}
    with torch.inference_mode():
        got = network.fast()
    assert_close(got, expected, rtol=0, atol=1e-12)
    assert not any(value.requires_grad for value in got.values())
