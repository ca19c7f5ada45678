"""Boxes and arrows: the steps of a network, the inside of a unit, and the values of a lesson."""

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise, product
from textwrap import wrap
from typing import Any

from anaphora.inspection.cell_diagram import CellDiagram
from anaphora.inspection.cell_diagram import Node as CellNode
from anaphora.inspection.drawing import canvas
from anaphora.inspection.drawing.canvas import COLOURS, DASHES, QUIET, Axes, Figure
from anaphora.inspection.explain import formula
from anaphora.inspection.labels import BACKWARD, FORWARD, UNITS, ellipsize
from anaphora.inspection.network_diagram import Edge, NetworkDiagram

_BLUE, _ORANGE, _GREEN, _ROSE, _GREY = "#cfe3f5", "#fde0c5", "#cdeee0", "#f3dbe8", "#e3e3e3"
_FILLS = {"unit": _BLUE, "attention": _ORANGE, "sentence": _GREEN, "readout": _ROSE, "embedding": _GREY}
_FILLS |= {"loss": "#fff2bf", "output": "#dcd6f2", "lesson": _BLUE}
_FILLS |= {"given": _BLUE, "matrix": _ORANGE, "function": _GREEN, "point-wise": _ROSE, "result": _GREY}
"""Colours of boxes by kind."""
_PIXELS = 90.0
"""Units of a diagram in an inch."""
_EDGE = "#4b515c"
_Point = tuple[float, float]
_LINES = [*COLOURS[:6], "#332288", "#882255", "#117733", "#999933", "#661100", "#000000", "#aa4499", "#44aa99"]
_LINES += ["#cc6677", "#b59f2a", "#4a6fe3", "#8a5a2b", "#6b3fa0", "#5f7f1f", "#c2185b", "#00695c"]
"""Colours of matrices: those of all pictures, then of the muted scheme of Tol (2021), then others."""
_HALO = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
_PITCH, _RISE, _HALF, _TALL, _MARGIN = 132, 62, 32, 17, 50
"""Distance of steps and of rows, half the sides of a box, and the left margin."""

_CELL_GAP, _CELL_DOWN, _CELL_LEFT, _CELL_TOP, _CELL_HIGH = 40, 60, 20, 76, 36

_LESSON_PITCH, _LESSON_RISE = 56, 58

_ARROWS = {"left": re.compile(f"(\\w){BACKWARD}(\\w*)"), "right": re.compile(f"(\\w){FORWARD}(\\w*)")}
"""Letters with an arrow above them, and their indices."""


