"""Steps of recurrent networks as lists of primitive operations, which the page computes.

``forward`` of every part runs over names instead of numbers, and each operation that it asks for is written down: so a
new unit, score or window needs no other text than its own.
"""

from collections.abc import Callable, Sequence
from typing import Any

from anaphora.kernels.ops import Ops
from anaphora.kernels.parts import Part, Unit
from anaphora.kernels.program import Program

Table = dict[str, Any]


class Value(str):
    """Name of a value, which is no name of a weight."""


class StepRecorder(Ops[Value]):
    """Operations of one part, written down as ``op``, ``inputs``, ``outputs``, ``weights``, ``memory``, ``numbers``."""

    def __init__(self, part: str, prefix: str) -> None:
        """``prefix`` is in front of the names of its weights in the checkpoint."""
        self.part, self._prefix, self.primitives = part, prefix, list[Table]()

    def record(self, op: str, *given: Any, outputs: int = 1) -> list[Value]:
        """Write an operation down; return the names of what it makes."""
        made = [Value(f"{self.part}:{len(self.primitives)}.{n}") for n in range(outputs)]
        names = [self.full(one) for one in given if isinstance(one, str) and one and not isinstance(one, Value)]
        one = {"op": op, "part": self.part, "inputs": [one for one in given if isinstance(one, Value)], "outputs": made}
        one["numbers"] = [number for number in given if not isinstance(number, str)]
        if op in _MEMORY:
            one["memory"] = names[0] if names else self.full(_MEMORY[op])
        else:
            one["weights"] = [self._prefix + name for name in names]
        self.primitives.append(one)
        return made

    def width(self, a: Value) -> int:
        return 0  # known when numbers are

    positions = 0  # as for ``width``

    def split(self, a: Value, *blocks: int) -> Sequence[Value]:
        return self.record("split", a, *blocks, outputs=len(blocks))

    def sum(self, values: Sequence[Value], keeps: bool = False) -> Value:
        return values[0] if len(values) == 1 else self.record("sum", *values)[0]


def _recorded(op: str) -> Callable[..., Any]:
    """Return the method of an operation; with a second value, a derivative has no use."""
    second = op in ("normal", "column", "capped_exp")
    return lambda ops, *given: (ops.record(op, *given)[0], None) if second else ops.record(op, *given)[0]


_MEMORY = {"mix": "", "dot": "", "sentences": "", "column": "", "whole": "closed", "near": "closed", "places": "values"}
"""Operations on a memory tensor, and its name where they are not given it."""
_MEMORY["cut_or_pad"] = "values"
for _op in (
    *(*_MEMORY, "product", "add_vector", "vector", "columns", "number", "normal", "join", "sub", "mul", "minimum"),
    *("tanh", "sigmoid", "relu", "maxout", "softmax", "scale", "exp", "capped_exp", "log_sigmoid", "add_number"),
    *("at_positions", "over_positions", "sum_positions", "only_open", "median", "squeeze", "neighbours"),
):
    setattr(StepRecorder, _op, _recorded(_op))


def lower(program: Program, prefix: str) -> Table:
    """Return a step as data: its primitives in order, its units, and the signals that it returns and carries.

    ``prefix`` is in front of the names of its weights. Values have the names of signals; others have a colon.
    """
    primitives = [one for part in program.parts for one in _primitives(part, prefix)]
    units = [_unit(part) for part in program.parts if isinstance(part, Unit)]
    return {"primitives": primitives, "units": units, "returns": program.returns, "carried": program.carried}


def _primitives(part: Part, prefix: str) -> list[Table]:
    ops, names = StepRecorder(part.name, prefix), dict[str, str]()
    written, _ = part.forward(ops, [Value(read) for read in part.reads])
    for signal, value in zip(part.writes, written, strict=True):
        if value in part.reads or value in names:  # another name for the same
            [value] = ops.record("sum", value)
        names[value] = signal
    for one in ops.primitives:
        one |= {side: [names.get(value, value) for value in one[side]] for side in ("inputs", "outputs")}
    return ops.primitives


def _unit(part: Unit) -> Table:
    """Return a unit as its cell declares it; ``kept`` is the gate that is the fraction kept, or 1 less it."""
    cell = part.cell
    declared = {name: getattr(cell, name) for name in ("kind", "blocks", "candidate")}
    letters = dict.fromkeys([*cell.blocks, *cell.gate_names, *cell.candidate])
    gates = {letter: 2.0 + place for place, letter in enumerate(letters)}
    kept = cell.kept(gates)
    gate = next(([letter, kept != of] for letter, of in gates.items() if kept in (of, 1 - of)), None)
    declared |= {"letters": "".join(gates), "products": dict(cell.matmuls)}
    return {"name": part.name, **declared, "inputs": part.inputs, "state": part.writes, "kept": gate}
