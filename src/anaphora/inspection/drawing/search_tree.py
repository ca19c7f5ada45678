"""The tree of a beam search: steps from left to right, the score in each node."""

from typing import TYPE_CHECKING, Any

from anaphora.inspection.drawing import canvas
from anaphora.inspection.drawing.canvas import COLOURS, FRAME, INK, QUIET
from anaphora.inspection.tree import Node, Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def tree_figure(shown: Tree) -> "Figure":
    """Kept nodes in black, pruned ones grey and dashed; the result's path thick, greedy search's dotted."""
    places = _places(shown)
    steps = max(node.step for node in shown.nodes)
    rows = max(row for row in places.values()) + 1
    figure = canvas.figure(1.25 * (steps + 1), max(2.0, 0.24 * rows))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set(xlim=(0.2, steps + 1.1), ylim=(rows + 0.6, -1.9))
    for node in shown.nodes:
        x, y = node.step, places[node.number]
        if node.parent is not None:
            from_y = places[node.parent]
            style: dict[str, Any] = {"color": FRAME if node.fate == "pruned" else QUIET, "linewidth": 0.7}
            if node.best:
                style = {"color": COLOURS[0], "linewidth": 2.2}
            axes.plot([x - 0.42, x - 0.08], [from_y, y], zorder=1, **style)
            if node.greedy:
                axes.plot(
                    [x - 0.42, x - 0.08], [from_y + 0.16, y + 0.16], color=COLOURS[1], linestyle=":", linewidth=1.6
                )
        _node(axes, node, x, y)
    for step, mass in enumerate(shown.mass, 1):
        axes.text(step, -0.9, f"{mass:.3f}", fontsize=7, color=QUIET, parse_math=False)
    axes.text(0.25, -0.9, "mass kept", fontsize=7, color=QUIET)
    title = f"{shown.text}    beam {shown.size}: {shown.score:.3f}    greedy: {shown.greedy_score:.3f}"
    axes.text(0.25, -1.5, title, fontsize=9, fontweight="bold", parse_math=False)
    axes.text(
        0.25,
        rows + 0.2,
        "thick: result    dotted: greedy    struck out: pruned    square brackets: finished",
        fontsize=7,
        color=QUIET,
    )
    return figure


def _node(axes: "Axes", node: Node, x: float, y: float) -> None:
    token = f"[{node.token}]" if node.fate == "finished" else node.token
    token = token if len(token) <= 13 else f"{token[:12]}\u2026"
    colour = QUIET if node.fate == "pruned" else INK
    weight = "bold" if node.best else "normal"
    axes.text(x - 0.06, y, token, fontsize=8, color=colour, fontweight=weight, va="center", parse_math=False)
    axes.text(x + 0.56, y, f"{node.score:.2f}", fontsize=6, color=QUIET, va="center", ha="right")
    if node.fate == "pruned":
        axes.plot([x - 0.06, x - 0.06 + 0.058 * len(token)], [y, y], color=QUIET, linewidth=0.6)


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
