"""Boxes and arrows: the steps of a network, the inside of a unit, and the tree of a beam search."""

import re
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from anaphora.inspection.cell_diagram import CellDiagram
from anaphora.inspection.drawing import canvas
from anaphora.inspection.drawing.canvas import COLOURS, FRAME, INK, QUIET
from anaphora.inspection.labels import ellipsize
from anaphora.inspection.programs import Diagram
from anaphora.inspection.tree import Node, Tree
from anaphora.protocols import PartDescription

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WORDS = ("I", "am", "a", "student")
TARGETS = ("<s>", "Je", "suis", "étudiant")
_FILLS = ("#cfe3f5", "#fde0c5", "#cdeee0", "#f3dbe8", "#e3e3e3", "#fff2bf", "#dcd6f2", "#e6f2d5")
_PIXELS = 90.0
"""Units of a diagram in an inch."""
_EDGE = "#4b515c"
_ARROWS: dict[str, dict[str, Any]] = {
    "flow": {"color": _EDGE},
    "carried": {"color": COLOURS[0], "linewidth": 1.6},
    "first": {"color": COLOURS[0], "linestyle": (0, (4, 3))},
    "memory": {"color": COLOURS[2], "linestyle": (0, (7, 3))},
}
_Point = tuple[float, float]

_WIDE, _HIGH = 150, 40
"""Sides of the box of a part."""
_ACROSS, _UP = 216, 66
"""Distance from one box to the next."""
_LEFT, _TOP, _RIGHT = 170, 56, 260
_KIND = 24
"""Characters of the kind of a part that its box has room for; a longer one stands beside it."""

_CELL_ACROSS, _CELL_DOWN, _CELL_LEFT, _CELL_TOP = 166, 60, 80, 70
_CELL_WIDE, _CELL_HIGH = 130, 34
_KINDS = ("given", "matrix", "function", "point-wise", "result")

_LINK, _SCORE = 0.42, 0.34
"""Inches of the lines before a node of a tree, and of its score."""
_LONGEST = 13
"""Characters of a token that are shown."""


def network_figure(shown: Diagram) -> "Figure":
    """Draw the programs of a network one above the other, a column of boxes for each step.

    A part is a box, a signal an arrow; what is carried from step to step goes sideways. Boxes of one row have the same
    weights, which stand at their right.
    """
    heights = {name: _UP * len(parts) + 110 for name, parts in shown.programs.items() if parts}
    bottom = float(sum(heights.values()) + _TOP)
    figure, axes = _sheet(_LEFT + _ACROSS * shown.steps + _RIGHT, bottom, shown.name)
    below = 0.0
    for name, height in heights.items():  # from the bottom up, as signals flow
        parts = shown.programs[name]
        lane = _Lane(axes, name, parts, shown.steps, bottom - 50)
        lane.draw()
        if any(part.memory for part in parts) and below:
            lane.draw_memory(below)
        if shown.cut_every:
            lane.draw_cuts(shown.cut_every, height)
        bottom -= height
        below = bottom + 40
    return figure


