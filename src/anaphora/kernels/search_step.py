"""A step of search as one list of operations of C, but for the choice that it ends with.

A step looks up the vector of the token before, runs the parts of the program, and scores the words by W o + b.
"""

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from anaphora.kernels import native
from anaphora.kernels.compiled.gemm import PackedMatrix
from anaphora.kernels.compiled.library import Array, empty, thread_count
from anaphora.kernels.compiled.loop import Place, StepEntries, entries_in
from anaphora.kernels.fixed_norm import FixedNorm
from anaphora.kernels.lowering import ALONE, Lowering, Value
from anaphora.kernels.matrices import Matrices, Weights
from anaphora.kernels.operation_list import GivenSignal, one_step, operation_list
from anaphora.kernels.parts import previous
from anaphora.kernels.prepared import Weight, array_of
from anaphora.kernels.program import Program
from anaphora.kernels.word_tables import Words, read_words

_OUTPUT = "output.weight"

_NEAR = 1 << 17
"""Scores of words that are made at once (512 KiB): the cache next to a core holds them until they are read."""

_HEIGHT = 12
"""Rows that a product takes at once: see ``compiled/gemm.c``."""


class Scores(NamedTuple):
    """Output layer of a step of search."""

    weight_UH: Weight
    """W of the words that are scored."""
    bias_U: Array
    """b; of no elements for none, and where sentences have candidates."""
    candidates: "WordCandidates | None" = None
    """Candidates of each sentence; None for all words."""
    norm: FixedNorm = FixedNorm()
    """Norm of what they are scored from."""

    def columns_of(self, ids: Sequence[int]) -> Array:
        """int64 [B, X]: which column stands for each of some words, by sentence, -1 for none; of all words [1, X]."""
        ids_1X = np.array([list(ids)], np.int64)
        if self.candidates is None:
            return ids_1X
        is_it_BXC = self.candidates.ids_BC[:, None] == ids_1X[:, :, None]
        return np.where(is_it_BXC.any(2), is_it_BXC.argmax(2), -1)


class WordCandidates(NamedTuple):
    """The words that each sentence may be written with; all with B in front."""

    places_BC: Array
    """int64: which of the scored words each is."""
    bias_BC: Array
    """Minus infinity in the padding."""
    ids_BC: Array
    """int64; in the padding, anything."""


class SearchedNetwork(NamedTuple):
    """A network as a search takes its steps; one for which ``is_possible``."""

    program: Program
    """The step: it reads ``x``, and words are scored from the first signal that it returns."""
    weights: Weights
    """Weights as for ``stepping.advance``."""
    memory: Mapping[str, Array]
    """Memory as for ``stepping.advance``; the search takes it for its own."""
    first: Mapping[str, Array]
    """B x width for each carried signal."""
    words: Words
    """Words that are read first, a column of them."""
    scores: Scores
    """Output layer of the step."""
    bos: int
    eos: int

    @property
    def attends(self) -> bool:
        """True if a step has attention, as the signal ``weights``."""
        return "weights" in self.program.returns


