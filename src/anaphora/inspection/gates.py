"""Gates over a sentence, how often they are saturated, and cells that follow a property of the text.

Saturation and cells that follow something: Karpathy, Johnson and Fei-Fei (2016), sections 4.1 and 4.2.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from statistics import fmean as mean
from typing import Any

import torch
from torch import Tensor

from anaphora.errors import DataError
from anaphora.inspection.result import Result
from anaphora.inspection.subject import LONGEST, Layer, Subject, demand_page, layers_of
from anaphora.kernels.parts import Unit
from anaphora.wording import inflect

LOW, HIGH = 0.1, 0.9
"""A gate is saturated below the one and above the other."""
BINS = 20
WEAK = 0.2
"""Absolute correlation below which a cell does not follow a property."""


@dataclass(frozen=True)
class UnitGates:
    """The gates of one recurrent unit over one sentence."""

    unit: str
    """Module and unit: "encoder.layers.0.left_to_right layer0"."""
    steps: tuple[str, ...]
    """T pieces, in the order in which the unit reads them."""
    values: Mapping[str, tuple[tuple[float, ...], ...]] = field(repr=False)
    """T rows of H numbers by letter of a gate, then for each of ``state``, the memory first."""
    state: tuple[str, ...]
    """Names of the unit's state, its output first."""
    candidate: str
    """The letter that is no gate but the new value, between -1 and 1; empty if there is none."""
    names: Mapping[str, str]
    """Words for each of ``values``: "forget gate f"."""


@dataclass(frozen=True)
class Gates(Result):
    """The gates of a run over one sentence."""

    run: str
    text: str
    units: tuple[UnitGates, ...]

    def panels(self) -> list["Gates"]:
        """Return each gate and each state alone."""
        pairs = [(unit, *pair) for unit in self.units for pair in unit.values.items()]
        return [replace(self, units=(replace(unit, values={name: rows}),)) for unit, name, rows in pairs]

    def lines(self) -> Iterator[str]:
        yield f"{self.run}: {self.text}"
        for unit in self.units:
            means = ", ".join(f"{name} {mean(chain.from_iterable(rows)):.3f}" for name, rows in unit.values.items())
            yield f"  {unit.unit}: {inflect(len(unit.steps), 'step')}, means {means}"


@dataclass(frozen=True)
class GateSaturation:
    """Distribution of the values of one gate over a text."""

    unit: str
    gate: str
    histogram: tuple[int, ...]
    """Counts in ``BINS`` equal bins from 0 to 1; of a candidate, of its absolute value."""
    low: tuple[float, ...] = field(repr=False)
    """Fraction of steps, for each of H cells, at which its gate is below ``LOW``."""
    high: tuple[float, ...] = field(repr=False)
    """The same above ``HIGH``."""
    candidate: bool
    """True of the new value, which is no gate and lies between -1 and 1."""
    name: str
    """Words for it: "forget gate f"."""


@dataclass(frozen=True)
class Saturation(Result):
    """Saturation of the gates of a run over a text."""

    run: str
    steps: int
    gates: tuple[GateSaturation, ...]

    def lines(self) -> Iterator[str]:
        yield f"{self.run}: {inflect(self.steps, 'step')}"
        for gate in self.gates:
            yield f"  {gate.unit} {gate.gate}: {mean(gate.low):.1%} below {LOW}, {mean(gate.high):.1%} above {HIGH}"


@dataclass(frozen=True)
class Follower:
    """Cell whose value correlates with a property of the text."""

    property: str
    unit: str
    cell: int
    correlation: float
    """Pearson's, over all steps."""
    values: tuple[float, ...] = field(repr=False)
    """Over the excerpt of its property."""


@dataclass(frozen=True)
class Excerpt:
    """The steps of a text over which a property varies most, as many as a page has room for."""

    start: int
    """Steps before it."""
    steps: tuple[str, ...] = field(repr=False)
    values: tuple[float, ...] = field(repr=False)
    """The property at each step."""


