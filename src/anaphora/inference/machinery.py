"""Products, loops and softmax over arrays: what the networks here leave to ``kernels``."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import Parameter

from anaphora.kernels import linear as products
from anaphora.kernels import scan as loops
from anaphora.kernels import softmax, word_tables
from anaphora.kernels.program import Program

Array = np.ndarray[Any, Any]
Arrays = Mapping[str, Array]


class Words(NamedTuple):
    """Words that were not looked up yet."""

    ids_XB1: Array
    table_VD: Array
    scale: float

    @property
    def vectors(self) -> Array:
        found: Array = self.table_VD[self.ids_XB1[..., 0]]
        return found if self.scale == 1 else found * np.float32(self.scale)


_parameters = dict[int, tuple[Array, Parameter]]()


def _weight(array: Array) -> Parameter:
    if id(array) not in _parameters:
        _parameters[id(array)] = array, Parameter(torch.from_numpy(array), requires_grad=False)
    return _parameters[id(array)][1]


def _tensor(x: Any) -> Any:
    if isinstance(x, Words):
        return word_tables.Words(torch.from_numpy(np.ascontiguousarray(x.ids_XB1)), _weight(x.table_VD), x.scale)
    return torch.from_numpy(np.ascontiguousarray(x))


def _tensors(arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _tensor(array) for name, array in arrays.items()}


def _weights(arrays: Arrays) -> dict[str, Any]:
    return {name: _weight(array) for name, array in arrays.items()}


def linear(a_XK: Array, weight_NK: Array) -> Array:
    """W a for every row, each with the same bits in any batch."""
    with torch.inference_mode():
        return products.linear(_tensor(a_XK), _weight(weight_NK)).numpy()


def scan(
    program: Program, inputs: Mapping[str, Any], first: Arrays, weights: Arrays, memory: Arrays, lengths_B: Array
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Outputs and last state of a program over sequences: see ``kernels.scan.scan``; ``x`` may be words."""
    with torch.inference_mode():
        x = inputs["x"]
        read = word_tables.read_words(program, _weights(weights), _tensor(x))
        given = _tensors({name: one for name, one in inputs.items() if name != "x"}) | {"x": read.x_XBW}
        found = loops.scan(read.program, given, _tensors(first), read.weights, _tensors(memory), _tensor(lengths_B))
        return tuple({name: one.numpy() for name, one in group.items()} for group in found)  # type: ignore[return-value]


def advance(
    program: Program, inputs: Mapping[str, Any], state: Arrays, weights: Arrays, memory: Arrays
) -> dict[str, Array]:
    """All signals after one step: see ``kernels.scan.advance``; ``x`` may be words."""
    with torch.inference_mode():
        read = word_tables.read_words_of_step(program, _weights(weights), _tensor(inputs["x"]))
        given = _tensors({name: one for name, one in inputs.items() if name != "x"}) | {"x": read.x_XBW}
        found = loops.advance(read.program, given, _tensors(state), read.weights, _tensors(memory))
        return {name: one.numpy() for name, one in found.items()}


def log_softmax(z_NV: Array) -> Array:
    """log softmax(z) of every row; ``z_NV`` is used up."""
    with torch.inference_mode():
        return softmax.log_softmax(_tensor(z_NV)).numpy()


def picked_log_softmax(z_NV: Array, bias_V: Array, rows_E: Array, ids_E: Array) -> Array:
    """ln p of some words at rows and ids: see ``kernels.softmax.picked_log_softmax``."""
    with torch.inference_mode():
        return softmax.picked_log_softmax(*map(_tensor, (z_NV, bias_V, rows_E, ids_E))).numpy()


def lower(
    stepper: Any, program: Program, weights: Arrays, memory: Arrays, first: Arrays, words: Any, output: Any
) -> Any:
    """Return a network as a search in C takes it; ``first`` is the initial state, B x width by carried signal.

    None where the steps cannot be taken in C: where parts have an obstacle, or words are not looked up in a table and
    scored by one softmax.
    """
    raise NotImplementedError
