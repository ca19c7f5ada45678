"""Words as a network reads them: by their vectors, or by what its projections make of these.

    a = W (scale x_w) + b

is the same wherever word w stands, so a table with rows of words takes the place of the products. A product without a
gradient gives a row the same bits in any batch, and so does the table. It is kept while the weights have these values.

Where words are known before they are read, the rows of those that have none are made first; where there is no room for
them, the table is begun anew. A search writes any word: where a table has room for all words, it is made whole when as
many have been read, so that no text costs more than twice the products. All tables of a process share what room there
is, and have as many rows each.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np

from anaphora.errors import ShapeError
from anaphora.kernels.compiled.library import Array, empty
from anaphora.kernels.linear import linear
from anaphora.kernels.ops import Ops, V
from anaphora.kernels.parts import OneToOne, Project
from anaphora.kernels.prepared import Weight, array_of, is_kept, state_of
from anaphora.kernels.program import Program
from anaphora.kernels.runtime import current

_NUMBERS = 1 << 22
"""Numbers of all tables (16 MiB in single precision)."""


class Words(NamedTuple):
    """Words that were not looked up yet; an array of ids is read by C, whatever the table is."""

    ids_XB1: Any
    """int64."""
    table_VD: Any
    scale: float
    """Factor of the vectors."""

    @property
    def vectors(self) -> Any:
        """The block, X x B x D."""
        if isinstance(self.ids_XB1, np.ndarray):
            return array_of(self.table_VD)[self.ids_XB1.squeeze(-1)] * self.scale
        from torch.nn import functional

        return functional.embedding(self.ids_XB1.squeeze(-1), self.table_VD) * self.scale


def rearrange(x: Any, change: Callable[[Any], Any]) -> Any:
    """Return vectors or words in another order; ``change`` reorders the rows of a block of any width."""
    return x._replace(ids_XB1=change(x.ids_XB1)) if isinstance(x, Words) else change(x)


class WordReading(NamedTuple):
    """Program and inputs that read the words of one pass."""

    program: Program
    weights: Mapping[str, Any]
    x_XBW: Any
    """Vectors, or of width 1 the rows of words as a ``LookUp`` takes them."""


@dataclass(frozen=True)
class LookUp(OneToOne):
    """y = T_w: the row of a table that belongs to a word; it reads the number of the row."""

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], None]:
        """y = T_w."""
        return [ops.look_up(inputs[0], "table")], None

    def backward(self, ops: Ops[V], saved: None, doutputs: Sequence[V]) -> Sequence[None]:
        """Tables are made where there are no gradients."""
        return [None]


def read_words(program: Program, weights: Mapping[str, Weight], x: Any, count: int = 0) -> WordReading:
    """Return the program and inputs that read ``x``, vectors or ``Words``.

    ``count``: how many words it will read, where those are not known.

    The rows of words that are not known are those of their numbers.
    """
    if not isinstance(x, Words):
        return WordReading(program, weights, x)
    tables = _tables(program, weights, x, count)
    if not tables:
        return WordReading(program, weights, x.vectors)
    ids_XB1 = array_of(x.ids_XB1)
    rows_XB1 = (ids_XB1 if count else tables.row_V[ids_XB1]).astype(np.float32)
    return WordReading(_looking_up(program), {**weights, **tables.blocks}, _like(x.ids_XB1, rows_XB1))


def read_words_of_step(program: Program, weights: Mapping[str, Weight], x: Any) -> WordReading:
    """Return the program and inputs of one step; a row of a table would cost it more than its product."""
    return read_words(program, weights, x, math.prod(x.ids_XB1.shape) if isinstance(x, Words) else 0)


class _Tables:
    """The tables of a program; a row that was made stays as it is."""

    def __init__(self, table_VD: Weight, widths: Mapping[str, int], room: int) -> None:
        """Tables of so many rows by the name of a projection; with a row for each word, word w has row w."""
        self.blocks = {f"{name}.table": _like(table_VD, empty(room, width)) for name, width in widths.items()}
        self.room, self._made = room, 0
        self.row_V = np.full(len(table_VD), -1)
        """int64: the row of each word; -1 of those that have none."""

    def missing(self, ids: Array) -> Array:
        """Return the words that have no row, each once."""
        return np.unique(ids[self.row_V[ids] < 0])

    def has_room(self, ids_M: Array) -> bool:
        """True if these words can have rows as well."""
        return self._made + len(ids_M) <= self.room

    def add(self, ids_M: Array, projections: tuple[Project, ...], weights: Mapping[str, Weight], words: Words) -> None:
        """Make the rows of words that have none."""
        x_MD, has_all = array_of(words.table_VD)[ids_M] * words.scale, self.room == len(self.row_V)
        rows_M = ids_M if has_all else np.arange(self._made, self._made + len(ids_M))
        for part in projections:
            a_MN = array_of(linear(_like(words.ids_XB1, x_MD), weights[f"{part.name}.weight"]))
            if part.bias:
                a_MN += array_of(weights[f"{part.name}.bias"])
            array_of(self.blocks[f"{part.name}.table"])[rows_M] = a_MN  # lists of operations hold for the whole block
        self.row_V[ids_M] = rows_M
        self._made += len(ids_M)


@dataclass(eq=False)
class _Kept:
    """Tables kept for a program."""

    weights: tuple[Weight, ...]
    """Weights that its tables are made of; they live on, so that no other has their identity."""
    widths: Mapping[str, int]
    """Widths of the tables of its projections."""
    tables: _Tables | None = None
    read: int = 0
    """Words that were read."""

    @property
    def room(self) -> int:
        """Rows that each of its tables may have."""
        return _NUMBERS // sum(sum(one.widths.values()) for one in {self, *_sharing})

    def begin(self, table_VD: Weight) -> _Tables:
        """New tables; others that have more rows than they may have from now on are dropped."""
        room = self.room
        for one in _sharing:
            if one.tables and one.tables.room > room:
                one.tables = None
        _sharing.add(self)
        self.tables = _Tables(table_VD, self.widths, min(room, len(table_VD)))
        return self.tables


_sharing: WeakSet[_Kept] = WeakSet()
"""Owners between whom the room for tables is divided."""

_lock = Lock()
"""Lock of the thread that changes tables."""


def _tables(program: Program, weights: Mapping[str, Weight], words: Words, count: int) -> _Tables | None:
    """Return tables that have all ``words``, or the whole vocabulary if ``count`` > 0; None where none is kept."""
    runtime, projections, vocabulary = current(), _projections(program), len(words.table_VD)
    if not projections or not runtime.prepared or not _is_on_processor_without_gradient(words):
        return None
    widths = {part.name: len(weights[f"{part.name}.weight"]) for part in projections}
    for part in projections:
        if part.bias and weights[f"{part.name}.bias"].shape != (widths[part.name],):
            raise ShapeError(f"{part.name} should add {widths[part.name]} numbers.")
    if count and vocabulary * sum(widths.values()) > _NUMBERS:
        return None  # there is never room for all words
    first, *others = [weights[f"{part.name}.{short}"] for part in projections for short in _weights_of(part)]
    if runtime.training or runtime.observer or not is_kept(first):
        return None
    others = [words.table_VD, *others]
    state = runtime.inference_backend, *map(state_of, others)
    with _lock:
        kept = runtime.prepared.keep(first, "words", state, lambda: _Kept(tuple(others), widths))
        kept.read += count or math.prod(words.ids_XB1.shape)
        room, tables = min(kept.room, vocabulary), kept.tables
        makes_all = room == vocabulary and kept.read >= vocabulary
        if count and not makes_all:
            if not tables:
                _sharing.discard(kept)
            return None
        if not tables or tables.room != room:
            tables = kept.begin(words.table_VD)
        ids = np.arange(vocabulary) if makes_all else array_of(words.ids_XB1)
        ids_M = tables.missing(ids)
        if not tables.has_room(ids_M):
            tables, ids_M = kept.begin(words.table_VD), np.unique(ids)
            if not tables.has_room(ids_M):
                return None
        if len(ids_M):
            tables.add(ids_M, projections, weights, words)
        return tables


def _is_on_processor_without_gradient(words: Words) -> bool:
    if isinstance(words.ids_XB1, np.ndarray):
        return True
    import torch

    return words.table_VD.is_cpu and not torch.is_grad_enabled()


def _like(weight: Weight, array: Array) -> Weight:
    """Return an array as a tensor of the same memory, if the weight is a tensor."""
    if isinstance(weight, np.ndarray):
        return array
    import torch

    return torch.from_numpy(array)


def _weights_of(part: Project) -> tuple[str, ...]:
    return ("weight", "bias") if part.bias else ("weight",)


@cache
def _projections(program: Program) -> tuple[Project, ...]:
    """Return the parts that read words, if all of them are projections."""
    reads = [part for part in program.parts if "x" in part.reads]
    found = tuple(part for part in reads if isinstance(part, Project))
    return found if len(found) == len(reads) else ()


@cache
def _looking_up(program: Program) -> Program:
    """Return the program that looks projections of words up instead of computing them."""
    of_words = _projections(program)
    parts = (LookUp(p.name, p.source, p.target) if p in of_words else p for p in program.parts)
    return replace(program, parts=tuple(parts))