def network_figure(shown: NetworkDiagram) -> Figure:
    """Draw a network over a sentence from the bottom up; an arrow has the colour and the dashes of its matrix."""
    from matplotlib.path import Path

    rows = 1 + max(box.row for box in shown.boxes)
    width = float(_MARGIN + _PITCH * (1 + max(box.column for box in shown.boxes)) + 20)
    title = wrap(f"{shown.name}: {shown.finding}", int(width / 9.6))
    top = 40 + 20 * len(title)
    foot = float(top + _RISE * rows + 20)
    across = max(1, int((width - 16) / (100 + 5.2 * max(map(len, shown.matrices.values()), default=0))))
    down = -(-len(shown.matrices) // across)
    height = foot + 18 * down + 30
    figure, axes = canvas.sheet(width / _PIXELS, height / _PIXELS, (0, width), (height, 0))
    _text(axes, 12, 24, "\n".join(title), 10, weight="bold", ha="left", va="top")
    places = [(_MARGIN + _PITCH * (box.column + 0.5), top + _RISE * (rows - box.row - 0.5)) for box in shown.boxes]
    styles = {symbol: _style(number) for number, symbol in enumerate(shown.matrices)}
    ways = _ways(shown, places)
    for edge, way in zip(shown.edges, ways, strict=True):
        style = styles[edge.matrices[0]] if edge.matrices else {"color": QUIET}
        pale = edge.kind == "attention" and not edge.label
        _arrow(axes, edge.kind, path=Path(way), alpha=0.25 if pale else 1.0, **style)
    for box, (x, y) in zip(shown.boxes, places, strict=True):
        if box.kind == "word":
            _text(axes, x, y, box.label, 10, bbox=_HALO)
            continue
        _box(axes, x, y, 2 * _HALF, 2 * _TALL, box.kind)
        _text(axes, x, y - 5 if box.note else y, box.label, 10)
        _text(axes, x, y + 9, ellipsize(box.note, 14), 6.5)
    for symbols, (x, y) in _label_places(shown, places, ways).items():
        colour = styles[symbols]["color"] if symbols in styles else QUIET
        _text(axes, x, y, symbols, 8, color=colour, weight="bold", bbox=_HALO, zorder=2.5)
    for column, label in shown.cuts:
        x = _MARGIN + _PITCH * (column + 0.5)
        highest = min(y for box, (_, y) in zip(shown.boxes, places, strict=True) if box.kind == "unit")
        axes.plot([x, x], [highest - _TALL - 12, foot - 24], color=COLOURS[1], linewidth=2, linestyle=":", gid="cut")
        _text(axes, x, foot - 12, label, 8, va="baseline", color=COLOURS[1])
    for number, (symbol, place) in enumerate(shown.matrices.items()):
        x, y = 16 + (width - 16) / across * (number // down), foot + 14 + 18 * (number % down)
        axes.plot([x, x + 36], [y, y], gid="matrix", **styles[symbol])
        _text(axes, x + 43, y, symbol, 8.5, ha="left", weight="bold")
        _text(axes, x + 75, y, place, 7.5, ha="left")
    note = "Each colour with its dashes is one matrix. Grey passes a value as it is."
    _text(axes, 16, height - 16, note, 7.5, ha="left", color=QUIET)
    return figure


def _style(number: int) -> dict[str, Any]:
    """Return the line of a matrix: a colour, with other dashes from the seventh on."""
    dashes = DASHES[number // 6 % len(DASHES)]
    return {"color": _LINES[number % len(_LINES)], "linestyle": dashes, "linewidth": 1.5}


def _ways(shown: NetworkDiagram, places: Sequence[_Point]) -> list[list[_Point]]:
    """Return the ends of the lines of each arrow, which go around boxes; those between other rows have other lanes."""
    lanes = defaultdict[tuple[str, bool], set[tuple[int, int]]](set)
    ends = [(edge.kind, shown.boxes[edge.start], shown.boxes[edge.end]) for edge in shown.edges]
    for kind, start, end in ends:
        lanes[kind, start.kind == "attention"].add((start.row, end.row))
    rows = [sorted(lanes[kind, start.kind == "attention"]) for kind, start, _ in ends]
    return [_way(shown, edge, places, own) for edge, own in zip(shown.edges, rows, strict=True)]


def _way(shown: NetworkDiagram, edge: Edge, places: Sequence[_Point], rows: Sequence[tuple[int, int]]) -> list[_Point]:
    (x, y), (to_x, to_y) = places[edge.start], places[edge.end]
    start, end = shown.boxes[edge.start], shown.boxes[edge.end]
    rise, side = end.row - start.row, -1.0 if to_x < x else 1.0
    if edge.kind == "context" or (edge.kind == "state" and start.label == "c"):  # over the words, and up at the left
        lane = 8.0 * rows.index((start.row, end.row)) if edge.kind == "context" else 20.0
        corner, channel = to_x - _HALF - 10 - lane, y - _TALL - 6 - lane / 2
        enters = to_y + 8 if edge.kind == "context" else to_y
        return [(x, y - _TALL), (x, channel), (corner, channel), (corner, enters), (to_x - _HALF, enters)]
    if edge.kind == "state" and to_x < x + _PITCH:
        out = 14.0 + 7 * (start.row % 4)
        corner = to_x - _HALF - out
        way = [(x - _HALF, y), (corner, y)]
        if start.column:  # over the free row between encoder and decoder
            free = max(set(range(end.row)) - {box.row for box in shown.boxes})
            channel = y - _RISE * (free - start.row) + 8 * (start.row % 4)
            way = [(x + _HALF, y), (x + _HALF + out, y), (x + _HALF + out, channel), (corner, channel)]
        return [*way, (corner, to_y), (to_x - _HALF, to_y)]
    if edge.kind in ("carried", "state"):
        turning = [(low, high) for low, high in rows if low != high]
        shift = -7.0 if rise > 0 else 7.0 if rise else 0.0
        gap = (x + to_x) / 2 + (8 * turning.index((start.row, end.row)) - 4 * (len(turning) - 1) if rise else 0)
        way = [(gap, y + shift), (gap, to_y - shift)] if rise else []
        return [(x + side * _HALF, y + shift), *way, (to_x - side * _HALF, to_y - shift)]
    # around boxes: a context at the left, all else at the right
    if x == to_x and rise not in (0, 1) and edge.kind == "flow":
        side = -1.0 if start.kind == "attention" else 1.0
        past = [(low, high) for low, high in rows if high - low not in (0, 1)]
        lane = past.index((start.row, end.row))
        out, enters = x + side * (_HALF + 6 + lane * min(6.0, 22 / len(past))), to_y + 12 - 4 * (lane % 6)
        leaves = y - 11 + 5 * (lane % 4)
        return [(x + side * _HALF, leaves), (out, leaves), (out, enters), (x + side * _HALF, enters)]
    return [(x, y - _TALL), (to_x, to_y + _TALL)]


def _label_places(
    shown: NetworkDiagram, places: Sequence[_Point], ways: Sequence[Sequence[_Point]]
) -> dict[str, _Point]:
    """Return where each symbol stands, once: on one of its arrows, away from boxes, labels and other arrows."""
    from matplotlib.path import Path
    from matplotlib.transforms import Bbox

    taken = list[Bbox]()
    for box, (x, y) in zip(shown.boxes, places, strict=True):
        half = 4.0 * len(box.label) + 2 if box.kind == "word" else _HALF
        taken.append(Bbox.from_extents(x - half, y - _TALL, x + half, y + _TALL))
    lines = [Path(way) for way in ways]
    found: dict[str, _Point] = {}
    of_edges = [(edge.label, *edge.matrices) for edge in shown.edges]
    for symbol in dict.fromkeys(one for own in of_edges for one in own if one):
        half, tried = 4.0 * len(symbol.replace("_", "")) + 2, list[tuple[float, _Point, Bbox]]()
        for number, way in ((number, ways[number]) for number, own in enumerate(of_edges) if symbol in own):
            for ((x, y), (to_x, to_y)), part in product(pairwise(way), (0.5, 0.3, 0.7, 0.2, 0.8)):
                # beside a short arrow upwards, which it would hide
                beside = half + 3 if x == to_x and abs(to_y - y) < 2 * _TALL else 0.0
                place = x + part * (to_x - x) + beside, y + part * (to_y - y)
                around = Bbox.from_extents(place[0] - half, place[1] - 8, place[0] + half, place[1] + 8)
                crossed = sum(one.intersects_bbox(around, filled=False) for one in lines[:number] + lines[number + 1 :])
                tried.append((9.0 * around.count_overlaps(taken) + crossed, place, around))
        _, found[symbol], around = min(tried, key=lambda one: one[0])
        taken.append(around)
    return found


_Place = tuple[int, int]
"""Node of a unit, and a column that it stands in or that its value passes."""


def cell_figure(shown: CellDiagram) -> Figure:
    """Draw one step of a unit, from left to right."""
    nodes, columns = shown.nodes, _columns(shown)
    at = {number: x for x, column in enumerate(columns) for number in column}
    ends = {one: max((at[n] for n, node in enumerate(nodes) if one in node.reads), default=at[one]) for one in at}
    spans = [max(_width_of(nodes[number]) for number in column) for column in columns]
    places: dict[_Place, _Point] = {}

    def level(place: _Place) -> tuple[float, str]:
        """Return how high a place should stand: as what it continues or reads."""
        number, x = place
        before = [number] if at[number] < x else nodes[number].reads
        heights = [places[one, x - 1][1] for one in before]
        return sum(heights) / len(heights) if heights else 0.0, nodes[number].label

    rows = 0
    for x, column in enumerate(columns):
        # a value that is read further on takes a row of each column that it passes, so that no arrow is hidden
        passing = [number for number in at if at[number] < x < ends[number]]
        ordered = sorted([(number, x) for number in (*column, *passing)], key=level)
        rows = max(rows, len(ordered))
        across = _CELL_LEFT + sum(spans[:x]) + _CELL_GAP * x + spans[x] / 2
        places |= {place: (across, _CELL_TOP + _CELL_DOWN * row) for row, place in enumerate(ordered)}
    width = max(sum(spans) + _CELL_GAP * (len(columns) - 1) + 2 * _CELL_LEFT, 560.0)
    height = _CELL_TOP + _CELL_DOWN * rows - (0 if shown.letters else 20)
    figure, axes = canvas.sheet(width / _PIXELS, height / _PIXELS, (0, width), (height, 0))
    _text(axes, 20, height - 14, shown.letters, 9, ha="left", va="baseline", color=QUIET)
    title = f"one step of {UNITS.get(shown.name, shown.name)}" + (f": {shown.finding}" if shown.finding else "")
    _text(axes, 20, 28, title, 11, weight="bold", ha="left", va="baseline")
    for number, node in enumerate(nodes):
        for one in node.reads:
            way = [(*places[one, x], spans[x] / 2) for x in range(at[one], at[number])]
            way.append((*places[number, at[number]], spans[at[number]] / 2))
            _draw_way(axes, way, _width_of(nodes[one]) / 2, _width_of(node) / 2)
        place, rounding = places[number, at[number]], _CELL_HIGH / 2 if node.kind == "point-wise" else 6
        _box(axes, *place, _width_of(node), _CELL_HIGH, node.kind, rounding)
        _text(axes, *place, node.label)
    return figure


def _columns(shown: CellDiagram) -> list[list[int]]:
    """Return the nodes by the longest way to them; results stand at the right."""
    depths: list[int] = []
    for node in shown.nodes:
        depths.append(max((depths[one] + 1 for one in node.reads), default=0))
    last, columns = max(depths), defaultdict[int, list[int]](list)
    for number, (node, depth) in enumerate(zip(shown.nodes, depths, strict=True)):
        columns[last if node.kind == "result" else depth].append(number)
    return [columns[x] for x in range(last + 1)]


def _width_of(node: CellNode) -> float:
    """Return the width of a box, which has room for its label; that of an operation is a circle."""
    longest = max(map(len, node.label.replace("_", "").split("\n")))
    return _CELL_HIGH if node.kind == "point-wise" else max(56.0, 6.3 * longest + 16)


def _draw_way(axes: Axes, way: Sequence[tuple[float, float, float]], leaves: float, enters: float) -> None:
    """Draw an arrow between boxes, with half of their widths, through columns, each a place and half of its width."""
    from matplotlib.path import Path

    (x, y, half), *passed = way
    points, codes = [(x + leaves, y), (x + half, y)], [Path.MOVETO, Path.LINETO]
    for to_x, to_y, to_half in passed:
        bend = max(10.0, (to_x - to_half - x - half) / 2)
        points += [(x + half + bend, y), (to_x - to_half - bend, to_y), (to_x - to_half, to_y), (to_x + to_half, to_y)]
        codes += [*[Path.CURVE4] * 3, Path.LINETO]
        x, y, half = to_x, to_y, to_half
    points[-1] = (x - enters, y)
    shown = len(points) - (half <= enters)
    _arrow(axes, "flow", path=Path(points[:shown], codes[:shown]))


def lesson_figure(rows: Sequence[Sequence[str]], arrows: Sequence[tuple[str, str]]) -> Figure:
    """Draw the values of a lesson in ``rows`` and columns, with arrows from those that others are computed from.

    The ids of boxes and arrows are "box0", "box1", .. and "arrow0", .. in their order.
    """
    width, height = _LESSON_PITCH * max(map(len, rows)), _LESSON_RISE * len(rows)
    figure, axes = canvas.sheet(width / _PIXELS, height / _PIXELS, (0, width), (height, 0))
    boxes, places = dict[str, Any](), dict[str, _Point]()
    for across, down, key in ((x, y, key) for y, row in enumerate(rows) for x, key in enumerate(row) if key):
        x, y = places[key] = _LESSON_PITCH * (across + 0.5), _LESSON_RISE * (down + 0.5)
        boxes[key] = _box(axes, x, y, 40, 30, "lesson", gid=f"box{len(boxes)}")
        label = _mathtext(key)
        size = 11 if len(label) < 6 or label.startswith("$") else 8
        axes.text(x, y, label, fontsize=size, ha="center", va="center", zorder=4, parse_math=True)
    for number, (start, end) in enumerate(arrows):
        (x, y), (to_x, to_y) = places[start], places[end]
        # along a row, an arrow passes below the boxes between
        bend = 0.3 if y == to_y and abs(x - to_x) > _LESSON_PITCH else 0.0
        ends: dict[str, Any] = {"posA": (x, y), "posB": (to_x, to_y), "patchA": boxes[start], "patchB": boxes[end]}
        _arrow(axes, f"arrow{number}", connectionstyle=f"arc3,rad={bend}", shrinkA=0, shrinkB=0, **ends)
    return figure


def _mathtext(key: str) -> str:
    """Return a symbol of a lesson as matplotlib typesets it, "a_i[1]" as "$a_{i,1}$"; of words, the last one."""
    name, _, places = key.rstrip("]").partition("[")
    *_, last = places.split(",")
    if last and not last.isdigit():
        return last
    head, _, below = name.partition("_")
    accent = next((one for one in ("hat", "tilde", "bar") if head.endswith(one)), "")
    letter = formula.plain(formula.symbol(head.removesuffix(accent)))
    letter = letter if len(letter) == 1 else f"\\mathrm{{{letter}}}"
    base = f"\\{accent}{{{letter}}}" if accent else letter
    return f"${base}_{{{','.join(filter(None, (below, places)))}}}$"


def _text(axes: Axes, x: float, y: float, text: str, size: float = 9, **style: Any) -> None:
    """Draw a text, with what follows a symbol's underscore as an index, and arrows over letters: "W_f x"."""
    over = text
    for name, arrow in _ARROWS.items():
        over = arrow.sub(rf"$\\over{name}arrow{{\1}}$\2", over)
    over = re.sub(r"(\w\S{0,9}?)_(\w)\b", r"$\1_\2$", over)
    style = {"ha": "center", "va": "center", "zorder": 4, **style}
    axes.text(x, y, over, fontsize=size, parse_math=over != text, **style)


def _box(
    axes: Axes, x: float, y: float, wide: float, high: float, kind: str, rounding: float = 6, gid: str = "box"
) -> Any:
    """Draw a box around its middle."""
    from matplotlib.patches import FancyBboxPatch

    form, corner = f"round,pad=0,rounding_size={rounding}", (x - wide / 2, y - high / 2)
    style: dict[str, Any] = {"facecolor": _FILLS[kind], "edgecolor": _EDGE, "linewidth": 0.8, "zorder": 3}
    return axes.add_patch(FancyBboxPatch(corner, wide, high, form, gid=gid, **style))


def _arrow(axes: Axes, gid: str, **line: Any) -> None:
    """Draw an arrow along a ``path`` or between two boxes."""
    from matplotlib.patches import FancyArrowPatch

    style = {"linewidth": 0.9, "capstyle": "butt", "color": _EDGE, "zorder": 2, **line}
    axes.add_patch(FancyArrowPatch(arrowstyle="-|>", mutation_scale=7, gid=gid, **style))
