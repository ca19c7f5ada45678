"""Operations on whole sequences, which graphs of ``models.description`` list: what each computes, and its attributes.

A signal holds a vector for each row (B x W), or for each step of each row (T x B x W); what lies past the end of a row
is of no consequence. Nothing that is summed up here is summed in an order that depends on other rows, so that a row
has the same bits in any batch.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from anaphora.batch import Grid, Ids, Items, Values
from anaphora.errors import ShapeError
from anaphora.files import DamagedError
from anaphora.inference.machinery import Array, Words, advance, linear, scan
from anaphora.kernels.convolution_plan import Plan, folding, unfolding
from anaphora.kernels.normalisation import EPSILON
from anaphora.kernels.program_data import program_from_data

Signal = Any
"""An array, or ``Words`` that were not looked up yet."""
Operation = Callable[..., Any]
"""From the rows of a batch and signals to a signal, or several."""

NOTHING = np.zeros(0, np.float32)
"""A bias that there is not."""


class Weights:
    """The tensors of a checkpoint by name."""

    def __init__(self, tensors: Mapping[str, Array]) -> None:
        self._tensors = tensors

    def __getitem__(self, name: str) -> Array:
        """Return a tensor; nothing has no name. DamagedError for one that there is not."""
        if not name:
            return NOTHING
        if name not in self._tensors:
            raise DamagedError(f"The description of the network names a tensor {name}, which its weights have not.")
        return self._tensors[name]

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def under(self, prefix: str) -> dict[str, Array]:
        """Return the tensors whose names begin so, by the rest of their names."""
        return {name.removeprefix(prefix): one for name, one in self._tensors.items() if name.startswith(prefix)}


class Rows:
    """The rows of a batch."""

    def __init__(self, lengths_B: Array) -> None:
        """``lengths_B`` has the steps of each, int64."""
        self.lengths_B = lengths_B

    @cached_property
    def _numbers_B(self) -> Array:
        return np.arange(len(self.lengths_B))

    def open(self, x_TBW: Array) -> Array:
        """T x B x 1: true within a row."""
        return (np.arange(len(x_TBW))[:, None] < self.lengths_B)[..., None]

    def last(self, x_TBW: Array) -> Array:
        """Return the last step of each row."""
        return x_TBW[self.lengths_B - 1, self._numbers_B]

    def reverse(self, x_TBW: Array, but: int) -> Array:
        """Return the steps of each row in reverse, all but the last ``but``; these and the padding stay."""
        places_T1 = np.arange(len(x_TBW))[:, None]
        turned_TB = self.lengths_B - but - 1 - places_T1
        return x_TBW[np.where(turned_TB >= 0, turned_TB, places_T1), self._numbers_B]

    def zeros(self, width: int) -> Array:
        return np.zeros((len(self.lengths_B), width), np.float32)


def vectors(x: Signal) -> Array:
    """Return a signal with its words looked up."""
    return x.vectors if isinstance(x, Words) else x


def affine(x: Array, weight_NK: Array, bias_N: Array = NOTHING) -> Array:
    """W x + b for every row, b where it has numbers."""
    y = linear(x, weight_NK)
    return y + bias_N if bias_N.size else y


def sum_steps(x_TBW: Array) -> Array:
    """Return the sum over steps, one after the other."""
    total = x_TBW[0]
    for x_BW in x_TBW[1:]:
        total = total + x_BW
    return total


def sigmoid(a: Array) -> Array:
    with np.errstate(over="ignore"):
        found: Array = 1 / (1 + np.exp(-a))
    return found


class Recurrence:
    """Recurrent layers that read a sequence by themselves."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        """``data``: the program of a step, what its weights begin with, their size and what they start from."""
        self.program = program_from_data(data["program"])
        self.weights = weights.under(data["weights"])
        self._first = {name: np.zeros(data["size"], np.float32) for name in self.program.carried}
        self._first |= {name: weights[of] for name, of in data["first"].items()}

    def initial_state(self, rows: int) -> dict[str, Array]:
        """Return the state before anything was read, B x H by carried signal."""
        return {name: np.tile(first_H, (rows, 1)) for name, first_H in self._first.items()}

    def scan(self, x: Signal, lengths_B: Array, first: Mapping[str, Array]) -> tuple[Array, dict[str, Array]]:
        """Return the outputs of the top layer, T x B x H, and the state at the end of each row."""
        outputs, state = scan(self.program, {"x": x}, first, self.weights, {}, lengths_B)
        return outputs[self.program.returns[0]], state

    def advance(self, x_1N: Signal, state: Mapping[str, Array]) -> tuple[Array, dict[str, Array]]:
        """Return one step of N rows: the output of the top layer, N x H, and the new state."""
        before = {name: rows[None] for name, rows in state.items()}
        signals = advance(self.program, {"x": x_1N}, before, self.weights, {})
        return signals[self.program.returns[0]][0], {name: signals[name][0] for name in self.program.carried}


class Operations:
    """The operations, each a method from its attributes to a function of rows and signals."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights

    def embed(self, table: str, scale: float) -> Operation:
        """Rows of a table, by ids."""
        table_VD = self._weights[table]
        return lambda rows, ids: Words(ids[..., None], table_VD, scale)

    def spell(self, words: Sequence[Sequence[int]], weights: str, widths: int, highways: int) -> Operation:
        """Vectors of words from their characters (see ``kernels/spelling.py``): of ``words`` by id, or of a batch's."""
        own = self._weights.under(weights)
        known = [np.array(word) for word in words]

        def of_ids(rows: Rows, ids: Array) -> Array:
            distinct_N, places = np.unique(ids, return_inverse=True)
            return _spelt([known[word] for word in distinct_N], own, widths, highways)[places.reshape(ids.shape)]

        def of_batch(rows: Rows, spelt: Any) -> Array:
            pairs = zip(spelt.characters_NL, spelt.lengths_N, strict=True)
            return _spelt([word[:length] for word, length in pairs], own, widths, highways)[spelt.words_BT.T]

        return of_ids if known else of_batch

    def standardize(self, mean: Sequence[float], deviation: Sequence[float]) -> Operation:
        """Vectors less their means, divided by their deviations."""
        mean_D, deviation_D = np.array(mean, np.float32), np.array(deviation, np.float32)
        return lambda rows, x: (x - mean_D) / deviation_D

    def scan(self, **data: Any) -> Operation:
        """Recurrent layers over steps: their outputs, and the last state of each row by carried signal."""
        layers = Recurrence(self._weights, data)

        def run(rows: Rows, x: Signal) -> tuple[Array, ...]:
            outputs, state = layers.scan(x, rows.lengths_B, layers.initial_state(len(rows.lengths_B)))
            return outputs, *(state[name] for name in layers.program.carried)

        return run

    def reverse(self, but: int) -> Operation:
        """The steps of each row in reverse, all but the last ``but``."""

        def run(rows: Rows, x: Signal) -> Signal:
            return x._replace(ids_XB1=rows.reverse(x.ids_XB1, but)) if isinstance(x, Words) else rows.reverse(x, but)

        return run

    def join(self) -> Operation:
        """Vectors one after the other."""
        return lambda rows, *signals: np.concatenate([vectors(x) for x in signals], -1)

    def add(self) -> Operation:
        """The sum of two."""
        return lambda rows, a, b: vectors(a) + vectors(b)

    def add_rows(self, weight: str) -> Operation:
        """A learned vector added at each step."""
        return lambda rows, x: x + self._weights[weight][:, None]

    def project(self, weight: str, bias: str) -> Operation:
        """W x + b, b where it has a name."""
        weight_NK, bias_N = self._weights[weight], self._weights[bias]
        return lambda rows, x: affine(vectors(x), weight_NK, bias_N)

    def tanh(self) -> Operation:
        return lambda rows, x: np.tanh(x)

    def relu(self) -> Operation:
        return lambda rows, x: np.maximum(x, 0)

    def normalize(self, gain: str, bias: str) -> Operation:
        """Layer normalisation: see ``kernels/normalisation.py``."""
        gain_W, bias_W = self._weights[gain], self._weights[bias]

        def run(rows: Rows, a: Array) -> Array:
            d = a - a.mean(-1, keepdims=True)
            y = d / np.sqrt((d * d).mean(-1, keepdims=True) + np.float32(EPSILON)) * gain_W
            return y + bias_W if bias_W.size else y

        return run

    def mean(self) -> Operation:
        """The mean of the steps of each row."""

        def run(rows: Rows, x: Signal) -> Array:
            x_TBW = vectors(x)
            shares_TB1 = rows.open(x_TBW) / rows.lengths_B[:, None].astype(np.float32)
            return sum_steps(x_TBW * shares_TB1.astype(np.float32))

        return run

    def max(self) -> Operation:
        """The maximum of each number over the steps of each row."""
        return lambda rows, x: np.where(rows.open(vectors(x)), vectors(x), -np.inf).max(0).astype(np.float32)

    def last(self) -> Operation:
        """The last step of each row."""
        return lambda rows, x: rows.last(vectors(x))

    def attention_pool(self) -> Operation:
        """The mean of steps weighted by the softmax of their scores (T x B x 1)."""

        def run(rows: Rows, x: Signal, scores_TB1: Array) -> Array:
            closed_TB1 = ~rows.open(scores_TB1)
            open_TB1 = np.where(closed_TB1, np.float32(-np.inf), scores_TB1)
            q_TB1 = np.exp(open_TB1 - open_TB1.max(0))
            return sum_steps(vectors(x) * (q_TB1 / sum_steps(q_TB1)))

        return run

    def convolve(self, weight: str, bias: str, width: int) -> Operation:
        """Filters over ``width`` steps, past both ends of a row zeros: see ``nn/encoders/cnn.py``."""
        matrix, bias_N, left = self._weights[weight], self._weights[bias], (width - 1) // 2

        def run(rows: Rows, x: Signal) -> Array:
            x_TBW = np.where(rows.open(vectors(x)), vectors(x), np.float32(0))
            padded = np.pad(x_TBW, ((left, width - 1 - left), (0, 0), (0, 0)))
            return affine(_windows(padded, width), matrix, bias_N)

        return run

    def windows(self, words: int) -> Operation:
        """Every ``words`` vectors that follow each other as one; so many less one fewer steps."""
        return lambda rows, x: _windows(vectors(x), words)

    def diagonal_windows(self, weight: str) -> Operation:
        """The sum of as many vectors that follow each other as the weight has rows, number by number times these."""
        scales = self._weights[weight]
        return lambda rows, x: _weighted(vectors(x), scales)

    def gated_convolution(self, weights: str) -> Operation:
        """The one vector that a gated recursive convolution leaves: see ``kernels/gated_convolution.py``."""
        own = self._weights.under(weights)
        fold_NH = np.concatenate([own["parent.weight"], own["choice.weight"]])
        bias_C = np.concatenate([own["parent.bias"], own["choice.bias"]]) if "parent.bias" in own else NOTHING

        def run(rows: Rows, h_SBH: Array) -> Array:
            top_BH, left_N, h = np.empty_like(h_SBH[0]), np.arange(h_SBH.shape[1]), h_SBH
            for size in range(1, len(h_SBH) + 1):
                ends_N = rows.lengths_B[left_N] == size
                top_BH[left_N[ends_N]] = h[0, ends_N]
                left_N, h = left_N[~ends_N], h[:, ~ends_N]
                if not len(left_N):
                    break
                h = _fold(h, fold_NH, bias_C)
            return top_BH

        return run

    def convolution(self, weights: str, widest: int) -> Operation:
        """The one vector that convolutions leave of the columns of each row: see ``kernels/convolution.py``."""
        own = self._weights.under(weights)
        return lambda rows, x: _lay_along(vectors(x), folding(rows.lengths_B.tolist(), widest), own)[0]

    def ngram_convolution(self, weights: str, widest: int, folds: int, lengths: str) -> Operation:
        """A column for every expected token of the output, B x T x W: see ``nn/encoders/ngram_convolution.py``."""
        own, observed = self._weights.under(weights), self._weights[lengths]

        def run(rows: Rows, x: Signal) -> Array:
            wanted_B = _expected_length(rows.lengths_B, observed)
            plan = folding(rows.lengths_B.tolist(), widest, folds, wanted_B.tolist())
            grams = np.tanh(linear(_lay_along(vectors(x), plan, own), own["translation.weight"]))
            columns = _lay_along(grams, unfolding(plan.columns, wanted_B.tolist(), widest), own)
            places_TB = np.minimum(np.arange(len(columns))[:, None], wanted_B - 1)
            return np.ascontiguousarray(columns[places_TB, np.arange(len(wanted_B))].swapaxes(0, 1))

        return run

    def rows_first(self, transposed: bool) -> Operation:
        """B x T x W, or ``transposed`` B x W x T, zero past the end."""
        axes = (1, 2, 0) if transposed else (1, 0, 2)
        return lambda rows, x: np.ascontiguousarray((vectors(x) * rows.open(vectors(x))).transpose(axes))

    def closed(self, reach: int) -> Operation:
        """B x T: true past the end of a row, and, where it is not 0, of ``reach`` steps."""
        return lambda rows, x: np.arange(len(vectors(x))) >= _within(rows, reach)

    def length(self, reach: int) -> Operation:
        """B x 1: steps of each row, at most ``reach`` where that is not 0."""
        return lambda rows, x: _within(rows, reach)

    def zeros(self, width: int) -> Operation:
        """Zeros for each row."""
        return lambda rows, x: rows.zeros(width)

    def zero_positions(self) -> Operation:
        """Zeros for each step, as one vector a row."""
        return lambda rows, x: rows.zeros(len(vectors(x)))

    def first_position(self) -> Operation:
        """The same with 1 for the first step."""

        def run(rows: Rows, x: Signal) -> Array:
            found = rows.zeros(len(vectors(x)))
            found[:, 0] = 1
            return found

        return run


