"""Boxes and arrows: the steps of a network, the inside of a unit, and the tree of a beam search."""

from collections.abc import Mapping, Sequence
from itertools import chain
from textwrap import wrap
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from anaphora.inspection.cell_diagram import CellDiagram
from anaphora.inspection.drawing import canvas
from anaphora.inspection.drawing.canvas import COLOURS, DASHES, FRAME, INK, QUIET
from anaphora.inspection.labels import ellipsize
from anaphora.inspection.network_diagram import Edge, NetworkDiagram
from anaphora.inspection.tree import Node, Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FILLS = ("#cfe3f5", "#fde0c5", "#cdeee0", "#f3dbe8", "#e3e3e3", "#fff2bf", "#dcd6f2", "#e6f2d5")
_PIXELS = 90.0
"""Units of a diagram in an inch."""
_EDGE = "#4b515c"
_Point = tuple[float, float]
_BOXES = dict(zip(("unit", "attention", "sentence", "readout", "embedding", "loss", "output"), _FILLS, strict=False))
"""Fills by the kind of a box."""
_HALO = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
_PITCH, _RISE, _HALF, _TALL, _MARGIN = 132, 62, 32, 17, 50
"""Distance of steps and of rows, half the sides of a box, and the left margin."""

_CELL_ACROSS, _CELL_DOWN, _CELL_LEFT, _CELL_TOP = 166, 60, 80, 70
_CELL_WIDE, _CELL_HIGH = 130, 34
_KINDS = ("given", "matrix", "function", "point-wise", "result")

_LESSON_PITCH, _LESSON_RISE = 56, 58

_LINK, _SCORE = 0.42, 0.34
"""Inches of the lines before a node of a tree, and of its score."""
_LONGEST = 13
"""Characters of a token that are shown."""


def network_figure(shown: NetworkDiagram) -> "Figure":
    """Draw a network over a sentence from the bottom up; an arrow has the colour and the dashes of its matrix."""
    rows = 1 + max(box.row for box in shown.boxes)
    columns = 1 + max(box.column for box in shown.boxes)
    title = wrap(f"{shown.name}: {shown.finding}", 62)
    top, width = 40 + 20 * len(title), _MARGIN + _PITCH * columns + 20
    foot = float(top + _RISE * rows + 20)
    height = foot + 18 * len(shown.matrices) + 30
    figure, axes = canvas.sheet(width / _PIXELS, height / _PIXELS, (0, width), (height, 0))
    _text(axes, 12, 24, "\n".join(title), 10, weight="bold", va="top")
    places = [(_MARGIN + _PITCH * (box.column + 0.5), top + _RISE * (rows - box.row - 0.5)) for box in shown.boxes]
    styles = {symbol: _style(number) for number, symbol in enumerate(shown.matrices)}
    named = set[str]()
    for edge in shown.edges:
        style = styles[edge.matrices[0]] if edge.matrices else {"color": QUIET, "linewidth": 0.9}
        symbols, bold = " ".join(edge.matrices), shown.boxes[edge.end].column == 1
        if edge.kind == "attention":
            style = {**style, "alpha": 1.0 if bold else 0.25}
            symbols = symbols or (f"\u03b1{shown.boxes[edge.start].label[-1]}" if bold else "")
        x, y = _route(axes, shown, edge, places, style)
        if symbols and symbols not in named:
            halo = {"ha": "center", "va": "center", "bbox": _HALO, "zorder": 2.5}
            _text(axes, x, y, symbols, 8, color=style["color"], weight="bold", **halo)
        named.add(symbols)
    for box, (x, y) in zip(shown.boxes, places, strict=True):
        middle: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 4}
        if box.kind == "word":
            _text(axes, x, y, box.label, 10, bbox=_HALO, **middle)
            continue
        _box(axes, x - _HALF, y - _TALL, 2 * _HALF, 2 * _TALL, _BOXES[box.kind])
        _text(axes, x, y - 5 if box.note else y, box.label, 10, **middle)
        _text(axes, x, y + 9, ellipsize(box.note, 14), 6.5, **middle)
    for column, label in shown.cuts:
        x = _MARGIN + _PITCH * (column + 0.5)
        axes.plot([x, x], [top + 8, foot - 24], color=COLOURS[1], linewidth=2, linestyle=":", gid="cut")
        _text(axes, x, foot - 12, label, 8, ha="center", color=COLOURS[1])
    for number, (symbol, place) in enumerate(shown.matrices.items()):
        y = foot + 14 + 18 * number
        axes.plot([16, 52], [y, y], gid="matrix", **styles[symbol])
        _text(axes, 60, y, symbol, 8.5, va="center", weight="bold")
        _text(axes, 104, y, place, 8, va="center")
    note = "Each colour and dash is one matrix. Grey passes a value as it is."
    _text(axes, 16, height - 16, note, 7.5, va="center", color=QUIET)
    return figure