class _Lane:
    """One program unrolled."""

    def __init__(self, axes: "Axes", name: str, parts: Sequence[PartDescription], steps: int, bottom: float) -> None:
        self._axes, self._name, self._parts, self._steps, self._bottom = axes, name, parts, steps, bottom
        self._backwards = name.endswith("right to left")
        self._writer = {signal: row for row, part in enumerate(parts) for signal in part.writes}

    def _x(self, step: int) -> float:
        return _LEFT + _ACROSS * (self._steps - 1 - step if self._backwards else step)

    def _y(self, row: int) -> float:
        return self._bottom - 60 - _UP * row

    def draw(self) -> None:
        """Draw boxes, words, arrows and weights."""
        last = len(self._parts) - 1
        _text(self._axes, 20, self._y(last + 1) + 16, self._name, 10, weight="bold")
        for row, part in enumerate(self._parts):
            notes = [f"{name} {' x '.join(map(str, shape))}" for name, shape in part.weights.items()]
            notes = [part.kind, *notes] if len(part.kind) > _KIND else notes
            beside = _LEFT + _ACROSS * self._steps + 50
            _text(self._axes, beside, self._y(row) + _HIGH / 2, "\n".join(notes), 6, color=QUIET, va="center")
            for step in range(self._steps):
                self._draw_part(step, row, part)
        for step in range(self._steps):
            x, y = self._x(step) + _WIDE / 2, self._y(last)
            _arrow(self._axes, "flow", (x, y), [(x, y - 22)])
            _text(self._axes, x + 6, y - 12, ", ".join(self._parts[last].writes), 7)

    def _draw_part(self, step: int, row: int, part: PartDescription) -> None:
        x, y = self._x(step), self._y(row)
        _box(self._axes, x, y, _WIDE, _HIGH, _FILLS[row % len(_FILLS)])
        _text(self._axes, x + 8, y + 16, part.name)
        _text(self._axes, x + 8, y + 31, ellipsize(part.kind, _KIND), 7)
        for number, read in enumerate(part.reads):
            if read.previous:
                self._draw_carried(step, row, read.signal, number)
            elif read.signal in self._writer:
                self._draw_flow(step, self._writer[read.signal], row, number)
            else:
                self._draw_input(step, row, read.signal, number)

    def _draw_flow(self, step: int, row: int, to: int, number: int) -> None:
        """Draw a signal within a step: straight to the next box, around those in between to others."""
        x, y = self._x(step), self._y(row)
        if to == row + 1:
            across = x + _WIDE / 2 + 9 * number
            _arrow(self._axes, "flow", (across, y), [(across, self._y(to) + _HIGH)])
            return
        side, out = x + _WIDE, x + _WIDE + 14 + 7 * (to - row)
        start, end = y + _HIGH / 2, self._y(to) + _HIGH / 2 + 5 * number
        _arrow(self._axes, "flow", (side, start), [(out, start), (out, end), (side, end)])

    def _draw_carried(self, step: int, row: int, signal: str, number: int) -> None:
        """Draw a signal of the step before; at the first step, the initial state."""
        y, back = self._y(row) + _HIGH / 2 + 9 * (number % 3) - 6, -1 if self._backwards else 1
        to = self._x(step) + (_WIDE if self._backwards else 0)
        if step:
            start = to - back * (_ACROSS - _WIDE), self._y(self._writer[signal]) + _HIGH / 2
            _arrow(self._axes, "carried", start, [(to, y)])
            return
        _arrow(self._axes, "first", (to - 34 * back, y), [(to, y)])
        side = "left" if self._backwards else "right"
        _text(self._axes, to - 38 * back, y, f"{signal}\u2080", 7, ha=side, va="center")

    def _draw_input(self, step: int, row: int, signal: str, number: int) -> None:
        """Draw a signal from outside: the word that is read, or another network."""
        word = self._word(step) if signal == "x" else signal
        x, y = self._x(step), self._y(row) + _HIGH
        if row == 0:
            across = x + _WIDE / 2 + 9 * number
            _arrow(self._axes, "flow", (across, y + 24), [(across, y)])
            _text(self._axes, across, y + 38, word, ha="center")
        else:
            _arrow(self._axes, "flow", (x - 40, y - 8), [(x, y - 8)])
            _text(self._axes, x - 8, y - 13, word, ha="right")

    def _word(self, step: int) -> str:
        """Return the word of a step, or the output of the layer below."""
        below = re.match(r"encoder layer ([1-9]\d*)", self._name)
        if below:
            return f"h of layer {int(below[1]) - 1}"
        words = TARGETS if self._name == "decoder" else WORDS
        place = self._steps - 1 - step if self._backwards else step
        return words[place] if self._steps == len(words) else "x"

    def draw_memory(self, below: float) -> None:
        """Draw what every step looks at, from the program ``below``."""
        for step in range(self._steps):
            for row, part in enumerate(self._parts):
                if part.memory:
                    x = self._x(step) + 18
                    _arrow(self._axes, "memory", (x, below), [(x, self._y(row) + _HIGH)])
        _text(self._axes, self._x(0) + 26, below - 8, "memory of the sentence", 7)

    def draw_cuts(self, every: int, height: float) -> None:
        """Draw the borders at which the state goes on and the gradient does not."""
        for step in range(every, self._steps, every):
            x = self._x(step) - (_ACROSS - _WIDE) / 2
            ends = [self._bottom, self._bottom - height + 60]
            self._axes.plot([x, x], ends, color=COLOURS[1], linewidth=2, linestyle=":", gid="cut")
            _text(self._axes, x, self._bottom + 16, "the gradient stops here", 7, ha="center")


