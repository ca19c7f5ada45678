"""Words as a network reads them: by their vectors, or by what its projections make of these.

    a = W (scale x_w) + b

is the same wherever word w stands, so a table with a row for each word takes the place of the products. A product
without a gradient gives a row the same bits in any batch, and so does the table. It is kept while the weights have
these values.

Where words are known before they are read, the rows of those that were never read are made first. A search writes any
word: in a small vocabulary its table is made when as many words have been read as it has rows, so that no text costs
more than twice the products.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import Parameter

from anaphora.kernels.linear import linear
from anaphora.kernels.lowering import Lowering, Value, Values
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.parts import OneToOne, Project
from anaphora.kernels.prepared import keep, state_of, steps_of_optimizers
from anaphora.kernels.program import Program
from anaphora.kernels.runtime import current

_MOST = 4096
"""Words of a vocabulary whose table is made whole."""

_LARGEST = 1 << 24
"""Numbers of a table (64 MiB in single precision)."""


class Words(NamedTuple):
    """Words that were not looked up yet."""

    ids_XB1: Tensor
    """int64."""
    table_VD: Tensor
    scale: float
    """Factor of the vectors."""

    @property
    def vectors(self) -> Tensor:
        """The block, X x B x D."""
        return torch.nn.functional.embedding(self.ids_XB1.squeeze(-1), self.table_VD) * self.scale


def arranged(x: Tensor | Words, change: Callable[[Tensor], Tensor]) -> Tensor | Words:
    """Vectors or words, put in another order by what does so with a block of any width."""
    return change(x) if isinstance(x, Tensor) else x._replace(ids_XB1=change(x.ids_XB1))


class Reading(NamedTuple):
    """How a network reads its words in one pass."""

    program: Program
    weights: Mapping[str, Tensor]
    x_XBW: Tensor
    """Vectors, or of width 1 the numbers of words as a ``LookUp`` takes them."""


@dataclass(frozen=True)
class LookUp(OneToOne):
    """y = T_w: the row of a table that belongs to a word; it reads the number of the word."""

    def forward(self, matmuls: Matmuls, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], None]:
        """y = T_w."""
        ids_XB = inputs[0].squeeze(-1).to(torch.int64)
        return (torch.nn.functional.embedding(ids_XB, matmuls.of(self.name).vector("table")),), None

    def backward(self, matmuls: Matmuls, saved: None, doutputs: tuple[Tensor, ...]) -> tuple[Tensor | None, ...]:
        """Tables are made where there are no gradients."""
        return (None,)

    def obstacle(self) -> str:
        """None."""
        return ""

    def lower(self, ops: Lowering, inputs: Values) -> tuple[Values, None]:
        """y = T_w."""
        table = ops.fixed(ops.vector(f"{self.name}.table"))
        y = ops.value(table.width)
        ops.run("look_up", (y,), (*inputs, table, ops.number(1)))
        return (y,), None

    def lower_back(self, ops: Lowering, saved: None, doutputs: tuple[Value | None, ...]) -> tuple[Value | None, ...]:
        """Tables are made where there are no gradients."""
        return (None,)


def reading(program: Program, weights: Mapping[str, Tensor], x: Tensor | Words, count: int = 0) -> Reading:
    """How to run a program that reads ``x``; ``count``: how many words it will read, where those are not known."""
    if isinstance(x, Tensor):
        return Reading(program, weights, x)
    tables = _tables(program, weights, x, count)
    if not tables:
        return Reading(program, weights, x.vectors)
    return Reading(_looking_up(program), {**weights, **tables}, x.ids_XB1.to(x.table_VD.dtype))


@dataclass
class _Kept:
    """The tables of a program, and how many words were read."""

    weights: tuple[Tensor, ...]
    """What they are made of; it lives on, so that no other has its identity."""
    tables: Mapping[str, Tensor]
    made_V: Tensor
    """Which rows they have."""
    read: int = 0


def _tables(program: Program, weights: Mapping[str, Tensor], words: Words, count: int) -> Mapping[str, Tensor] | None:
    """By name, the table of each projection of words; None where there is none, or none yet.

    ``count`` is 0 where the words are known.
    """
    runtime, projections, vocabulary = current(), _projections(program), len(words.table_VD)
    is_large = vocabulary > _MOST
    if not projections or (count and is_large) or torch.is_grad_enabled() or not runtime.caches_weights:
        return None
    of_program = [weights[f"{part.name}.{short}"] for part in projections for short in _weights_of(part)]
    first, widths = of_program[0], {part.name: len(weights[f"{part.name}.weight"]) for part in projections}
    if vocabulary * max(widths.values()) > _LARGEST:
        return None
    if runtime.training or runtime.observer or not words.table_VD.is_cpu or not isinstance(first, Parameter):
        return None
    others = (words.table_VD, *of_program[1:])
    state = runtime.inference_backend, steps_of_optimizers(), *map(state_of, others)

    def make() -> _Kept:
        tables = {f"{name}.table": words.table_VD.new_empty(vocabulary, width) for name, width in widths.items()}
        return _Kept(others, tables, torch.zeros(vocabulary, dtype=torch.bool))

    kept = keep(first, "words", state, make)
    kept.read += count or words.ids_XB1.numel()
    if kept.read >= vocabulary and not is_large:
        missing_V = ~kept.made_V
    elif count:
        return None
    elif kept.made_V[words.ids_XB1].all():
        return kept.tables
    else:
        missing_V = torch.zeros_like(kept.made_V).index_fill_(0, words.ids_XB1.flatten(), True) & ~kept.made_V
    if missing_V.any():
        ids_M = missing_V.nonzero().squeeze(1)
        for part in projections:
            rows_MN = _rows(part, weights, words.table_VD[ids_M] * words.scale)
            kept.tables[f"{part.name}.table"].data[ids_M] = rows_MN  # lists of operations hold for the whole table
        kept.made_V |= missing_V
    return kept.tables


def _rows(part: Project, weights: Mapping[str, Tensor], x_MD: Tensor) -> Tensor:
    a_MN = linear(x_MD, weights[f"{part.name}.weight"])
    return a_MN + weights[f"{part.name}.bias"].detach() if part.bias else a_MN


def _weights_of(part: Project) -> tuple[str, ...]:
    return ("weight", "bias") if part.bias else ("weight",)


@cache
def _projections(program: Program) -> tuple[Project, ...]:
    """The parts that read words, if all of them are projections."""
    reads = [part for part in program.parts if "x" in part.reads]
    found = tuple(part for part in reads if isinstance(part, Project))
    return found if len(found) == len(reads) else ()


@cache
def _looking_up(program: Program) -> Program:
    """The program that looks projections of words up instead of computing them."""
    of_words = _projections(program)
    parts = (LookUp(p.name, p.source, p.target) if p in of_words else p for p in program.parts)
    return replace(program, parts=tuple(parts))