def _style(number: int) -> dict[str, Any]:
    """Return the line of a matrix: a colour, and from the seventh on other dashes."""
    colours = len(COLOURS) - 1
    return {"color": COLOURS[number % colours], "linestyle": DASHES[number // colours % len(DASHES)], "linewidth": 1.5}


def _route(
    axes: "Axes", shown: NetworkDiagram, edge: Edge, places: Sequence[_Point], style: Mapping[str, Any]
) -> _Point:
    """Draw an arrow around the boxes, and return the place of its label."""
    (x, y), (to_x, to_y) = places[edge.start], places[edge.end]
    start, end = shown.boxes[edge.start], shown.boxes[edge.end]
    rise, side = end.row - start.row, -1.0 if to_x < x else 1.0
    if edge.kind == "state":
        out = 14.0 + 7 * (start.row % 4)
        corner = to_x - _HALF - out
        way, begin = [(corner, y)], (x - _HALF, y)
        if start.column:  # over the free row between encoder and decoder
            free = max(set(range(end.row)) - {box.row for box in shown.boxes})
            channel, begin = y - _RISE * (free - start.row) + 8 * (start.row % 4), (x + _HALF, y)
            way = [(x + _HALF + out, y), (x + _HALF + out, channel), (corner, channel)]
        _arrow(axes, edge.kind, begin, *_lines(*way, (corner, to_y), (to_x - _HALF, to_y)), **style)
        return corner, to_y + _RISE / 2
    if edge.kind == "carried":
        shift = -7.0 if rise > 0 else 7.0 if rise else 0.0
        gap = (x + to_x) / 2 + shift
        way = [(gap, y + shift), (gap, to_y - shift)] if rise else []
        end_at = (to_x - side * _HALF, to_y - shift)
        _arrow(axes, edge.kind, (x + side * _HALF, y + shift), *_lines(*way, end_at), **style)
        return (gap - 2 * shift if rise > 0 else gap, to_y - 4 * shift) if rise else (gap, y)
    if x == to_x and rise > 1 and edge.kind == "flow":
        way_number = (start.row + 2 * end.row) % 4
        out, entry = x + _HALF + 5 + 5 * way_number, to_y + 2 + 4 * way_number
        _arrow(axes, edge.kind, (x + _HALF, y - 10), *_lines((out, y - 10), (out, entry), (x + _HALF, entry)), **style)
        return out, to_y + _RISE / 2 if rise < 3 else y - _RISE / 2
    _arrow(axes, edge.kind, (x, y - _TALL), [(to_x, to_y + _TALL)], **style)
    if edge.kind == "attention":
        return x + 0.16 * (to_x - x), y - _TALL + 0.16 * (to_y - y)
    return (x + to_x) / 2 + (12 if x == to_x else 0), (y + to_y) / 2


def _lines(*ends: _Point) -> list[list[_Point]]:
    return [[end] for end in ends]


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
        _text(axes, middle, down, node.label, 9 if len(node.label) < 14 else 7.5, ha="center", va="center", zorder=4)
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


def lesson_figure(rows: Sequence[Sequence[str]], arrows: Sequence[tuple[str, str]]) -> "Figure":
    """Draw the values of a lesson in ``rows`` and columns, with arrows from those that others are computed from.

    The ids of boxes and arrows are "box0", "box1", .. and "arrow0", .. in their order.
    """
    from matplotlib.patches import FancyArrowPatch

    width, height = _LESSON_PITCH * max(map(len, rows)), _LESSON_RISE * len(rows)
    figure, axes = canvas.sheet(width / _PIXELS, height / _PIXELS, (0, width), (height, 0))
    places = {
        key: (_LESSON_PITCH * (x + 0.5), _LESSON_RISE * (y + 0.5))
        for y, row in enumerate(rows)
        for x, key in enumerate(row)
        if key
    }
    boxes = {}
    for number, (key, (x, y)) in enumerate(places.items()):
        boxes[key] = _box(axes, x - 20, y - 15, 40, 30, _FILLS[0], gid=f"box{number}")
        _text(axes, x, y, _mathtext(key), 11, ha="center", va="center", zorder=4, parse_math=True)
    for number, (start, end) in enumerate(arrows):
        (x, y), (to_x, to_y) = places[start], places[end]
        # along a row, an arrow passes below the boxes between
        bend = 0.3 if y == to_y and abs(x - to_x) > _LESSON_PITCH else 0.0
        ends = {"patchA": boxes[start], "patchB": boxes[end], "shrinkA": 0, "shrinkB": 0}
        style = {"arrowstyle": "-|>", "mutation_scale": 7, "linewidth": 0.9, "color": _EDGE, "zorder": 2}
        line = {"connectionstyle": f"arc3,rad={bend}", "gid": f"arrow{number}", **ends, **style}
        axes.add_patch(FancyArrowPatch((x, y), (to_x, to_y), **line))
    return figure


def _mathtext(key: str) -> str:
    """Return a symbol of a lesson as matplotlib typesets it, "a_i[1]" as "$a_{i,1}$"; of words, the last one."""
    name, _, places = key.rstrip("]").partition("[")
    *_, last = places.split(",")
    if last and not last.isdigit():
        return last
    head, _, below = name.partition("_")
    accent = next((one for one in ("hat", "tilde", "bar") if head.endswith(one)), "")
    letter = head.removesuffix(accent)
    if len(letter) > 1:  # a Greek letter, or an abbreviation in capitals
        letter = f"\\mathrm{{{letter}}}" if letter.isupper() else f"\\{letter}"
    marks = ",".join(filter(None, (below, places)))
    return f"${f'{chr(92)}{accent}{{{letter}}}' if accent else letter}_{{{marks}}}$"


def _sheet(width: float, height: float, title: str) -> tuple["Figure", "Axes"]:
    """Return a figure and its axes without a frame, in units of ``_PIXELS`` from the top left, with a title."""
    figure, axes = canvas.sheet(width / _PIXELS, height / _PIXELS, (0, width), (height, 0))
    _text(axes, 20, 28, title, 11, weight="bold")
    return figure, axes


def _text(axes: "Axes", x: float, y: float, text: str, size: float = 9, **style: Any) -> None:
    axes.text(x, y, text, fontsize=size, **style)


def _box(
    axes: "Axes", x: float, y: float, wide: float, high: float, fill: str, rounding: float = 6, gid: str = "box"
) -> Any:
    from matplotlib.patches import FancyBboxPatch

    style = f"round,pad=0,rounding_size={rounding}"
    return axes.add_patch(
        FancyBboxPatch((x, y), wide, high, style, facecolor=fill, edgecolor=_EDGE, linewidth=0.8, gid=gid, zorder=3)
    )


def _arrow(axes: "Axes", kind: str, start: _Point, *steps: Sequence[_Point], **line: Any) -> None:
    """Draw an arrow; a step is the end of a line, or two control points and the end of a curve."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    codes = [Path.MOVETO, *(Path.LINETO if len(step) == 1 else Path.CURVE4 for step in steps for _ in step)]
    path = Path([start, *chain.from_iterable(steps)], codes)
    style = {"linewidth": 0.9, "capstyle": "butt", "color": _EDGE, "zorder": 2, **line}
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