_Place = tuple[int, int]
"""Node of a unit, and a column that it stands in or that its value passes."""


def cell_figure(shown: CellDiagram) -> "Figure":
    """Draw one step of a unit, from left to right."""
    nodes, columns = shown.nodes, _columns(shown)
    at = {number: x for x, column in enumerate(columns) for number in column}
    ends = dict(at)
    for number, node in enumerate(nodes):
        for one in node.reads:
            ends[one] = max(ends[one], at[number])
    places: dict[_Place, _Point] = {}

    def height(place: _Place) -> tuple[float, str]:
        """Return how high a place should stand: as what it continues or reads."""
        number, x = place
        before = [number] if at[number] < x else nodes[number].reads
        heights = [places[one, x - 1][1] for one in before]
        return sum(heights) / len(heights) if heights else 0.0, nodes[number].label

    rows = 0
    for x, column in enumerate(columns):
        # a value that is read further on takes a row of each column that it passes, so that no arrow is hidden
        passing = [number for number in at if at[number] < x < ends[number]]
        ordered = sorted([(number, x) for number in (*column, *passing)], key=height)
        rows = max(rows, len(ordered))
        across = float(_CELL_LEFT + _CELL_ACROSS * x)
        places |= {place: (across, _CELL_TOP + _CELL_DOWN * row) for row, place in enumerate(ordered)}
    width = _CELL_ACROSS * (len(columns) - 1) + 2 * _CELL_LEFT
    figure, axes = _sheet(width, _CELL_TOP + _CELL_DOWN * rows - 20, f"one step of {shown.name}")
    for number, node in enumerate(nodes):
        for one in node.reads:
            way = [places[one, x] for x in range(at[one], at[number])]
            _draw_way(axes, _width_of(nodes[one].kind), way, places[number, at[number]], _width_of(node.kind))
        middle, down = places[number, at[number]]
        wide = _width_of(node.kind)
        rounding = _CELL_HIGH / 2 if node.kind == "point-wise" else 6
        fill = _FILLS[_KINDS.index(node.kind)]
        _box(axes, middle - wide / 2, down - _CELL_HIGH / 2, wide, _CELL_HIGH, fill, rounding)
        _text(axes, middle, down, node.label, 9 if len(node.label) < 14 else 7.5, ha="center", va="center")
    return figure


def _columns(shown: CellDiagram) -> list[list[int]]:
    """Return the nodes by the longest way to them; results stand at the right."""
    depths: list[int] = []
    for node in shown.nodes:
        depths.append(max((depths[one] + 1 for one in node.reads), default=0))
    last = max(depths)
    columns = [last if node.kind == "result" else depth for node, depth in zip(shown.nodes, depths, strict=True)]
    return [[number for number, own in enumerate(columns) if own == column] for column in range(last + 1)]


def _width_of(kind: str) -> float:
    return _CELL_HIGH if kind == "point-wise" else _CELL_WIDE


def _draw_way(axes: "Axes", leaves: float, way: Sequence[_Point], end: _Point, enters: float) -> None:
    """Draw an arrow from the right of the first place of a way, through the others, to the left of ``end``."""
    (x, y), *passed = way
    x += leaves / 2
    start, steps = (x, y), list[list[_Point]]()
    for to_x, to_y, half in (*((*place, _CELL_WIDE / 2) for place in passed), (*end, enters / 2)):
        bend = max(10.0, (to_x - half - x) / 2)
        steps.append([(x + bend, y), (to_x - half - bend, to_y), (to_x - half, to_y)])
        x, y = to_x + half, to_y
        steps.append([(x, y)])
    _arrow(axes, "flow", start, *steps[:-1])


def _sheet(width: float, height: float, title: str) -> tuple["Figure", "Axes"]:
    """Return a figure and its axes without a frame, in units of ``_PIXELS`` from the top left, with a title."""
    figure, axes = canvas.sheet(width / _PIXELS, height / _PIXELS, (0, width), (height, 0))
    _text(axes, 20, 28, title, 11, weight="bold")
    return figure, axes


def _text(axes: "Axes", x: float, y: float, text: str, size: float = 9, **style: Any) -> None:
    axes.text(x, y, text, fontsize=size, **style)


