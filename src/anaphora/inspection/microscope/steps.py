"""Steps of recurrent networks as lists of primitive operations, which the page computes.

``forward`` of every part runs over names instead of numbers, and each operation that it asks for is written down: so a
new unit, score or window needs no other text than its own.
"""

from collections.abc import Callable, Mapping
from typing import Any

from anaphora.kernels.normalisation import EPSILON
from anaphora.kernels.ops import Ops
from anaphora.kernels.parts import Part, Unit
from anaphora.kernels.program import Program

Table = dict[str, Any]

_GATE_FUNCTIONS = ("tanh", "sigmoid", "relu")


class StepRecorder(Ops[str]):
    """Operations of one part, written down as ``op``, ``inputs``, ``outputs``, ``weights``, ``memory``, ``numbers``."""

    def __init__(self, part: str, prefix: str) -> None:
        """``prefix`` is in front of the names of its weights in the checkpoint."""
        self.part, self._prefix, self.primitives = part, prefix, list[Table]()

    def record(self, op: str, *inputs: str, outputs: int = 1, **more: Any) -> list[str]:
        """Write an operation down; return the names of what it makes."""
        made = [f"{self.part}:{len(self.primitives)}.{n}" for n in range(outputs)]
        self.primitives.append({"op": op, "part": self.part, "inputs": [*inputs], "outputs": made, **more})
        return made

    def _of_weights(self, op: str, *inputs: str, weights: tuple[str, ...], **more: Any) -> str:
        named = [f"{self._prefix}{self.full(weight)}" for weight in weights]
        return self.record(op, *inputs, weights=named, **more)[0]

    def _of_memory(self, op: str, name: str, *inputs: str, **more: Any) -> str:
        return self.record(op, *inputs, memory=self.full(name), **more)[0]

    def product(self, name: str, a: str) -> str:
        return self._of_weights("product", a, weights=(name,))

    def add_vector(self, a: str, name: str) -> str:
        return self._of_weights("add_vector", a, weights=(name,))

    def vector(self, name: str) -> str:
        return self._of_weights("weight", weights=(name,))

    columns = vector

    def normal(self, a: str, gain: str, bias: str = "") -> tuple[str, None]:
        return self._of_weights("normal", a, weights=(gain, *([bias] if bias else [])), numbers=[EPSILON]), None

    def mix(self, name: str, a: str, open_: str) -> str:
        return self._of_memory("mix", name, a)

    def dot(self, name: str, a: str, open_: str) -> str:
        return self._of_memory("dot", name, a)

    def sentences(self, name: str) -> str:
        return self._of_memory("memory", name)

    def whole(self) -> str:
        return self._of_memory("memory", "closed")

    def places(self) -> str:
        return self._of_memory("places", "values")

    def near(self, distance: str, first: int, last: int) -> str:
        return self._of_memory("near", "closed", distance, numbers=[first, last])

    def cut_or_pad(self, a: str, width: int) -> str:
        return self._of_memory("cut_or_pad", "values", a)

    def column(self, name: str, clock: str) -> tuple[str, None]:
        return self._of_memory("column", name, clock), None

    def number(self, number: float) -> str:
        return self.record("number", numbers=[number])[0]

    def zeros(self, width: int) -> str:
        return self.number(0)

    def width(self, a: str) -> int:
        return 0  # known when numbers are

    @property
    def positions(self) -> int:
        return 0  # as for ``width``

    def split(self, a: str, *blocks: int) -> list[str]:
        return self.record("split", a, outputs=len(blocks), numbers=blocks)

    def every_step(self, of_sentence: str, like: str) -> str:
        return of_sentence

    def sum(self, values: Any, keeps: bool = False) -> str:
        return values[0] if len(values) == 1 else self.record("sum", *values)[0]

    def capped_exp(self, a: str, largest: float) -> tuple[str, str]:
        [value] = self.record("capped_exp", a, numbers=[largest])
        return value, value  # the derivative has no use


def _recorded(op: str) -> Callable[..., str]:
    def record(ops: StepRecorder, *given: str | float) -> str:
        numbers = [one for one in given if not isinstance(one, str)]
        return ops.record(op, *(one for one in given if isinstance(one, str)), numbers=numbers)[0]

    return record


for _op in (
    *("join", "sub", "mul", "tanh", "sigmoid", "relu", "maxout", "exp", "log_sigmoid", "minimum", "squeeze", "median"),
    *("at_positions", "over_positions", "sum_positions", "only_open", "softmax", "scale", "add_number", "neighbours"),
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
    written, _ = part.forward(ops, part.reads)
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
            if one["op"] in ("sum", *_GATE_FUNCTIONS):
                (sums if one["op"] == "sum" else gates)[made[0]] = letters
    of_letter = {letters: value for value, letters in reversed(gates.items()) if len(letters) == 1}
    candidate = [value for value, letters in sums.items() if letters == part.cell.candidate]
    if candidate and part.cell.candidate not in of_letter:  # a new value without a function
        of_letter[part.cell.candidate] = candidate[-1]
    return {letter: of_letter[letter] for letter in part.cell.blocks if letter in of_letter}


def _unit(part: Unit, gates: Mapping[str, str]) -> Table:
    """Return a unit as its cell declares it; ``kept`` is the gate that is the fraction kept, or 1 less it."""
    cell, given = part.cell, {letter: 2.0 + place for place, letter in enumerate(gates)}
    kept = cell.kept(given)
    return {
        "name": part.name,
        "kind": cell.kind,
        "blocks": cell.blocks,
        "candidate": cell.candidate,
        "gates": gates,
        "state": part.writes,
        "kept": next(([letter, kept != of] for letter, of in given.items() if kept in (of, 1 - of)), None),
    }
