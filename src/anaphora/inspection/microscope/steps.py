"""Steps of recurrent networks as lists of primitive operations, which the page computes.

``forward`` of every part runs over names instead of numbers, and each operation that it asks for is written down: so a
new unit, score or window needs no other text than its own.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anaphora.kernels.ops import Ops
from anaphora.kernels.parts import Part, Unit
from anaphora.kernels.program import Program

Table = dict[str, Any]

_GATE_FUNCTIONS = ("tanh", "sigmoid", "relu")


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

    @property
    def positions(self) -> int:
        return 0  # as for ``width``

    def zeros(self, width: int) -> Value:
        return self.number(0)

    def split(self, a: Value, *blocks: int) -> Sequence[Value]:
        return self.record("split", a, *blocks, outputs=len(blocks))

    def every_step(self, of_sentence: Value, like: Value) -> Value:
        return of_sentence

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
    *(
        *_MEMORY,
        "product",
        "add_vector",
        "vector",
        "columns",
        "number",
        "normal",
        "join",
        "sub",
        "mul",
        *_GATE_FUNCTIONS,
    ),
    *(
        "maxout",
        "softmax",
        "scale",
        "exp",
        "capped_exp",
        "log_sigmoid",
        "minimum",
        "add_number",
        "squeeze",
        "neighbours",
    ),
    *("at_positions", "over_positions", "sum_positions", "only_open", "median"),
):
    setattr(StepRecorder, _op, _recorded(_op))


def lower(program: Program, prefix: str) -> Table:
    """Return a step as data: its primitives in order, its units, and the signals that it returns and carries.

    ``prefix`` is in front of the names of its weights. Values have the names of signals, a gate is named like
    ``layer0.i``, and what is neither by a number.
    """
    primitives, units = list[Table](), list[Table]()
    for part in program.parts:
        own, names = _of_part(part, prefix)
        if isinstance(part, Unit):
            gates = _gates(part, own)
            names = {value: f"{part.name}.{letter}" for letter, value in gates.items()} | names
            units.append(_unit(part, {letter: names[value] for letter, value in gates.items()}))
        for one in own:
            for side in ("inputs", "outputs"):
                one[side] = [names.get(value, value) for value in one[side]]
        primitives += own
    wanted = {*program.returns, *program.carried, *(gate for unit in units for gate in unit["gates"].values())}
    kept = list[Table]()
    for one in reversed(primitives):
        if not wanted.isdisjoint(one["outputs"]):
            wanted.update(one["inputs"])
            kept.append(one)
    return {"primitives": kept[::-1], "units": units, "returns": program.returns, "carried": program.carried}


def _of_part(part: Part, prefix: str) -> tuple[list[Table], dict[str, str]]:
    """Return the primitives of a part, and the signals that it writes by the names that its values have there."""
    ops, names = StepRecorder(part.name, prefix), dict[str, str]()
    written, _ = part.forward(ops, [Value(read) for read in part.reads])
    for signal, value in zip(part.writes, written, strict=True):
        if value in part.reads or value in names:  # another name for the same
            [value] = ops.record("sum", value)
        names[value] = signal
    return ops.primitives, names


def _gates(part: Unit, primitives: list[Table]) -> dict[str, str]:
    """Return the values of gates by letter: functions of sums that one block of the projected input is a term of."""
    sums = {part.inputs[0] if len(part.inputs) == 1 else primitives[0]["outputs"][0]: part.cell.blocks}
    gates = dict[str, str]()
    for one in primitives:
        read, made = one["inputs"], one["outputs"]
        if one["op"] == "split":
            for of in (sums, gates):
                letters, place = of.get(read[0], ""), 0
                unit = len(letters) // sum(one["numbers"])
                for value, block in zip(made, one["numbers"], strict=True):
                    if letters:
                        of[value] = letters[place : place + block * unit]
                    place += block * unit
        elif letters := next((sums[value] for value in read if value in sums), ""):
            of = {"sum": sums, **dict.fromkeys(_GATE_FUNCTIONS, gates)}.get(one["op"], {})
            of[made[0]] = letters
    of_letter = {letters: value for value, letters in reversed(gates.items()) if len(letters) == 1}
    candidate = [value for value, letters in sums.items() if letters == part.cell.candidate]
    if candidate and part.cell.candidate not in of_letter:  # a new value without a function
        of_letter[part.cell.candidate] = candidate[-1]
    return {letter: of_letter[letter] for letter in part.cell.blocks if letter in of_letter}


def _unit(part: Unit, gates: Mapping[str, str]) -> Table:
    """Return a unit as its cell declares it; ``kept`` is the gate that is the fraction kept, or 1 less it."""
    cell, given = part.cell, {letter: 2.0 + place for place, letter in enumerate(gates)}
    kept = cell.kept(given)
    declared = {name: getattr(cell, name) for name in ("kind", "blocks", "candidate")}
    gate = next(([letter, kept != of] for letter, of in given.items() if kept in (of, 1 - of)), None)
    return {"name": part.name, **declared, "gates": gates, "state": part.writes, "kept": gate}