class SearchStep:
    """The operations of a step."""

    def __init__(self, searched: SearchedNetwork, rows_NX: Array, count: int) -> None:
        """Of as many rows as ``rows_NX`` has.

        Args:
            searched: the network.
            rows_NX: int64: what each row begins with is the token that it reads; N is a multiple of B.
            count: how many words may be read.
        """
        program, weights, memory, first, words, scores, *_ = searched
        sentences, rows = len(next(iter(first.values()))), len(rows_NX)
        hypotheses = rows // sentences
        read = read_words(program, weights, words, count)
        matmuls = Matrices({**read.weights, _OUTPUT: scores.weight_UH}, memory)
        width = read.x_XBW.shape[-1]
        given = {previous(name): GivenSignal(previous(name), rows_BW.shape[1]) for name, rows_BW in first.items()}
        (stage,) = native.stages_of_step(read.program)
        found = operation_list(stage, matmuls, one_step(rows), given | {"x": GivenSignal("x", width)}, hypotheses)
        self._bound = found.bind(matmuls, sentences)
        self.memory = self._bound.held
        """Arrays of the memory that it reads, a row for each sentence."""
        self.state = {name: empty(rows, rows_BW.shape[1]) for name, rows_BW in first.items()}
        """Values of each carried signal for the next step: its first values, for a start."""
        for name, rows_BW in first.items():
            self.state[name][:sentences] = rows_BW
        self.written = {name: empty(rows, width) for name, width in {"x": width, **found.written}.items()}
        """Outputs of a step, by signal."""
        blocks = {previous(name): rows_NW for name, rows_NW in self.state.items()} | self.written
        self._step, self._room = self._bound.fill(blocks)
        self._before, self.after, self.last = (
            Lowering(matmuls, one_step(rows), keeps=False, hypotheses=hypotheses) for _ in range(3)
        )
        x = of_rows(self.written["x"])  # the vector of the token before, or its number where a program looks it up
        if read.program is program:
            ids, table = self._before.scratch(1), self._before.constant(array_of(words.table_VD))
            self._before.run("read_token", (ids,), (of_rows(rows_NX),))
            self._before.run("look_up", (x,), (ids, table, self._before.number(words.scale)))
        else:
            self._before.run("read_token", (x,), (of_rows(rows_NX),))
        self._program, self._scores = program, scores

        self._some = min(rows, _at_once(matmuls.packed_right_side(_OUTPUT, back=False)))
        is_large = found.is_large or rows * math.prod(scores.weight_UH.shape) > ALONE
        self._threads = thread_count() if is_large else 1

    def score_words(self, of_sentences: Callable[[Array], Value]) -> tuple[Value, Value, Value]:
        """z of the words, their bias and their ids, each of no width for none; ``of_sentences`` has a row for each.

        With candidates, z is that of the candidates of each row, with the bias.
        """
        scores, nothing = self._scores, Value(0, empty(0))
        o, z = of_rows(self.written[self._program.returns[0]]), self._near(len(scores.weight_UH))
        if scores.norm.radius:
            given, o = o, of_rows(empty(len(self.written["x"]), o.width))
            self.after.run("fixed_norm_rows", (o,), (given, *map(self.after.number, scores.norm)))
        self.last.multiply(_OUTPUT, o, back=False, y=z)
        if not scores.candidates:
            bias_U = scores.bias_U
            return z, self.last.constant(bias_U.reshape(1, -1)) if bias_U.size else nothing, nothing
        places, bias, ids = map(of_sentences, scores.candidates)
        own = self._near(bias.width)
        self.last.run("gather_columns", (own,), (z, places, bias))
        return own, nothing, ids

    def _near(self, width: int) -> Value:
        """Room for the rows that each thread takes at once."""
        rooms = self._threads if self._some < len(self.written["x"]) else 1
        return of_rows(empty(rooms * self._some, width), Place.ROOM_OF_THREAD)

    def entries(self) -> StepEntries:
        """Return all operations in order, once ``after`` and ``last`` are complete."""
        first = self._before.entries() + self._step + self.after.entries()
        last = self.last.entries()
        return StepEntries(first + last, entries_in(last)[1], self._some, self._threads)


def is_possible(program: Program, weight_UH: Weight) -> bool:
    """True if a search can be made so: with parts that have native bodies, by the packed GEMM in C."""
    first, *others = native.stages_of_step(program)
    return not others and native.is_native(first) and Matrices({}, {}).loops_in_c(weight_UH)


def _at_once(weight: PackedMatrix) -> int:
    """Rows whose words are scored before the next rows' are; of fp32 all, as its weights take longer to read again."""
    if weight.precision == "fp32":
        return sys.maxsize
    return max(_HEIGHT, _NEAR // weight.N // _HEIGHT * _HEIGHT)


def of_rows(rows_NW: Array, place: Place = Place.NOW) -> Value:
    """Return rows that are there; whole numbers are of eight bytes each, as twice as many of four."""
    return Value(rows_NW.shape[1] * rows_NW.itemsize // 4, rows_NW, place)
