"""Words as a network reads them: by their vectors or, in a small vocabulary, by what its projections make of these.

    a = W (scale x_w) + b

is the same wherever word w stands, so a table with a row for each word takes the place of the products. A product
without a gradient gives a row the same bits in any batch, and so does the table. It is made when as many words have
been read as it has rows, so that no text costs more than twice the products, and kept while the weights have these
values.
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
"""Words of a vocabulary whose projections are looked up."""


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
    """How to run a program that reads ``x``; ``count``: how many words it will read, where not those of ``x`` alone."""
    if isinstance(x, Tensor):
        return Reading(program, weights, x)
    tables = _tables(program, weights, x, count or x.ids_XB1.numel())
    if not tables:
        return Reading(program, weights, x.vectors)
    return Reading(_looking_up(program), {**weights, **tables}, x.ids_XB1.to(x.table_VD.dtype))


@dataclass
class _Kept:
    """The tables of a program and, until they are made, how many words were read without."""

    weights: tuple[Tensor, ...]
    """What they are made of; it lives on, so that no other has its identity."""
    tables: Mapping[str, Tensor] | None = None
    read: int = 0


def _tables(program: Program, weights: Mapping[str, Tensor], words: Words, count: int) -> Mapping[str, Tensor] | None:
    """By name, the table of each projection of words; None where there is none, or none yet."""
    runtime, projections = current(), _projections(program)
    if not projections or len(words.table_VD) > _MOST or torch.is_grad_enabled() or not runtime.caches_weights:
        return None
    of_program = [weights[f"{part.name}.{short}"] for part in projections for short in _weights_of(part)]
    first = of_program[0]
    if runtime.training or runtime.observer or not words.table_VD.is_cpu or not isinstance(first, Parameter):
        return None
    others = (words.table_VD, *of_program[1:])
    state = runtime.inference_backend, steps_of_optimizers(), *map(state_of, others)
    kept = keep(first, "words", state, lambda: _Kept(others))
    kept.read += count
    if kept.tables is None and kept.read >= len(words.table_VD):
        with torch.inference_mode(False), torch.no_grad():
            kept.tables = {f"{part.name}.table": _table(part, weights, words) for part in projections}
    return kept.tables


def _table(part: Project, weights: Mapping[str, Tensor], words: Words) -> Tensor:
    a_VN = linear(words.table_VD.detach() * words.scale, weights[f"{part.name}.weight"])
    return a_VN + weights[f"{part.name}.bias"].detach() if part.bias else a_VN


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
