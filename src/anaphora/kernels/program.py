"""A step as an ordered tuple of parts, and the order of work that follows from it.

Parts that depend on each other across steps form a loop and must be run step by step. Every other part can take
all steps at once: the projections of the inputs, each further layer of a stack, attention and readout when nothing
feeds them back. Which is which is not declared anywhere: it is the strongly connected components of "reads from". Nor
is declared which stages the backward pass leaves out: those that depend on nothing whose gradient is wanted.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from typing import NamedTuple

from anaphora.errors import ShapeError
from anaphora.kernels.parts import Part, is_previous, signal_of


@dataclass(frozen=True)
class Program:
    """One step of a recurrent network: its parts in order, and the signals that are wanted from every step."""

    parts: tuple[Part, ...]
    returns: tuple[str, ...]

    @property
    def carried(self) -> tuple[str, ...]:
        """The signals that some part reads one step back, and that therefore need a first value."""
        return tuple(dict.fromkeys(signal_of(r) for part in self.parts for r in part.reads if is_previous(r)))


class Stage(NamedTuple):
    """Parts that are run together: one part over all steps, or a loop of parts step by step."""

    parts: tuple[Part, ...]
    loops: bool
    inner: tuple[str, ...] = ()
    """Signals that only its own parts need, step by step."""


@cache
def stages(program: Program) -> tuple[Stage, ...]:
    """Return the stages of a program in an order in which each finds its signals ready."""
    parts = program.parts
    writer = {signal: number for number, part in enumerate(parts) for signal in part.writes}
    sources = [{writer[signal_of(r)] for r in part.reads if signal_of(r) in writer} for part in parts]
    _check(program, writer)

    reaches = [set(direct) for direct in sources]
    for via in range(len(parts)):
        for reach in reaches:
            if via in reach:
                reach |= reaches[via]

    leader = [min([n, *(m for m in reaches[n] if n in reaches[m])]) for n in range(len(parts))]
    needs = {n: {leader[m] for m in reaches[n]} - {n} for n in sorted(set(leader))}
    return tuple(
        Stage(tuple(part for n, part in enumerate(parts) if leader[n] == first), first in reaches[first])
        for first in TopologicalSorter(needs).static_order()
    )


def leading_to(program: Program, wanted: Collection[str]) -> set[Stage]:
    """The stages that a gradient of what is ``wanted`` goes back through: inputs, first values, weights and memory."""
    reached, found = {*wanted}, set()
    for stage in stages(program):
        own = tuple(f"{part.name}." for part in stage.parts)
        reads = {signal_of(read) for part in stage.parts for read in part.reads}
        if not reads.isdisjoint(reached) or any(name.startswith(own) for name in wanted):
            reached |= {signal for part in stage.parts for signal in part.writes}
            found.add(stage)
    return found


def _check(program: Program, writer: dict[str, int]) -> None:
    written = [signal for part in program.parts for signal in part.writes]
    twice = sorted({signal for signal in written if written.count(signal) > 1})
    if twice:
        raise ShapeError(f"each signal should have one part that writes it, but {twice} have more: rename them.")
    for number, part in enumerate(program.parts):
        for read in part.reads:
            if is_previous(read) and signal_of(read) not in writer:
                raise ShapeError(f"part '{part.name}' reads the previous '{signal_of(read)}', but no part writes it.")
            if not is_previous(read) and writer.get(read, -1) >= number:
                writing = program.parts[writer[read]].name
                raise ShapeError(f"part '{part.name}' reads '{read}' before '{writing}' has written it: reorder them.")
    unknown = sorted({*program.returns} - {*written})
    if unknown:
        raise ShapeError(f"a program should return what its parts write, but none writes {unknown}: return others.")
