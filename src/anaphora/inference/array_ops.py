"""Operations of a step over arrays, for parts that C has no body for: forward alone, blocks X x B x width.

Positions are a further dimension, X x B x S x width; open positions are a mask of the closed ones. Sums over positions
are made one after the other, so that a sentence has the same bits whatever the padding behind it.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from anaphora.kernels.compiled.library import Array
from anaphora.kernels.linear import linear
from anaphora.kernels.normalisation import EPSILON
from anaphora.kernels.ops import BlockOps


def sum_steps(x_TBW: Array) -> Array:
    """Return the sum over the first dimension, one after the other."""
    total: Array = x_TBW[0]
    for x_BW in x_TBW[1:]:
        total = total + x_BW
    return total


def sigmoid(a: Array) -> Array:
    with np.errstate(over="ignore"):
        found: Array = 1 / (1 + np.exp(-a))
    return found


def normalize(a: Array, gain_W: Array, bias_W: Array | None) -> Array:
    """Layer normalisation of every row: see ``kernels/normalisation.py``."""
    d = a - a.mean(-1, keepdims=True)
    y: Array = d / np.sqrt((d * d).mean(-1, keepdims=True) + np.float32(EPSILON)) * gain_W
    return y if bias_W is None else y + bias_W


class ArrayOps(BlockOps):
    """Operations of one part."""

    library = np

    def __init__(self, part: str, weights: Mapping[str, Array], memory: Mapping[str, Array]) -> None:
        """``part`` is the name in front of those of its weights and its memory."""
        self.part, self._weights, self._memory, self.normals = part, weights, memory, []

    def product(self, name: str, a: Array) -> Array:
        return linear(a, self.vector(name))

    def mix(self, name: str, a: Array, open_: Array) -> Array:
        of_positions = np.moveaxis(a, -1, 0)[..., None]
        return sum_steps(of_positions * self.sentences(name).swapaxes(0, 1)[:, None])

    def dot(self, name: str, a: Array, open_: Array) -> Array:
        found: Array = (a[:, :, None] * np.ascontiguousarray(self.sentences(name).swapaxes(1, 2))).sum(-1)
        return found

    def vector(self, name: str) -> Array:
        return self._weights[self.full(name)]

    columns = vector

    def sentences(self, name: str) -> Array:
        found = self._memory[self.full(name)]
        return found.astype(np.float32) if name == "length" else found

    def look_up(self, rows: Array, name: str) -> Array:
        return self.vector(name)[rows[..., 0].astype(np.int64)]

    def number(self, number: float) -> Array:
        return np.array(number, np.float32)

    def split(self, a: Array, *blocks: int) -> Sequence[Array]:
        ends = np.cumsum(blocks)[:-1] * (a.shape[-1] // sum(blocks))
        return [np.ascontiguousarray(block) for block in np.split(a, ends, -1)]

    def every_step(self, of_sentence: Array, like: Array) -> Array:
        return np.repeat(of_sentence[None], len(like), 0)

    def add_vector(self, a: Array, name: str) -> Array:
        vector = self.vector(name)
        a = a.copy()
        a[..., -vector.shape[-1] :] += vector
        return a

    def sigmoid(self, a: Array) -> Array:
        return sigmoid(a)

    def relu(self, a: Array) -> Array:
        return np.maximum(a, 0)

    def normal(self, a: Array, gain: str, bias: str = "") -> tuple[Array, None]:
        return normalize(a, self.vector(gain), self.vector(bias) if bias else None), None

    def softmax(self, e: Array, open_: Array, scale: float) -> Array:
        e = np.where(open_, np.float32(-np.inf), self.scale(e, scale))
        q = np.exp(e - e.max(-1, keepdims=True))
        found: Array = q / q.cumsum(-1)[..., -1:]
        return found

    def capped_exp(self, a: Array, largest: float) -> tuple[Array, Array]:
        value = np.exp(np.minimum(a, self.number(largest)))
        return value, value  # the derivative has no use

    def log_sigmoid(self, a: Array) -> Array:
        return -np.logaddexp(self.number(0), -a)

    def sum_positions(self, a: Array) -> Array:
        return sum_steps(np.moveaxis(a, -2, 0))

    def places(self) -> Array:
        return np.arange(1, self.positions + 1, dtype=np.float32)

    def only_open(self, a: Array, open_: Array) -> Array:
        return np.where(open_, np.float32(0), a)

    def median(self, weights: Array) -> Array:
        so_far = weights.cumsum(-1)
        counted: Array = (2 * so_far < so_far[..., -1:]).sum(-1, keepdims=True)
        return (counted + 1).astype(np.float32)

    def neighbours(self, a: Array, radius: int) -> Array:
        padded = np.pad(a, ((0, 0), (0, 0), (radius, radius)))
        return np.ascontiguousarray(np.lib.stride_tricks.sliding_window_view(padded, 2 * radius + 1, -1))

    def cut_or_pad(self, a: Array, width: int) -> Array:
        cut = a[..., :width]
        return np.pad(cut, ((0, 0), (0, 0), (0, width - cut.shape[-1])))

    def column(self, name: str, clock: Array) -> tuple[Array, None]:
        columns_BCW = self.sentences(name)
        places_XB = np.clip(clock[..., 0].astype(np.int64) - 1, 0, columns_BCW.shape[1] - 1)
        return columns_BCW[np.arange(len(columns_BCW)), places_XB], None