@dataclass(frozen=True)
class Followers(Result):
    """The cells that follow each property best."""

    run: str
    count: int
    """Number of all steps."""
    properties: Mapping[str, Excerpt] = field(repr=False)
    """Properties that vary in the text."""
    found: tuple[Follower, ...]
    """Followers of each property, the greatest absolute correlation first; none below ``WEAK``."""

    def lines(self) -> Iterator[str]:
        yield f"{self.run}: {inflect(self.count, 'step')}"
        for name in self.properties:
            own = [one for one in self.found if one.property == name]
            yield from (f"  {name:<12} {one.unit} cell {one.cell:<5} r = {one.correlation:+.3f}" for one in own)
            if not own:
                yield f"  {name:<12} no cell with |r| of {WEAK} or more"


def lacks_gates(subject: Subject) -> str:
    """Return the reason that a run has no gates to show; empty where it has."""
    if why := subject.lacks_layers():
        return why
    layers = layers_of(subject, subject.example("a", "" if "target" in subject.trained.tokenizers else None))
    return "" if any(map(_gated, layers)) else "its cells have no gates"


def gates(subject: Subject, text: str, target: str | None = None) -> Gates:
    """Return the gates over a sentence, and of a translator over ``target`` or its greedy translation.

    Raises ConfigError for a run without gates, and for a sentence longer than a page.
    """
    layers = layers_of(subject, subject.example(text, target))
    found = []
    for layer in layers:
        demand_page(layer.steps)
        for unit, of_unit in _gated(layer):
            state = unit.cell.state
            of_state = {name: layer.signal(f"{unit.name}.{name}") for name in reversed(state)}
            rows = {name: values_TH.tolist() for name, values_TH in (of_unit | of_state).items()}
            values = {name: tuple(tuple(round(one, 5) for one in row) for row in own) for name, own in rows.items()}
            names = {name: _name(unit, name) for name in values}
            found.append(UnitGates(f"{layer.name} {unit.name}", layer.steps, values, state, unit.cell.candidate, names))
    subject.demand("has no gates to show", "" if found else "its cells have none")
    return Gates(subject.name, text, tuple(found))


def saturation(subject: Subject, texts: Iterable[str]) -> Saturation:
    """Return the distribution of the gates over texts, each read from the initial state.

    Raises DataError for no text, ConfigError for a run without gates.
    """
    steps, sums = 0, dict[tuple[str, str, bool, str], list[Any]]()
    for text in texts:
        layers = layers_of(subject, subject.example(text))
        steps += sum(layer.size for layer in layers)
        for layer in layers:
            for unit, of_unit in _gated(layer):
                for gate, values_TH in of_unit.items():
                    place = f"{layer.name} {unit.name}", gate, gate == unit.cell.candidate, _name(unit, gate)
                    size_TH = values_TH.abs().float()
                    # whole numbers: floats would stop counting at 2^24
                    own = torch.histc(size_TH, BINS, 0, 1).long(), (size_TH < LOW).sum(0), (size_TH > HIGH).sum(0)
                    before = sums.get(place, [0] * 4)
                    sums[place] = [one + more for one, more in zip(before, (*own, layer.size), strict=True)]
    if not steps:
        raise DataError("The saturation of gates takes a text, but there are no lines: give one that has some.")
    subject.demand("has no gates to show", "" if sums else "its cells have none")
    found = []
    for (unit_name, gate, candidate, name), (counts_B, low_H, high_H, count) in sums.items():
        rows = tuple((low_H / count).tolist()), tuple((high_H / count).tolist())
        found.append(GateSaturation(unit_name, gate, tuple(counts_B.tolist()), *rows, candidate, name))
    return Saturation(subject.name, steps, tuple(found))


