"""Programs as diagrams have them: boxes, what they read, and the symbols of the matrices on the way."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from anaphora.inspection.labels import layer_name
from anaphora.protocols import PartDescription, SignalRead

_SYMBOLS = {"input": "W", "layer": "U", "ask": "U", "feed": "F", "context": "C", "context_gate": "W_g", "gate": "v_g"}
_SYMBOLS |= {"attention": "W_a", "annotations": "U_a", "centre": "W_p", "window": "W_p", "summary": "W_c"}
_SYMBOLS |= {"combine_context": "C_o", "combine_state": "U_o", "combine_word": "V_o", "combine_language": "L_o"}
"""Symbols of the matrices of parts: Bahdanau et al. (2015), appendix A, where they are there."""
_WORDS = {"layer": "recurrent", "ask": "recurrent", "feed": "input feeding", "annotations": "attention to annotations"}
_WORDS |= {"attention": "attention from the state", "centre": "centre of the window"}
_WORDS |= {"gate": "gate of the language model", "combine_language": "readout of the language model"}
"""Labels of parts whose names do not say what they are."""
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Lane:
    """Steps of one program, and the columns in the order in which it runs."""

    name: str
    parts: Sequence[PartDescription]
    inputs: Mapping[str, Sequence[int]]
    """Boxes of each input, by column."""
    order: Sequence[int]
    letter: str
    """Symbol of states."""
    mark: str = ""
    """Direction and layer of an encoder."""
    memory: Sequence[int] = ()
    """Boxes that attention looks at, or the sentence encoding that every step reads, or one for each step."""
    first: Mapping[str, tuple[Sequence[int], tuple[str, ...]]] = field(default_factory=dict)
    """Boxes of the initial state and the matrices on the way, by unit."""
    attention_row: int = 0
    """Row of attention, below all else."""

    @cached_property
    def nodes(self) -> list[PartDescription]:
        """The parts that are boxes."""
        boxes = (is_unit, attends, gates)
        return [part for part in self.parts if part is self.parts[-1] or any(one(part) for one in boxes)]

    @cached_property
    def units(self) -> list[str]:
        return [node.name for node in self.nodes if is_unit(node)]

    def layer(self, number: int) -> str:
        """Return the mark of a layer, from 0; nothing where there is only one."""
        return high(number + 1) if len(self.units) > 1 else ""


Way = tuple[str, bool, tuple[str, ...]]
"""Input of a box: a box, an input or memory; True for that of the step before; matrices on the way."""


class Matrices:
    """Matrices of a network by symbol."""

    def __init__(self, of_decoder: Mapping[str, Any]) -> None:
        self._of_decoder = of_decoder
        self._places = dict[str, tuple[list[str], Sequence[Sequence[int]]]]()
        """Places and shapes by symbol."""
        self._symbols = dict[object, str]()

    def listed(self) -> dict[str, str]:
        """Return the places and shapes of each symbol."""
        return {
            symbol: ", ".join([*places, *(" \u00d7 ".join(map(str, shape)) for shape in shapes if all(shape))])
            for symbol, (places, shapes) in self._places.items()
        }

    def add(self, symbol: str, place: str, shapes: Sequence[Sequence[int]] = (), weight: object = None) -> str:
        """Return the symbol of a matrix, with a prime where another has it; a shared ``weight`` has one symbol."""
        key = place if weight is None else id(weight)
        if key not in self._symbols:
            while symbol in self._places:
                symbol += "\u2032"
            self._symbols[key] = symbol
        places = self._places.setdefault(self._symbols[key], ([], shapes))[0]
        places += [place] if place not in places else []
        return self._symbols[key]

    def of_part(self, part: PartDescription, lane: Lane) -> tuple[str, ...]:
        """Return the symbol of the matrices of a part."""
        shapes = [shape for shape in part.weights.values() if len(shape) == 2]
        base = part.name.rstrip("0123456789")
        base = "centre" if attends(part) and "attention.query" not in part.weights else base
        symbol = _SYMBOLS.get(base, "W")
        if is_unit(part) and len({columns for _, columns in shapes}) == 1:
            shapes = [(sum(rows for rows, _ in shapes), shapes[0][1])]
        if base in ("input", "layer", "ask"):
            number = lane.units.index(part.name) if is_unit(part) else int(part.name[len(base) :])
            symbol += lane.mark + lane.layer(number) + ("_l" if lane.letter == "l" else "")
        place = f"{layer_name(f'{lane.name} {part.name}')}: {_words(base)}"
        return (self.add(symbol, place, shapes),) if shapes else ()

    def of_sentence(self, name: str, symbol: str = "") -> tuple[str, ...]:
        """Return the symbol of the matrix that multiplies what a sentence has once for all steps; none without one."""
        weight = self._of_decoder.get("attention.memory" if name == "annotations" else f"{name}.weight")
        place = f"decoder: {_words(name)}"
        return () if weight is None else (self.add(symbol or _SYMBOLS[name], place, [weight.shape]),)


def ways(node: PartDescription, lane: Lane, symbols: Matrices) -> list[Way]:
    """Return what a box reads, directly first, then through projections and sums on the way."""
    writer = {signal: part for part in lane.parts for signal in part.writes}

    def trace(read: SignalRead, previous: bool, matrices: tuple[str, ...], passed: Sequence[str]) -> Iterator[Way]:
        part, previous = writer.get(read.signal), previous or read.previous
        if part is None or part in lane.nodes:
            yield (read.signal if part is None else part.name), previous, matrices
        elif part.memory:
            yield "memory", False, (*symbols.of_sentence(part.name), *matrices)
        elif part.name not in passed:
            for one in part.reads:
                yield from trace(one, previous, (*symbols.of_part(part, lane), *matrices), [*passed, part.name])

    name = "annotations" if attends(node) else "context"
    general = name == "annotations" and "attention.query" not in node.weights
    found = [("memory", False, symbols.of_sentence(name, "W_a" if general else ""))] if node.memory else list[Way]()
    for read in sorted(node.reads, key=lambda read: writer.get(read.signal) not in lane.nodes):
        found += trace(read, False, symbols.of_part(node, lane) if writer.get(read.signal) in lane.nodes else (), [])
    return found


def is_unit(part: PartDescription) -> bool:
    return part.kind.startswith("Unit")


def attends(part: PartDescription) -> bool:
    return "weights" in part.writes


def gates(part: PartDescription) -> bool:
    return part.kind.startswith("Gated")


def note(part: PartDescription) -> str:
    """Return the unit, the score or the function of a box."""
    kind, _, options = part.kind.rstrip(")").partition(" (")
    words = {"Activate": "tanh", "GaussianWindow": "window", "Add": "sum"}
    return options.split(",")[0] or words.get(kind, kind.lower())


def _words(name: str) -> str:
    return _WORDS.get(name) or name.replace("combine_", "readout of the ").replace("_", " ")


def low(number: int) -> str:
    return str(number).translate(_SUBSCRIPTS)


def high(number: int) -> str:
    return str(number).translate(_SUPERSCRIPTS)