class Graph:
    """A graph of operations with its weights."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        """``data`` as ``models.description`` has it."""
        known = Operations(weights)
        self._steps = [
            (getattr(known, operation)(**attributes), inputs, outputs)
            for operation, inputs, attributes, outputs in data["operations"]
        ]
        self._outputs = data["outputs"]

    def run(self, lengths_B: Array, **inputs: Any) -> dict[str, Any]:
        """Return the outputs by name; ``lengths_B`` are the steps of each row."""
        rows, signals = Rows(lengths_B), dict[str, Any](inputs)
        for operation, names, outputs in self._steps:
            found = operation(rows, *(signals[name] for name in names))
            signals.update(zip(outputs, found if len(outputs) > 1 else (found,), strict=True))
        return {name: signals[signal] for name, signal in self._outputs.items()}

    def read(self, items: Items) -> tuple[dict[str, Any], Array]:
        """Return the outputs over the inputs of a batch, and the steps of each row."""
        match items:
            case Ids(ids_BT=ids_BT, lengths_B=lengths_B):
                return self.run(lengths_B, ids=ids_BT.T, characters=items), lengths_B
            case Values(values_BTD=values_BSD, lengths_B=lengths_B):
                pass
            case Grid(values_BSD=values_BSD):
                lengths_B = np.full(len(values_BSD), values_BSD.shape[1])
            case _:
                raise ShapeError(f"A network reads no {type(items).__name__}.")
        return self.run(lengths_B, values=np.ascontiguousarray(values_BSD.swapaxes(0, 1), np.float32)), lengths_B


def _windows(x_TBW: Array, width: int) -> Array:
    steps = len(x_TBW) - width + 1
    return np.concatenate([x_TBW[place : place + steps] for place in range(width)], -1)


def _weighted(x_TBW: Array, scales_NW: Array) -> Array:
    steps = len(x_TBW) - len(scales_NW) + 1
    return sum_steps(np.stack([x_TBW[n : n + steps] * scale_W for n, scale_W in enumerate(scales_NW)]))


def _within(rows: Rows, reach: int) -> Array:
    return (np.minimum(rows.lengths_B, reach) if reach else rows.lengths_B)[:, None]


def _spelt(words: Sequence[Array], weights: Mapping[str, Array], widths: int, highways: int) -> Array:
    """Return a vector for each word, given by the numbers of its characters."""
    grid_LN = np.full((max(map(len, words)) + widths - 1, len(words)), -1)
    for column, word in zip(grid_LN.T, words, strict=True):
        column[: len(word)] = word
    inside_LN1 = (grid_LN >= 0)[..., None]
    x_LNE = weights["characters.weight"][np.maximum(grid_LN, 0)] * inside_LN1
    inside_LN1, tops = inside_LN1[: len(grid_LN) - widths + 1], list[Array]()
    for width in range(1, widths + 1):
        moved = _windows(x_LNE, width)[: len(inside_LN1)]
        a = affine(moved, weights[f"width{width}.weight"], weights[f"width{width}.bias"])  # 1
        tops.append(np.tanh(np.where(inside_LN1, a, np.float32(-np.inf)).max(0)))  # 2
    y = np.concatenate(tops, -1)
    for layer in range(highways):
        t, g = (
            affine(y, weights[f"{part}{layer}.weight"], weights[f"{part}{layer}.bias"])
            for part in ("transform", "hidden")
        )
        y = y + sigmoid(t) * (np.maximum(g, 0) - y)  # 3, 4
    return y


def _fold(h: Array, fold_NH: Array, bias_C: Array) -> Array:
    """Return the parents of all neighbours: one level of a gated convolution."""
    size, p = h.shape[-1], linear(h, fold_NH)  # 1
    choices = (len(fold_NH) - 2 * size) // 2
    left, right = p[:-1], p[1:]
    a = left[..., :size] + right[..., size : 2 * size]
    g = left[..., 2 * size : 2 * size + choices] + right[..., 2 * size + choices :]
    if bias_C.size:
        a, g = a + bias_C[:size], g + bias_C[size:]
    q = np.exp(g - g.max(-1, keepdims=True))  # 3
    w = q / (q[..., 0:1] + q[..., 1:2] + q[..., 2:3])
    parents: Array = w[..., 0:1] * np.tanh(a) + w[..., 1:2] * h[:-1] + w[..., 2:3] * h[1:]  # 2, 4
    return parents


def _lay_along(x_SBD: Array, plan: Plan, kernels: Mapping[str, Array]) -> Array:
    """Return the columns of rows after all kernels of a plan, zero past the last of a row."""
    last = max(plan.columns)
    now_SBD = np.pad(x_SBD, ((0, max(0, last - len(x_SBD))), (0, 0), (0, 0)))
    for application in plan.applications:
        rows, kernel_DI = list(application.rows), kernels[f"{application.kernel}.kernel"]
        x, beyond = now_SBD[: application.columns, rows], kernel_DI.shape[1] - 1
        if application.widens:  # sum_m J_m * x_{j-m} is a sum over windows from the last column of the kernel
            x, kernel_DI = np.pad(x, ((beyond, beyond), (0, 0), (0, 0))), kernel_DI[:, ::-1]
        y = np.tanh(_weighted(x, kernel_DI.T))
        now_SBD[: len(y), rows] = y
    return now_SBD[:last] * Rows(np.array(plan.columns)).open(now_SBD[:last])


def _expected_length(sources_B: Array, observed: Array) -> Array:
    """Return the length that is expected of an output: see ``nn/lengths.py``."""
    pairs_L, targets_L = observed.astype(np.float64)
    ratio = (targets_L.sum() + 1) / ((pairs_L * np.arange(len(pairs_L))).sum() + 1)
    known_B = sources_B < len(pairs_L)
    pairs_B, targets_B = (of_L[np.where(known_B, sources_B, 0)] * known_B for of_L in (pairs_L, targets_L))
    found: Array = np.rint((targets_B + ratio * sources_B) / (pairs_B + 1)).astype(np.int64)
    return np.maximum(found, 1)
