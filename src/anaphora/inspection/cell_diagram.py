"""The inside of a recurrent unit as a picture, drawn from its equations.

The reference step of a unit (``kernels/naive/units.py``) runs once over symbols in place of tensors, which remember
what was done with them. So a picture shows what the equations say, and a new unit needs no drawing of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from anaphora.inspection.svg import FILLS, picture, text
from anaphora.inspection.symbols import Matrix, Symbol, in_order
from anaphora.kernels.cells import AnyCell, Cell
from anaphora.kernels.naive.units import unit_step

_ACROSS, _DOWN, _LEFT, _TOP = 166, 60, 80, 70
_WIDE, _HIGH = 130, 34
_ROUND = 17
"""Radius of a point-wise operation."""
_KINDS = ("given", "matrix", "function", "point-wise", "result")
_MATRICES = {"h": "U", "rh": "U_g", "c": "P", "c_i": "p_i", "c_f": "p_f", "c_o": "p_o", "c_new": "P_o", "m": "U_m"}
"""What pictures call the matrices of a unit."""


_Place = tuple[int, int]
"""A node, and a column that it stands in or that its value passes."""


@dataclass(frozen=True)
class Node:
    """A value within a step."""

    label: str
    """"W_f x + U_f h", "tanh", "+"; of what is given or carried on, its name."""
    kind: str
    """"given", "matrix", "function", "point-wise" or "result"."""
    reads: tuple[int, ...]
    """The nodes that it is computed from."""


@dataclass(frozen=True)
class CellDiagram:
    """One step of a unit."""

    name: str
    nodes: tuple[Node, ...]
    """Each after those that it reads."""

    def json(self) -> dict[str, Any]:
        nodes = [{"label": one.label, "kind": one.kind, "reads": list(one.reads)} for one in self.nodes]
        return {"name": self.name, "nodes": nodes}

    def __str__(self) -> str:
        lines = [f"one step of {self.name}"]
        for number, node in enumerate(self.nodes):
            reads = f" <- {', '.join(map(str, node.reads))}" if node.reads else ""
            lines.append(f"  {number:>2} {node.label}{reads}")
        return "\n".join(lines)

    def svg(self) -> str:
        """The picture, from left to right."""
        columns = self._columns()
        at = {number: x for x, column in enumerate(columns) for number in column}
        ends = {number: at[number] for number in at}
        for number, node in enumerate(self.nodes):
            for one in node.reads:
                ends[one] = max(ends[one], at[number])
        places: dict[_Place, tuple[float, float]] = {}
        rows = 0
        for x, column in enumerate(columns):
            # a value that is read further on takes a row of each column that it passes, so that no arrow is hidden
            passing = [number for number in at if at[number] < x < ends[number]]
            ordered = self._ordered([(number, x) for number in (*column, *passing)], at, places)
            rows = max(rows, len(ordered))
            places |= {place: (_LEFT + _ACROSS * x, _TOP + _DOWN * y) for y, place in enumerate(ordered)}
        drawn = list[str]()
        for number, node in enumerate(self.nodes):
            for one in node.reads:
                way = [places[one, x] for x in range(at[one], at[number])]
                drawn.append(_arrow(_reach(self.nodes[one]), way, places[number, at[number]], _reach(node)))
        drawn += [_drawn(node, *places[number, at[number]]) for number, node in enumerate(self.nodes)]
        width = _ACROSS * (len(columns) - 1) + 2 * _LEFT
        return picture(f"one step of {self.name}", str(self), width, _TOP + _DOWN * rows - 20, drawn)

    def _columns(self) -> list[list[int]]:
        """The nodes by the longest way to them; results stand at the right."""
        depths: list[int] = []
        for node in self.nodes:
            depths.append(max((depths[one] + 1 for one in node.reads), default=0))
        last = max(depths)
        found: list[list[int]] = [[] for _ in range(last + 1)]
        for number, node in enumerate(self.nodes):
            found[last if node.kind == "result" else depths[number]].append(number)
        return found

    def _ordered(
        self, column: list[_Place], at: Mapping[int, int], places: Mapping[_Place, tuple[float, float]]
    ) -> list[_Place]:
        """A column from top to bottom, each place about as high as what it continues or reads."""

        def height(place: _Place) -> tuple[float, str]:
            number, x = place
            before = [number] if at[number] < x else self.nodes[number].reads
            heights = [places[one, x - 1][1] for one in before]
            return sum(heights) / len(heights) if heights else 0.0, self.nodes[number].label

        return sorted(column, key=height)


def cells() -> dict[str, type[Cell]]:
    """Every unit by the name that recipes give it."""
    union, *_ = get_args(AnyCell)
    return {one.model_fields["kind"].default: one for one in get_args(union)}


def cell_diagram(name: str, **options: Any) -> CellDiagram:
    """The step of a unit, by its name in recipes. Raises ConfigError for options that it does not have."""
    cell: Any = cells()[name].parse(options, name)
    symbols, after = traced(cell)
    places = {symbol: number for number, symbol in enumerate(symbols)}
    nodes = [_node(symbol, tuple(places[one] for one in symbol.reads), _gates_of(cell)) for symbol in symbols]
    nodes += [Node(f"{field} after", "result", (places[one],)) for field, one in zip(cell.state, after, strict=True)]
    return CellDiagram(name, tuple(nodes))


def traced(cell: Any) -> tuple[list[Symbol], tuple[Symbol, ...]]:
    """All values of a step of a unit in order, and those that it carries on."""
    before: Any = tuple(Symbol("given", (), (f"{field} before",)) for field in cell.state)
    x: Any = Symbol("affine", (Symbol("given", (), ("x",)),), ("W",))
    weights: dict[str, Any] = {short: Matrix(_MATRICES.get(short, f"U_{short} ")) for short, _ in cell.matmuls}
    weights |= {short: Matrix(_MATRICES.get(short, short)) for short in cell.vectors}
    after: Any = unit_step(cell, x, before, weights)
    return in_order(after), after


def _node(symbol: Symbol, reads: tuple[int, ...], gates: str) -> Node:
    match symbol.done:
        case "given":
            return Node(symbol.names[0], "given", ())
        case "affine":
            terms = [
                f"{_block(name, gates)} {_short(one)}" for name, one in zip(symbol.names, symbol.reads, strict=True)
            ]
            return Node(" + ".join(terms), "matrix", reads)
        case "tanh" | "\u03c3" | "relu" | "exp":
            return Node(symbol.done, "function", reads)
    return Node(symbol.done, "point-wise", reads)


def _short(symbol: Symbol) -> str:
    """A factor of a matrix: what is given, or a bracket."""
    return symbol.names[0].removesuffix(" before") if symbol.done == "given" else "(..)"


def _block(name: str, gates: str) -> str:
    """A block of a matrix, called after its gate."""
    base, digits = name.rstrip("0123456789"), name[len(name.rstrip("0123456789")) :]
    return f"{base}_{gates[int(digits)]}" if digits and int(digits) < len(gates) else base


def _gates_of(cell: Any) -> str:
    """The gates of a unit by the order of its blocks."""
    blocks: str = getattr(cell, "blocks", {4: "ifgo", 3: "rzg"}.get(cell.gates, ""))
    return blocks


def _arrow(leaves: float, way: Sequence[tuple[float, float]], end: tuple[float, float], enters: float) -> str:
    """From the right of the first place of a way, through the others, to the left of another node."""
    (x, y), *passed = way
    steps = [f"M{x + leaves:.0f} {y:.0f}"]
    x += leaves
    for to_x, to_y, on in (*((*place, _WIDE / 2) for place in passed), (*end, 0.0)):
        to_x -= on or enters + 2
        bend = max(10.0, (to_x - x) / 2)
        steps.append(f"C{x + bend:.0f} {y:.0f} {to_x - bend:.0f} {to_y:.0f} {to_x:.0f} {to_y:.0f}")
        x, y = to_x + 2 * on, to_y
        if on:
            steps.append(f"L{x:.0f} {y:.0f}")
    return f'<path class="flow" d="{" ".join(steps)}"/>'


def _reach(node: Node) -> float:
    return _ROUND if node.kind == "point-wise" else _WIDE / 2


def _drawn(node: Node, x: float, y: float) -> str:
    fill = FILLS[_KINDS.index(node.kind)]
    if node.kind == "point-wise":
        shape = f'<circle class="box" cx="{x:.0f}" cy="{y:.0f}" r="{_ROUND}" fill="{fill}"/>'
    else:
        shape = (
            f'<rect class="box" x="{x - _WIDE / 2:.0f}" y="{y - _HIGH / 2:.0f}" width="{_WIDE}" height="{_HIGH}" '
            f'rx="6" fill="{fill}"/>'
        )
    return shape + text(x, y + 4, node.label, "middle" if len(node.label) < 14 else "middle small")
