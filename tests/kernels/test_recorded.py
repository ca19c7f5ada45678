"""Units that leave the way back to autograd: the same numbers as derived units, wherever those may stand."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels.cells import Peephole
from anaphora.kernels.cells.recorded import AutogradCell, State


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


SKETCHES = pytest.mark.parametrize("unit", [SketchedPeephole(), SketchedTwice()], ids=lambda unit: unit.kind)


def test_values_and_gradients_are_those_of_the_derived_unit(layers: Callable) -> None:
    sketched, derived = layers(SketchedPeephole(), 7, height=2), layers(Peephole(), 7, height=2)
    sketched.assert_same(sketched.fast(), derived.fast(), atol=1e-12, gradient_atol=1e-11, of=derived)


@SKETCHES
def test_values_and_gradients_equal_the_naive_reading(unit: AutogradCell, layers: Callable) -> None:
    layers(unit, 7, height=2, masked=True).assert_naive()


def test_search_needs_no_gradient_of_it(layers: Callable) -> None:
    network = layers(SketchedPeephole(), 7)
    expected = {name: value.detach() for name, value in network.fast().items()}
    with torch.inference_mode():
        got = network.fast()
    assert_close(got, expected, rtol=0, atol=1e-12)
    assert not any(value.requires_grad for value in got.values())