def followers(subject: Subject, text: str, best: int = 5) -> Followers:
    """Return the cells (of the memory of units) that follow each property of a text best, by Pearson's correlation.

    Properties: position in the line, inside of quotation marks, depth of brackets, length of the line, all in pieces.
    One that never changes is left out. Raises ConfigError for a model without recurrent layers.
    """
    layers = layers_of(subject, subject.example(text, None))
    layer = layers[0]
    states = {f"{layer.name} {unit.name}": layer.signal(unit.writes[-1]).double() for unit in layer.units()}
    cells = [(unit, cell) for unit, states_TH in states.items() for cell in range(states_TH.shape[1])]
    every_TH = torch.hstack(list(states.values()))
    excerpts, found = dict[str, Excerpt](), list[Follower]()
    for name, property_of in PROPERTIES.items():
        value_T = torch.tensor(property_of(layer.steps)).double()
        if value_T.min() == value_T.max():
            continue
        excerpt, r_H = _excerpt(value_T), _correlation(every_TH, value_T)
        excerpts[name] = Excerpt(excerpt.start, layer.steps[excerpt], tuple(value_T[excerpt].tolist()))
        for place in r_H.abs().argsort(descending=True, stable=True)[:best].tolist():
            if r_H[place].abs() >= WEAK:
                (unit, cell), values = cells[place], tuple(every_TH[excerpt, place].tolist())
                found.append(Follower(name, unit, cell, float(r_H[place]), values))
    return Followers(subject.name, layer.size, excerpts, tuple(found))


def _excerpt(value_T: Tensor) -> slice:
    """Return the window of ``LONGEST`` steps in which a property varies most, the first of several."""
    size = min(LONGEST, len(value_T))
    start = int(value_T.unfold(0, size, 1).var(dim=1, correction=0).argmax())
    return slice(start, start + size)


def _running(pieces: Sequence[str], step: Callable[[float, str], float]) -> list[float]:
    """Return a number after each piece, which a ``step`` follows from the one before; 0 where a line ends."""
    found, value = [], 0.0
    for piece in pieces:
        value = 0.0 if piece in ("<s>", "</s>") or "\n" in piece else step(value, piece)
        found.append(value)
    return found


def position(pieces: Sequence[str]) -> list[float]:
    """Return the number of pieces of its line before each; line ends are special tokens or line breaks."""
    return _running(pieces, lambda place, piece: place + 1)


def inside_quotes(pieces: Sequence[str]) -> list[float]:
    """Return 1 from an opening quotation mark up to the closing one."""

    def read(inside: float, piece: str) -> float:
        for character in piece:
            inside = {"\u201c": 1.0, "\u201d": 0.0, '"': 1.0 - inside}.get(character, inside)
        return inside

    return _running(pieces, read)


def bracket_depth(pieces: Sequence[str]) -> list[float]:
    """Return the number of brackets that are open after each piece."""
    return _running(pieces, lambda depth, piece: max(0.0, depth + sum((c in "([{") - (c in ")]}") for c in piece)))


def line_length(pieces: Sequence[str]) -> list[float]:
    """Return the number of pieces in the line of each."""
    places = position(pieces)
    found, length = [0.0] * len(places), 0.0
    for number in reversed(range(len(places))):
        length = places[number] if number + 1 == len(places) or places[number + 1] <= places[number] else length
        found[number] = length
    return found


PROPERTIES: Mapping[str, Callable[[Sequence[str]], list[float]]] = {
    "position": position,
    "quote": inside_quotes,
    "bracket": bracket_depth,
    "line length": line_length,
}


def _gated(layer: Layer) -> list[tuple[Unit, dict[str, Tensor]]]:
    """Return the units that have gates, and these (T x H) by letter."""
    return [(unit, of_unit) for unit in layer.units() if (of_unit := layer.gates(unit))]


def _name(unit: Unit, letter: str) -> str:
    """Return words for a gate or a state of a unit, as the unit declares them."""
    output, *memory = unit.cell.state
    names = {output: "output", unit.cell.candidate: "new value", **dict.fromkeys(memory, "cell state")}
    return f"{(names | dict(unit.cell.gate_names)).get(letter, 'gate')} {letter}"


def _correlation(states_TH: Tensor, value_T: Tensor) -> Tensor:
    """Pearson's correlation of each cell with a value; 0 where one of them never changes."""
    x_TH, y_T = states_TH - states_TH.mean(0), value_T - value_T.mean()
    scale_H = x_TH.norm(dim=0) * y_T.norm()
    return torch.where(scale_H > 1e-9, (x_TH * y_T.unsqueeze(1)).sum(0) / scale_H.clamp(min=1e-12), 0.0)
