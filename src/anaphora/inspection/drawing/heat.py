"""Heat maps: attention over a text or an image, gates, and gradients by step.

Attention over a grid has a panel for each word, as in Xu et al. (2015).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from anaphora.errors import ShapeError
from anaphora.inspection.attention import Alignment
from anaphora.inspection.attribution import Attribution
from anaphora.inspection.drawing import canvas
from anaphora.inspection.drawing.canvas import FRAME, INK, LINE, QUIET, Axes, AxesImage, Colormap, Figure
from anaphora.inspection.gates import Gates, UnitGates
from anaphora.inspection.gradients import ItemisedGradients
from anaphora.inspection.labels import labels, layer_label
from anaphora.wording import inflect

_CELL = 0.36
"""Inches of a cell while the picture is small; beyond ``_LARGEST`` inches of cells they shrink."""
_LARGEST = 22.0
_POINTS = 10.5
"""Size of a label beside a cell of full size."""
_WIDEST = 13.0
"""Inches of gates beside each other; more go below."""
_ACROSS = 8
"""Panels of a grid in a row, at most."""
_FAINT = 0.3
"""Brightness of an image where nothing is attended to."""


def draw_attention(
    path: str | Path,
    source_pieces: Sequence[str],
    target_pieces: Sequence[str],
    weights: npt.ArrayLike,
    title: str = "",
) -> Path:
    """Draw attention weights as a heat map, source pieces across and target pieces down, and return the file.

    Args:
        path: where to write; the suffix chooses .png, .svg or .pdf, and missing folders are made.
        source_pieces: S labels; U+2581 marks the pieces that begin a word.
        target_pieces: T labels.
        weights: [T, S], an array, a list of lists or a tensor; most rows sum to 1. What is no number is shaded apart.
        title: a line above the picture.

    Raises ShapeError when labels and weights do not fit together or nothing is left to draw, ConfigError for another
    suffix, and MissingExtraError without matplotlib.
    """
    panel = _panel(source_pieces, target_pieces, weights, title)
    canvas.draw([Path(path)], lambda: _figure([panel], *_ATTENTION))
    return Path(path)


def alignment_figure(alignments: Sequence[Alignment]) -> Figure:
    """Draw the attention of one model, or of several side by side, with windows and their centres."""
    titles = [one.run if len(alignments) > 1 else "" for one in alignments]
    pairs = zip(alignments, titles, strict=True)
    panels = [_panel(one.source_pieces, one.target_pieces, one.weights, title) for one, title in pairs]
    figure = _figure(panels, *_ATTENTION)
    for axes, one in zip(figure.axes, alignments, strict=False):
        for step, centre in enumerate(one.centres):
            low, high = centre - one.radius - 1.5, centre + one.radius - 0.5
            ends = max(low, -0.5), min(high, len(one.source_pieces) - 0.5)
            axes.plot(ends, [step + 0.42] * 2, color=canvas.COLOURS[1], linewidth=1.2)
            axes.plot([centre - 1], [step], marker="D", markersize=4, color=canvas.COLOURS[1], markeredgecolor="white")
    return figure


def attribution_figure(shown: Attribution) -> Figure:
    """Draw the attribution of each output token (down) to each input (across), on a scale with two sides."""
    panel = labels(shown.inputs), labels(shown.outputs), np.array(shown.values), ""
    names = "gradient x input (nats)", "token read: source, then output", "token of the output"
    return _figure([panel], *names, two_sided=True)


def itemised_figure(items: Sequence[ItemisedGradients]) -> Figure:
    """Draw for each layer what the loss of each step (down) sends to each step of the input (across)."""
    panels = []
    for one in items:
        steps = labels(one.steps)
        rows = [*(f"{number} {name}" for number, name in enumerate(steps, 1)), "last state"]
        values = np.array(one.norms)
        panels.append((steps, rows, values / max(float(values.max()), 1e-30), layer_label(one.layer)))
    return _figure(panels, "fraction of the largest", "step that the layer reads", "loss at step")


def gates_figure(shown: Gates) -> Figure:
    """Draw every gate of every unit over the steps (across) and cells (down), with two scales for all."""
    longest = max(len(unit.steps) for unit in shown.units)
    width = max(2.0, 0.5 + min(0.2 * longest, max(4.0, 0.1 * longest)))
    columns = min(max(len(unit.values) for unit in shown.units), max(1, int(_WIDEST / width)))
    cells = [
        (unit, name) for unit in shown.units for name in (*unit.values, *[""] * (-len(unit.values) % columns))
    ]  # each unit begins a row
    figure, panels = canvas.panels(len(cells), width, 2.9, columns)
    images: dict[bool, AxesImage] = {}
    for place, (axes, (unit, name)) in enumerate(zip(panels, cells, strict=True)):
        axes.set_visible(bool(name))
        if name:
            images.setdefault(_is_signed(unit, name), _gate(axes, unit, name))
        if not place % columns:
            axes.set_ylabel(f"cell of {layer_label(unit.unit)}", fontsize=8)
    for signed, image in images.items():
        low, high = image.get_clim()
        bar = figure.colorbar(image, ax=panels, fraction=0.015, pad=0.01, aspect=25)
        bar.ax.set_title("states" if signed else "gates", fontsize=8)
        bar.set_ticks(
            [low, (low + high) / 2, high], labels=["below 0", "0", "above 0"] if signed else ["0 closed", "", "1 open"]
        )
        bar.ax.tick_params(labelsize=7, length=0)
    return figure


def _is_signed(unit: UnitGates, name: str) -> bool:
    """True of values between -1 and 1, or without bounds."""
    return name in (*unit.state, unit.candidate)


def _gate(axes: Axes, unit: UnitGates, name: str) -> AxesImage:
    values = np.array(unit.values[name]).T
    limit = max(1.0, float(np.abs(values).max()))
    signed = _is_signed(unit, name)
    least = -limit if signed else 0
    image = _shade(axes, values, canvas.shades(signed), least, limit)
    axes.set_xticks(range(len(unit.steps)), labels(unit.steps), rotation=90, fontsize=7)
    axes.set_yticks([0, len(values) - 1], ["1", str(len(values))], fontsize=7)
    axes.tick_params(length=0)
    axes.set_xlabel("token read at each step", fontsize=7)
    axes.set_title(f"{unit.names[name]}, {least:.2g} to {limit:.2g}", fontsize=9)
    return image


_Panel = tuple[list[str], list[str], npt.NDArray[np.float64], str]
"""Labels across and down, values, and a title."""
_ATTENTION = "attention", "token of the source", "token of the output"


def _panel(source: Sequence[str], target: Sequence[str], weights: npt.ArrayLike, title: str) -> _Panel:
    """Return a panel of attention; ShapeError where weights do not fit the pieces."""
    sources, targets = len(source), len(target)
    if hasattr(weights, "detach"):  # a tensor, wherever it lives and whatever its precision
        weights = weights.detach().cpu().double().numpy()
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError(
            f"Attention weights should be numbers [T, S] with rows of one length, not {weights!r}."
        ) from None
    if values.shape != (targets, sources):
        raise ShapeError(
            f"{targets} target and {sources} source pieces need weights [T, S] = [{targets}, {sources}], but they are "
            f"{list(values.shape)}: give one row for every target piece and one column for every source piece."
        )
    if values.size == 0:
        raise ShapeError(
            f"An alignment needs a piece on either side, but there are {targets} target and {sources} source pieces."
        )
    return labels(source), labels(target), values, title


def _figure(panels: Sequence[_Panel], what: str, columns: str, rows: str, two_sided: bool = False) -> Figure:
    """Draw panels of ``columns`` and ``rows`` side by side, with one scale for ``what``."""
    cell = min(_CELL, _LARGEST / max(max(len(across), len(down)) for across, down, _, _ in panels))
    height, width, lefts = cell * max(len(down) for _, down, _, _ in panels), 0.0, list[float]()
    for across, down, _, title in panels:
        lefts.append(width + 0.1 * max(map(len, down)) + 0.9)
        width = lefts[-1] + max(cell * len(across), 0.09 * max(len(title), len(columns)))
    figure = canvas.figure(width, height)
    for left, (across, down, values, title) in zip(lefts, panels, strict=True):
        tall = cell * len(down) / height
        axes = figure.add_axes((left / width, 1 - tall, cell * len(across) / width, tall))
        image = _cells(axes, values, two_sided)
        _label(axes, across, down, points=_POINTS * cell / _CELL)
        axes.xaxis.set_label_position("top")
        axes.set_xlabel(f"{title}\n{columns}".strip(), loc="left", labelpad=10, fontsize=_POINTS - 1)
        axes.set_ylabel(rows, loc="top", labelpad=8, fontsize=_POINTS - 1)
    tall = min(1.2, height)
    bar = figure.colorbar(image, cax=figure.add_axes((1 + 0.2 / width, 0.0, 0.09 / width, tall / height)))
    low, high = image.get_clim()
    bar.set_ticks([low, (low + high) / 2, high] if height > _CELL else [low, high])
    bar.ax.yaxis.set_major_formatter("{x:.2g}")
    bar.ax.tick_params(length=0, labelsize=_POINTS - 3, labelcolor=QUIET, pad=4)
    bar.outline.set(edgecolor=FRAME, linewidth=0.6)
    bar.set_label(what, fontsize=_POINTS - 3, color=QUIET, labelpad=6)
    return figure


def _shade(axes: Axes, values: npt.NDArray[np.float64], colours: Colormap, low: float, high: float) -> AxesImage:
    return axes.imshow(
        np.ma.masked_invalid(values), cmap=colours, vmin=low, vmax=high, aspect="auto", interpolation="nearest"
    )


def _cells(axes: Axes, values: npt.NDArray[np.float64], two_sided: bool) -> AxesImage:
    """Shade cells from 0 to 1, or to the largest value beyond, or as far below 0, with fine lines between them."""
    finite = values[np.isfinite(values)]
    least, most = float(finite.min(initial=0.0)), float(finite.max(initial=0.0 if two_sided else 1.0))
    if two_sided:
        most = max(most, -least) or 1.0
        least = -most
    image = _shade(axes, values, canvas.shades(two_sided), least, most)
    rows, columns = values.shape
    thin: Any = {"colors": LINE, "linewidth": 0.8 if max(rows, columns) <= 60 else 0.2}
    axes.hlines(np.arange(1, rows) - 0.5, -0.5, columns - 0.5, **thin)
    axes.vlines(np.arange(1, columns) - 0.5, -0.5, rows - 0.5, **thin)
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    axes.spines[:].set(visible=True, color=FRAME, linewidth=0.8)
    return image


def _label(axes: Axes, source: list[str], target: list[str], points: float) -> None:
    """Write the source above, slanted unless it is single characters, and the target to the left."""
    axes.tick_params(which="both", length=0, labelcolor=INK, labelsize=points, pad=5)
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(source)), source)
    axes.set_yticks(range(len(target)), target)
    if max(map(len, source)) > 1:
        for text in axes.get_xticklabels():
            text.set(rotation=45, rotation_mode="anchor", horizontalalignment="left", verticalalignment="center")


def draw_grid_attention(
    path: str | Path, words: Sequence[str], weights: npt.ArrayLike, image: npt.ArrayLike | None = None, title: str = ""
) -> Path:
    """Draw one panel for each word, its attention shaded over the grid, and return the file.

    Args:
        path: where to write; the suffix chooses .png, .svg or .pdf, and missing folders are made.
        words: T labels.
        weights: [T, rows, columns], none below 0.
        image: pixels to lay below, height x width x 3 as bytes or as numbers from 0 to 1; bright where attended to.
        title: a line above the picture.

    Raises ShapeError where words, weights or image do not fit together, ConfigError for another suffix, and
    MissingExtraError without matplotlib.
    """
    values = np.asarray(weights, dtype=np.float64)
    if values.ndim != 3 or len(values) != len(words) or values.size == 0:
        raise ShapeError(
            f"{inflect(len(words), 'word')} need weights [{len(words)}, rows, columns], but they are "
            f"{list(values.shape)}: give one grid for every word."
        )
    pixels = None if image is None else np.asarray(image)
    if pixels is not None and (pixels.ndim != 3 or pixels.shape[2] != 3):
        raise ShapeError(f"An image should be height x width x 3, but is {list(pixels.shape)}: convert it to RGB.")
    canvas.draw([Path(path)], lambda: _grid_figure(words, values, pixels, title))
    return Path(path)


def _grid_figure(
    words: Sequence[str], values: npt.NDArray[np.float64], pixels: npt.NDArray[np.generic] | None, title: str
) -> Figure:
    figure, panels = canvas.panels(len(words), 1.4, 1.7, _ACROSS)
    most = float(values.max()) or 1.0
    for axes, word, weights_RC in zip(panels, words, values / most, strict=True):
        axes.set_title(word, fontsize=9)
        axes.set(xticks=[], yticks=[])
        if pixels is None:
            _shade(axes, weights_RC, canvas.shades(), 0, 1).axes.set_aspect("equal")
        else:
            shade: Any = {"cmap": "gray", "alpha": (1 - _FAINT) * (1 - weights_RC), "interpolation": "nearest"}
            axes.imshow(0 * weights_RC, extent=axes.imshow(pixels, interpolation="nearest").get_extent(), **shade)
    figure.suptitle(title, fontsize=10)
    return figure
