"""The tree of a beam search."""

from textwrap import wrap
from typing import Any
from unicodedata import east_asian_width

from anaphora.inspection.drawing import canvas
from anaphora.inspection.drawing.canvas import COLOURS, FRAME, INK, QUIET, Axes, Figure
from anaphora.inspection.labels import ellipsize
from anaphora.inspection.tree import Node, Tree

_Point = tuple[float, float]
_STEPS, _ACROSS, _ROW = 12, 12.4, 0.39
"""Steps of a tree side by side, the inches that they have, and those of a row: slides are 13.3 inches wide."""
_LONGEST = 9
"""Characters of a token that are shown."""


def tree_figure(shown: Tree) -> Figure:
    """Draw hypotheses from left to right, the result straight in the first row; more than ``_STEPS`` go on below."""
    rows, steps = _rows(shown), max(node.step for node in shown.nodes)
    across = -(-steps // -(-steps // _STEPS))
    column, down = min(1.6, _ACROSS / across), max(rows.values()) + 3.0
    width = 0.9 + column * max(across, 6)
    title = [line for text in (shown.text, shown.finding) for line in wrap(text, int(9.5 * width))]
    top = 0.3 + 0.22 * len(title)
    height = top + _ROW * down * -(-steps // across) + 0.3
    figure, axes = canvas.sheet(width, height, (0, width), (height, 0))
    axes.text(0.1, 0.1, "\n".join(title), fontsize=11, weight="bold", va="top")

    def at(step: int, row: float) -> _Point:
        """Return a place: a row of the beam, -1 for the number of the step, beyond the last row for what is pruned."""
        band, number = divmod(step - 1, across)
        return 0.9 + column * number, top + _ROW * (down * band + row + 1.1)

    quiet: Any = {"fontsize": 7, "color": QUIET}
    last, parents = max(rows.values()) + 0.9, {shown.nodes[number].parent for number in rows}
    for number, row in rows.items():
        node = shown.nodes[number]
        x, y = at(node.step, row)
        _node(axes, node, (x, y), stops=number not in parents)
        if node.parent in rows:
            begins = x - column + _width(_label_of(shown.nodes[node.parent])) + 0.05
            _, from_y = at(node.step, rows[node.parent])  # in the band of the node, also where the parent ends one
            across_x, across_y = [min(begins, x - 0.3), x - 0.22, x - 0.04], [from_y, from_y, y]
            colour, linewidth, gid = (COLOURS[0], 2.6, "best") if node.best else (FRAME, 0.9, "other")
            axes.plot(across_x, across_y, zorder=1.0 + node.best, gid=gid, color=colour, linewidth=linewidth)
            if node.greedy:
                below = [one + 0.06 for one in across_y]
                axes.plot(across_x, below, color=COLOURS[1], linestyle=":", linewidth=1.8, gid="greedy")
    for step in range(1, steps + 1):
        pruned = [node for node in shown.nodes if node.step == step and node.number not in rows]
        axes.text(*at(step, -0.9), str(step), fontsize=8, color=QUIET)
        for one in sorted(pruned, key=lambda node: -node.score)[:1]:
            x, y = at(step, last)
            axes.text(x, y, _label_of(one), va="center", **quiet)
            axes.plot([x, x + 0.7 * _width(_label_of(one))], [y, y], color=QUIET, linewidth=0.6)
            axes.text(x, y + 0.13, f"{one.score:.2f}", va="center", **quiet)
        if step <= len(shown.mass):
            axes.text(*at(step, -0.6), f"{shown.mass[step - 1]:.3f}", **quiet)
        if step % across == 1 or across == 1:
            for name, place in (("step", -0.9), ("mass kept", -0.6), ("best pruned", last)):
                axes.text(0.1, at(step, place)[1], name, va="center" if place == last else "baseline", **quiet)
    legend = (
        *("thick: result", "dotted: greedy search", "\u00d7: nothing that continues it stays in the beam"),
        *("[ ]: finished", "numbers: ln p up to a token", "mass kept: probability of the whole beam"),
    )
    axes.text(0.1, height - 0.12, "    ".join(legend), **quiet)
    return figure


def _label_of(node: Node) -> str:
    token = f"[{node.token}]" if node.fate == "finished" else node.token
    return ellipsize(token, _LONGEST)


def _width(token: str) -> float:
    """Return about as many inches as a token takes."""
    return sum(0.17 if east_asian_width(letter) in "WF" else 0.095 for letter in token)


def _node(axes: Axes, node: Node, place: _Point, stops: bool) -> None:
    """Draw a token and its score; a cross behind one that ``stops`` before its output is finished."""
    (x, y), token = place, _label_of(node)
    weight = "bold" if node.best else "normal"
    axes.text(x, y, token, fontsize=10, color=INK if node.fate != "pruned" else QUIET, weight=weight, va="center")
    axes.text(x, y + 0.16, f"{node.score:.2f}", fontsize=8, color=INK if node.best else QUIET, va="center")
    if stops and node.fate != "finished":
        axes.text(x + _width(token) + 0.04, y, "\u00d7", fontsize=9, color=QUIET, va="center")


def _rows(shown: Tree) -> dict[int, int]:
    """Return the rows of kept nodes, and of greedy search below them where it is pruned.

    The result has the first row. A node continues the row of its parent, or goes into the nearest one that is free.
    """
    rows: dict[int, int] = {}
    for step in range(1, 1 + max(node.step for node in shown.nodes)):
        own = [node for node in shown.nodes if node.step == step and node.fate != "pruned"]
        free = list(range(shown.size))
        for node in sorted(own, key=lambda node: (not node.best, rows.get(node.parent or 0) == 0, -node.score)):
            wanted = 0 if node.best else rows.get(-1 if node.parent is None else node.parent, 0)
            rows[node.number] = min(free, key=lambda row: (row == 0 and not node.best, abs(row - wanted)))
            free.remove(rows[node.number])
        alone = [node for node in shown.nodes if node.step == step and node.greedy and node not in own]
        rows |= {node.number: shown.size for node in alone}
    return rows
