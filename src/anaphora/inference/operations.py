"""Operations on whole sequences, which graphs of ``models.description`` list: what each computes, and its attributes.

A signal holds a vector for each row (B x W), or for each step of each row (T x B x W); what lies past the end of a row
is of no consequence. Nothing that is summed up here is summed in an order that depends on other rows, so that a row
has the same bits in any batch.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from anaphora.batch import Grid, Ids, Items, SpeltIds, Values, features_of
from anaphora.errors import ShapeError
from anaphora.inference.array_ops import normalize, sum_steps
from anaphora.inference.convolutions import compose_words, fold, lay_along, weighted_windows, windows_of
from anaphora.inference.steps import advance, scan
from anaphora.inference.weights import NOTHING, Weights, affine, freeze
from anaphora.kernels.compiled.library import Array
from anaphora.kernels.convolution_plan import expected_length, folding, unfolding
from anaphora.kernels.fixed_norm import FixedNorm
from anaphora.kernels.linear import linear
from anaphora.kernels.program_data import program_from_data
from anaphora.kernels.word_tables import Words

_WIDEST = 1 << 20

Signal = Any
"""An array, or ``Words`` that were not looked up yet."""
Operation = Callable[..., Any]
"""Function from the rows of a batch and signals to a signal, or several."""


class Rows:
    """The rows of a batch."""

    def __init__(self, lengths_B: Array) -> None:
        """``lengths_B`` has the steps of each, int64."""
        self.lengths_B = lengths_B
        self._numbers_B = np.arange(len(lengths_B))

    def open(self, x_TBW: Array) -> Array:
        """T x B x 1: true within a row."""
        open_TB: Array = np.arange(len(x_TBW))[:, None] < self.lengths_B
        return open_TB[..., None]

    def last(self, x_TBW: Array) -> Array:
        """Return the last step of each row."""
        found: Array = x_TBW[self.lengths_B - 1, self._numbers_B]
        return found

    def reverse(self, x_TBW: Array, but: int) -> Array:
        """Return the steps of each row in reverse, all but the last ``but``; these and the padding stay."""
        places_T1 = np.arange(len(x_TBW))[:, None]
        turned_TB = self.lengths_B - but - 1 - places_T1
        return x_TBW[np.where(turned_TB >= 0, turned_TB, places_T1), self._numbers_B]

    def zeros(self, width: int) -> Array:
        return np.zeros((len(self.lengths_B), width), np.float32)


def vectors(x: Signal) -> Array:
    """Return a signal with its words looked up."""
    found: Array = x.vectors if isinstance(x, Words) else x
    return found


class Recurrence:
    """Recurrent layers that read a sequence by themselves."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        """``data``: the program of a step, what its weights begin with, their size and what they start from."""
        self.program = program_from_data(data["program"])
        self.weights = weights.by_prefix(data["weights"])
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

    def embed(self, table: str, scale: float, norm: float = 0.0) -> Operation:
        """Rows of a table, by ids, at a norm where it is not 0."""
        table_VD = freeze(FixedNorm(norm)(self._weights[table]))
        return lambda rows, ids: Words(ids[..., None], table_VD, scale)

    def spell(self, words: Sequence[Sequence[int]], weights: str, widths: int, highways: int) -> Operation:
        """Vectors of words from their characters (see ``kernels/spelling.py``): of ``words`` by id, or of a batch's."""
        own = self._weights.by_prefix(weights)
        known = [np.array(list(word), np.int64) for word in words]
        if any(word.max(initial=0) >= len(own["characters.weight"]) for word in known):
            raise ShapeError("a word has a character that the table of characters lacks.")

        def of_ids(rows: Rows, ids: Array) -> Array:
            distinct_N, places = np.unique(ids, return_inverse=True)
            vectors_NF = compose_words([known[word] for word in distinct_N], own, widths, highways)
            return vectors_NF.take(places.reshape(ids.shape), 0)

        def of_batch(rows: Rows, ids: SpeltIds) -> Array:
            pairs = zip(ids.characters_NL, ids.lengths_N, strict=True)
            vectors_NF = compose_words([word[:length] for word, length in pairs], own, widths, highways)
            found_TBF: Array = vectors_NF[ids.words_BT.T]
            return found_TBF

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
        """Return the steps of each row in reverse, all but the last ``but``."""

        def run(rows: Rows, x: Signal) -> Signal:
            return x._replace(ids_XB1=rows.reverse(x.ids_XB1, but)) if isinstance(x, Words) else rows.reverse(x, but)

        return run

    def join(self) -> Operation:
        """Vectors one after the other."""

        def run(rows: Rows, *signals: Signal) -> Array:
            _check_width(sum(vectors(x).shape[-1] for x in signals))
            return np.concatenate([vectors(x) for x in signals], -1)

        return run

    def add(self) -> Operation:
        """Return the sum of two."""
        return lambda rows, a, b: vectors(a) + vectors(b)

    def sum_known(self) -> Operation:
        """Return the sum of the steps of each row, those of ``<pad>`` left out, which is id 0."""
        return lambda rows, x, ids: sum_steps(vectors(x) * (ids != 0)[..., None])

    def add_rows(self, weight: str) -> Operation:
        """Return a learned vector added at each step."""
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
        gain_W, bias_W = self._weights[gain], self._weights[bias] if bias else None
        return lambda rows, a: normalize(a, gain_W, bias_W)

    def mean(self) -> Operation:
        """Return the mean of the steps of each row."""

        def run(rows: Rows, x: Signal) -> Array:
            x_TBW = vectors(x)
            shares_TB1 = rows.open(x_TBW) / rows.lengths_B[:, None].astype(np.float32)
            return sum_steps(x_TBW * shares_TB1.astype(np.float32))

        return run

    def max(self) -> Operation:
        """Return the maximum of each number over the steps of each row."""
        return lambda rows, x: np.where(rows.open(vectors(x)), vectors(x), -np.inf).max(0).astype(np.float32)

    def last(self) -> Operation:
        """Return the last step of each row."""
        return lambda rows, x: rows.last(vectors(x))

    def attention_pool(self) -> Operation:
        """Return the mean of steps weighted by the softmax of their scores (T x B x 1)."""

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
            return affine(windows_of(padded, width), matrix, bias_N)

        return run

    def windows(self, words: int) -> Operation:
        """Return every ``words`` vectors that follow each other as one; so many less one fewer steps."""

        def run(rows: Rows, x: Signal) -> Array:
            _check_width(words * vectors(x).shape[-1])
            return windows_of(vectors(x), words)

        return run

    def diagonal_windows(self, weight: str) -> Operation:
        """The sum of as many vectors that follow each other as the weight has rows, number by number times these."""
        scales = self._weights[weight]
        return lambda rows, x: weighted_windows(vectors(x), scales)

    def gated_convolution(self, weights: str) -> Operation:
        """Return the one vector that a gated recursive convolution leaves: see ``kernels/gated_convolution.py``."""
        own = self._weights.by_prefix(weights)
        fold_NH = freeze(np.concatenate([own["parent.weight"], own["choice.weight"]]))
        bias_C = np.concatenate([own["parent.bias"], own["choice.bias"]]) if "parent.bias" in own else NOTHING

        def run(rows: Rows, h_SBH: Array) -> Array:
            top_BH: Array = np.empty_like(h_SBH[0])
            left_N, h = np.arange(h_SBH.shape[1]), h_SBH
            for size in range(1, len(h_SBH) + 1):
                ends_N = rows.lengths_B[left_N] == size
                top_BH[left_N[ends_N]] = h[0, ends_N]
                left_N, h = left_N[~ends_N], h[:, ~ends_N]
                if not len(left_N):
                    break
                h = fold(h, fold_NH, bias_C)
            return top_BH

        return run

    def convolution(self, weights: str, widest: int) -> Operation:
        """Return the one vector that convolutions leave of the columns of each row: see ``kernels/convolution.py``."""
        own = self._weights.by_prefix(weights)
        return lambda rows, x: lay_along(vectors(x), folding(rows.lengths_B.tolist(), widest), own)[0]

    def ngram_convolution(self, weights: str, widest: int, folds: int, lengths: str) -> Operation:
        """A column for every expected token of the output, B x T x W: see ``nn/encoders/ngram_convolution.py``."""
        own, observed = self._weights.by_prefix(weights), self._weights[lengths]

        def run(rows: Rows, x: Signal) -> Array:
            wanted_B = expected_length(rows.lengths_B, observed)
            plan = folding(rows.lengths_B.tolist(), widest, folds, wanted_B.tolist())
            grams = np.tanh(linear(lay_along(vectors(x), plan, own), own["translation.weight"]))
            columns = lay_along(grams, unfolding(plan.columns, wanted_B.tolist(), widest), own)
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
        """Return zeros for each row."""
        return lambda rows, x: rows.zeros(width)

    def zero_positions(self) -> Operation:
        """Return zeros for each step, as one vector a row."""
        return lambda rows, x: rows.zeros(len(vectors(x)))

    def first_position(self) -> Operation:
        """Return the same with 1 for the first step."""

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
            (getattr(known, operation.lstrip("_"))(**attributes), inputs, outputs)
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
                return self.run(lengths_B, ids=ids_BT.T, characters=items, features=features_of(items).T), lengths_B
            case Values(values_BTD=values_BSD, lengths_B=lengths_B):
                pass
            case Grid(values_BSD=values_BSD):
                lengths_B = np.full(len(values_BSD), values_BSD.shape[1])
            case _:
                raise ShapeError(f"A network reads no {type(items).__name__}.")
        return self.run(lengths_B, values=np.ascontiguousarray(values_BSD.swapaxes(0, 1), np.float32)), lengths_B


def _check_width(width: int) -> None:
    """Raise ShapeError for wider vectors than any network has, as what doubles them again and again would make."""
    if width > _WIDEST:
        raise ShapeError(f"vectors should have at most {_WIDEST} numbers, not {width}.")


def _within(rows: Rows, reach: int) -> Array:
    return (np.minimum(rows.lengths_B, reach) if reach else rows.lengths_B)[:, None]
