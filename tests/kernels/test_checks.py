"""Tensors that do not fit are refused before any work, in one sentence that says which."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from anaphora.errors import ShapeError
from anaphora.kernels.cells import Lstm, Peephole
from anaphora.kernels.scan import scan
from anaphora.kernels.scores import General


def run(network: Any, **changes: Any) -> None:
    scan(**(network.arguments() | changes))


def without(tensors: dict[str, Tensor], name: str) -> dict[str, Tensor]:
    return {other: tensor for other, tensor in tensors.items() if other != name}


@pytest.mark.parametrize(
    ("group", "change", "complaint"),
    [
        ("inputs", lambda given: without(given, "x"), r"one input for each of \['dropout mask', 'x'\], but was given"),
        ("inputs", lambda given: given | {"y": given["x"]}, r"add or drop \['y'\]"),
        ("first", lambda given: without(given, "o"), r"one first value for each of .*add or drop \['o'\]"),
        ("weights", lambda given: without(given, "layer0.h"), "needs the weight 'layer0.h', but was given .*: add"),
        ("weights", lambda given: without(given, "input0.bias"), "needs the weight 'input0.bias'"),
        ("inputs", lambda given: given | {"x": given["x"][:3]}, r"agree in T and B.*\[\(3, 3\), \(4, 3\)\]"),
        ("first", lambda given: given | {"o": given["o"][:2]}, r"batch sizes \[2, 3\]: give every tensor the same"),
        ("lengths_B", lambda _: torch.tensor([4, 4]), r"the batch sizes \[2, 3\]"),
        ("lengths_B", lambda _: torch.tensor([4, 0, 1]), "between 1 and T=4, but go from 0 to 4"),
        ("lengths_B", lambda _: torch.tensor([4, 5, 1]), r"between 1 and T=4, but go from 1 to 5"),
        ("lengths_B", lambda given: given.double(), r"shape \(3,\) and the type torch.float64: give B integers"),
        ("lengths_B", lambda given: given.unsqueeze(1), r"shape \(3, 1\)"),
        (
            "weights",
            lambda given: given | {"feed.weight": given["feed.weight"][:, 1:]},
            r"'feed.weight' .* 28 x 9 .* 28 x 8",
        ),
    ],
)
def test_tensors_that_do_not_agree_are_named(
    group: str, change: Callable[[Any], Any], complaint: str, decoder: Callable
) -> None:
    network = decoder(Lstm(), General(), "current", True, 7)
    with pytest.raises(ShapeError, match=complaint):
        run(network, **{group: change(network.arguments()[group])})


def test_a_batch_of_no_sentences_is_refused(layers: Callable) -> None:
    network = layers(Lstm(), 7)
    nobody = {name: first[:0] for name, first in network.arguments()["first"].items()}
    with pytest.raises(ShapeError, match="each of one sentence or more"):
        run(network, inputs={"x": network.leaves["x"][:, :0]}, first=nobody, lengths_B=network.lengths_B[:0])


@pytest.mark.parametrize(
    ("name", "shape", "complaint"),
    [
        ("input0.weight", (28, 6), "'input0.weight' should be 28 x 5 to fit its input and its unit, but is 28 x 6"),
        ("input0.weight", (21, 5), "should be 28 x 5 .*, but is 21 x 5"),
        ("input0.bias", (27,), "should be 28 .*, but is 27: make the two agree"),
        ("layer0.h", (7, 28), "should be 28 x 7 .*, but is 7 x 28"),
        ("layer0.c_o", (8,), "should be 7 .*, but is 8"),
    ],
)
def test_a_weight_of_another_shape_is_named_with_the_shape_it_needs(
    name: str, shape: tuple[int, ...], complaint: str, layers: Callable
) -> None:
    network = layers(Peephole(), 7)
    weights = network.arguments()["weights"] | {name: torch.zeros(shape, dtype=torch.float64)}
    with pytest.raises(ShapeError, match=complaint):
        run(network, weights=weights)


@pytest.mark.parametrize("group", ["inputs", "first", "weights", "memory"])
def test_a_tensor_of_another_type_or_device_is_named(group: str, decoder: Callable) -> None:
    network = decoder(Lstm(), General(), "current", True, 7)
    tensors = network.arguments()[group]
    name = next(name for name, tensor in tensors.items() if name != "x" and tensor.is_floating_point())
    with pytest.raises(ShapeError, match=rf"one type and one device, but 'x' is .*'{name}' torch.float32 on cpu"):
        run(network, **{group: tensors | {name: tensors[name].float()}})
    with pytest.raises(ShapeError, match=rf"'x' is torch.float64 on cpu and '{name}' torch.float64 on meta: convert"):
        run(network, **{group: tensors | {name: tensors[name].to("meta")}})


def test_a_sentence_with_nothing_to_attend_to_is_refused(decoder: Callable) -> None:
    network = decoder(Lstm(), General(), "current", True, 7, positions=(2, 0, 1))
    with pytest.raises(ShapeError, match=r"attention\.closed closes every position of some sentence"):
        run(network)