def _box(axes: "Axes", x: float, y: float, wide: float, high: float, fill: str, rounding: float = 6) -> None:
    from matplotlib.patches import FancyBboxPatch

    style = f"round,pad=0,rounding_size={rounding}"
    axes.add_patch(FancyBboxPatch((x, y), wide, high, style, facecolor=fill, edgecolor=_EDGE, linewidth=0.8, gid="box"))


def _arrow(axes: "Axes", kind: str, start: _Point, *steps: Sequence[_Point]) -> None:
    """Draw an arrow; a step is the end of a line, or two control points and the end of a curve."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    codes = [Path.MOVETO, *(Path.LINETO if len(step) == 1 else Path.CURVE4 for step in steps for _ in step)]
    path = Path([start, *chain.from_iterable(steps)], codes)
    style = {"linewidth": 0.9, "capstyle": "butt", **_ARROWS[kind]}
    axes.add_patch(FancyArrowPatch(path=path, arrowstyle="-|>", mutation_scale=7, gid=kind, **style))


def tree_figure(shown: Tree) -> "Figure":
    """Draw kept nodes in black, pruned ones grey and struck out; the result's path thick, greedy search's dotted."""
    places = _places(shown)
    steps = max(node.step for node in shown.nodes)
    rows = max(row for row in places.values()) + 1
    column = _LINK + _SCORE + max(_width(_label_of(node)) for node in shown.nodes)
    width = column * steps + 0.6
    # across in inches, down in rows
    figure, axes = canvas.sheet(width, max(2.0, 0.24 * rows), (0, width), (rows + 0.6, -1.9))
    for node in shown.nodes:
        x, y = 0.6 + column * (node.step - 1), places[node.number]
        if node.parent is not None:
            from_y, ends = places[node.parent], [x - _LINK, x - 0.04]
            style: dict[str, Any] = {"color": FRAME if node.fate == "pruned" else QUIET, "linewidth": 0.7}
            if node.best:
                style = {"color": COLOURS[0], "linewidth": 2.2}
            axes.plot(ends, [from_y, y], zorder=1, **style)
            if node.greedy:
                axes.plot(ends, [from_y + 0.16, y + 0.16], color=COLOURS[1], linestyle=":", linewidth=1.6)
        _node(axes, node, x, y, x + column - _LINK - 0.04)
    for step, mass in enumerate(shown.mass):
        axes.text(0.6 + column * step, -0.9, f"{mass:.3f}", fontsize=7, color=QUIET)
    axes.text(0, -0.9, "mass kept", fontsize=7, color=QUIET)
    title = f"{shown.text}    beam {shown.size}: {shown.score:.3f}    greedy: {shown.greedy_score:.3f}"
    axes.text(0, -1.5, title, fontsize=9, fontweight="bold")
    legend = "thick: result    dotted: greedy    struck out: pruned    square brackets: finished    numbers: ln p"
    axes.text(0, rows + 0.2, legend, fontsize=7, color=QUIET)
    return figure


def _label_of(node: Node) -> str:
    token = f"[{node.token}]" if node.fate == "finished" else node.token
    return ellipsize(token, _LONGEST)


def _width(token: str) -> float:
    """Return about as many inches as a token takes."""
    return sum(0.13 if east_asian_width(letter) in "WF" else 0.07 for letter in token)


def _node(axes: "Axes", node: Node, x: float, y: float, end: float) -> None:
    token = _label_of(node)
    colour = QUIET if node.fate == "pruned" else INK
    weight = "bold" if node.best else "normal"
    axes.text(x, y, token, fontsize=8, color=colour, fontweight=weight, va="center")
    axes.text(end, y, f"{node.score:.2f}", fontsize=6, color=QUIET, va="center", ha="right")
    if node.fate == "pruned":
        axes.plot([x, x + _width(token)], [y, y], color=QUIET, linewidth=0.6)


def _places(shown: Tree) -> dict[int, float]:
    """Return the row of each node: leaves one below the other, a parent beside the first of its children."""
    children: dict[int | None, list[Node]] = {}
    for node in shown.nodes:
        children.setdefault(node.parent, []).append(node)
    places: dict[int, float] = {}
    free = 0.0

    def place(parent: int | None) -> None:
        nonlocal free
        own = sorted(children.get(parent, []), key=lambda child: (not child.best, -child.score))
        for child in own:
            places[child.number] = free
            place(child.number)
        if not own:
            free += 1

    place(None)
    return places
