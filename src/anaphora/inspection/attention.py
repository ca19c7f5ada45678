"""A picture of an alignment: which source pieces a translator looked at for each piece that it wrote.

Draws on a figure of its own, never through pyplot: no window opens and no figure outlives the call.
"""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anaphora.errors import ConfigError, MissingExtraError, ShapeError
from anaphora.formats.replacing import replacing
from anaphora.inspection.labels import labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

FORMATS = ("pdf", "png", "svg")

_SHADES = ("#ffffff", "#e3eaf4", "#b9cae3", "#7f9fcb", "#4570ab", "#1f4480", "#0c2250")
_NO_NUMBER = "#f2d9c9"
_INK, _QUIET = "#22262e", "#7b828e"
_LINE, _FRAME = "#eef1f6", "#c3cad6"
_CELL = 0.36
"""Inches of a cell while the picture is small; beyond ``_LARGEST`` inches of cells they shrink."""
_LARGEST = 22.0
_POINTS = 10.5
"""Size of a label beside a cell of full size."""

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: it can be searched, and the reader's own fonts show every script
    "svg.hashsalt": "anaphora",  # the same picture is the same bytes
    "pdf.fonttype": 42,
    "axes.unicode_minus": False,
}
_FONTS = (
    "Noto Sans CJK JP",
    "Hiragino Sans",
    "Yu Gothic",
    "Microsoft YaHei",
    "Malgun Gothic",
    "WenQuanYi Zen Hei",
    "Noto Sans Devanagari",
    "Nirmala UI",
    "Noto Sans Thai",
    "Noto Sans Ethiopic",
    "Arial Unicode MS",
)
"""Asked for what matplotlib's own font lacks, where they are installed."""

_METADATA: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}


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
    path = Path(path)
    form = path.suffix.lower().removeprefix(".")
    if form not in FORMATS:
        raise ConfigError(
            f"A picture is written as {', '.join(FORMATS)}, but {path.name} ends in '{path.suffix}': change its suffix."
        )
    values = _fitting(weights, len(source_pieces), len(target_pieces))
    try:
        import matplotlib
        from matplotlib.font_manager import get_font_names
    except ImportError:
        raise MissingExtraError("matplotlib", "plot") from None
    installed = frozenset(get_font_names())
    style = {**_STYLE, "font.family": ["DejaVu Sans", *(font for font in _FONTS if font in installed)]}
    path.parent.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(style), warnings.catch_warnings():
        # A script that no installed font has is drawn as boxes: better than no picture.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font", category=UserWarning)
        figure = _figure(labels(source_pieces), labels(target_pieces), values, title)
        with replacing(path) as stream:
            figure.savefig(stream, format=form, dpi=200, bbox_inches="tight", pad_inches=0.12, metadata=_METADATA[form])
    return path


def _fitting(weights: npt.ArrayLike, sources: int, targets: int) -> npt.NDArray[np.float64]:
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
    return values


def _figure(source: list[str], target: list[str], values: npt.NDArray[np.float64], title: str) -> "Figure":
    from matplotlib.figure import Figure

    cell = min(_CELL, _LARGEST / max(len(source), len(target)))
    width, height = cell * len(source), cell * len(target)
    figure = Figure(figsize=(width, height), facecolor="white")
    # The cells fill the figure exactly; saving it "tight" makes room for the labels, whatever their length.
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    image = _shade(axes, values)
    _label(axes, source, target, points=_POINTS * cell / _CELL)
    _scale(figure, image, width, height)
    if title:
        axes.set_title(title, loc="left", pad=12, fontsize=_POINTS + 1, fontweight="bold", color=_INK, parse_math=False)
    return figure


def _shade(axes: "Axes", values: npt.NDArray[np.float64]) -> "AxesImage":
    """Shade the cells from 0 to 1, or to the largest value beyond, with fine lines between them."""
    from matplotlib.colors import LinearSegmentedColormap

    finite = values[np.isfinite(values)]
    image = axes.imshow(
        np.ma.masked_invalid(values),
        cmap=LinearSegmentedColormap.from_list("attention", _SHADES).with_extremes(bad=_NO_NUMBER),
        vmin=min(0.0, float(finite.min(initial=0.0))),
        vmax=max(1.0, float(finite.max(initial=1.0))),
        aspect="auto",
        interpolation="nearest",
    )
    rows, columns = values.shape
    axes.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
    axes.grid(which="minor", color=_LINE, linewidth=0.8 if max(rows, columns) <= 60 else 0.2)
    for spine in axes.spines.values():
        spine.set(color=_FRAME, linewidth=0.8)
    return image


def _label(axes: "Axes", source: list[str], target: list[str], points: float) -> None:
    """Write the source above, slanted unless it is single characters, and the target to the left."""
    axes.tick_params(which="both", length=0, labelcolor=_INK, labelsize=points, pad=5)
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(source)), source, parse_math=False)
    axes.set_yticks(range(len(target)), target, parse_math=False)
    if max(map(len, source)) > 1:
        for text in axes.get_xticklabels():
            text.set(rotation=45, rotation_mode="anchor", horizontalalignment="left", verticalalignment="center")


def _scale(figure: "Figure", image: "AxesImage", width: float, height: float) -> None:
    """Put a slim scale at the lower right, in inches so that it looks the same beside every picture."""
    tall = min(1.2, height)
    bar = figure.colorbar(image, cax=figure.add_axes((1 + 0.2 / width, 0.0, 0.09 / width, tall / height)))
    low, high = image.get_clim()
    bar.set_ticks([low, (low + high) / 2, high] if height > _CELL else [low, high])
    bar.ax.yaxis.set_major_formatter("{x:.2g}")
    bar.ax.tick_params(length=0, labelsize=_POINTS - 3, labelcolor=_QUIET, pad=4)
    bar.outline.set(edgecolor=_FRAME, linewidth=0.6)
    bar.set_label("attention", fontsize=_POINTS - 3, color=_QUIET, labelpad=6)
