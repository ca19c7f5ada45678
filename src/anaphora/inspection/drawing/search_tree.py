"""The tree of a beam search: steps from left to right, the score in each node."""

from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from anaphora.inspection.drawing import canvas
from anaphora.inspection.drawing.canvas import COLOURS, FRAME, INK, QUIET
from anaphora.inspection.tree import Node, Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINK, _SCORE = 0.42, 0.34
"""Inches of the lines before a node, and of its score."""
_LONGEST = 13
"""Characters of a token that are shown."""


def tree_figure(shown: Tree) -> "Figure":
    """Kept nodes in black, pruned ones grey and struck out; the result's path thick, greedy search's dotted."""
    places = _places(shown)
    steps = max(node.step for node in shown.nodes)
    rows = max(row for row in places.values()) + 1
    column = _LINK + _SCORE + max(_width(_called(node)) for node in shown.nodes)
    width = column * steps + 0.6
    figure = canvas.figure(width, max(2.0, 0.24 * rows))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set(xlim=(0, width), ylim=(rows + 0.6, -1.9))  # across in inches, down in rows
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
        axes.text(0.6 + column * step, -0.9, f"{mass:.3f}", fontsize=7, color=QUIET, parse_math=False)
    axes.text(0, -0.9, "mass kept", fontsize=7, color=QUIET)
    title = f"{shown.text}    beam {shown.size}: {shown.score:.3f}    greedy: {shown.greedy_score:.3f}"
    axes.text(0, -1.5, title, fontsize=9, fontweight="bold", parse_math=False)
    legend = "thick: result    dotted: greedy    struck out: pruned    square brackets: finished    numbers: ln p"
    axes.text(0, rows + 0.2, legend, fontsize=7, color=QUIET)
    return figure


def _called(node: Node) -> str:
    token = f"[{node.token}]" if node.fate == "finished" else node.token
    return token if len(token) <= _LONGEST else f"{token[: _LONGEST - 1]}\u2026"


def _width(token: str) -> float:
    """About as many inches as a token takes."""
    return sum(0.13 if east_asian_width(letter) in "WF" else 0.07 for letter in token)


def _node(axes: "Axes", node: Node, x: float, y: float, end: float) -> None:
    token = _called(node)
    colour = QUIET if node.fate == "pruned" else INK
    weight = "bold" if node.best else "normal"
    axes.text(x, y, token, fontsize=8, color=colour, fontweight=weight, va="center", parse_math=False)
    axes.text(end, y, f"{node.score:.2f}", fontsize=6, color=QUIET, va="center", ha="right")
    if node.fate == "pruned":
        axes.plot([x, x + _width(token)], [y, y], color=QUIET, linewidth=0.6)


def _places(shown: Tree) -> dict[int, float]:
    """The row of each node: leaves one below the other, a parent beside the first of its children."""
    children: dict[int | None, list[Node]] = {}
    for node in shown.nodes:
        children.setdefault(node.parent, []).append(node)
    places: dict[int, float] = {}
    free = 0.0

    def place(node: Node) -> None:
        nonlocal free
        own = sorted(children.get(node.number, []), key=lambda child: (not child.best, -child.score))
        places[node.number] = free
        if not own:
            free += 1
        for child in own:
            place(child)

    for root in sorted(children.get(None, []), key=lambda child: (not child.best, -child.score)):
        place(root)
    return places
