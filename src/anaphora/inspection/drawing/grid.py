"""Attention over a grid: for each word of a sentence, where in the image the model looked (Xu et al. 2015)."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from anaphora.errors import ShapeError
from anaphora.inspection.drawing import canvas
from anaphora.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANEL, _HEADING = 1.4, 0.3
"""Inches of a side of a panel, and above it."""
_ACROSS = 8
"""Panels in a row, at most."""
_FAINT = 0.3
"""How bright an image is where nothing is attended to."""


def draw_grid_attention(
    path: str | Path,
    words: Sequence[str],
    weights: npt.ArrayLike,
    image: npt.ArrayLike | None = None,
    title: str = "",
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
            f"{counted(len(words), 'word')} need weights [{len(words)}, rows, columns], but they are "
            f"{list(values.shape)}: give one grid for every word."
        )
    pixels = None if image is None else np.asarray(image)
    if pixels is not None and (pixels.ndim != 3 or pixels.shape[2] != 3):
        raise ShapeError(f"An image should be height x width x 3, but is {list(pixels.shape)}: convert it to RGB.")
    canvas.draw([Path(path)], lambda: _figure(words, values, pixels, title))
    return Path(path)


def _figure(
    words: Sequence[str], values: npt.NDArray[np.float64], pixels: npt.NDArray[np.generic] | None, title: str
) -> "Figure":
    across = min(_ACROSS, len(words))
    down = -(-len(words) // across)
    figure = canvas.figure(_PANEL * across, (_PANEL + _HEADING) * down, layout="constrained")
    most = float(values.max()) or 1.0
    for number, (word, weights_RC) in enumerate(zip(words, values / most, strict=True), 1):
        axes = figure.add_subplot(down, across, number)
        canvas.title(axes, word, 9)
        axes.set(xticks=[], yticks=[])
        if pixels is None:
            axes.imshow(weights_RC, cmap=canvas.shades(), vmin=0, vmax=1, interpolation="nearest")
        else:
            axes.imshow(_lit(pixels, weights_RC), interpolation="nearest")
    if title:
        figure.suptitle(title, fontsize=10, color=canvas.INK, parse_math=False)
    return figure


def _lit(pixels: npt.NDArray[np.generic], shares_RC: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """An image, bright where it is attended to."""
    lit = pixels.astype(np.float64) / (255 if pixels.dtype == np.uint8 else 1)
    down, across = (np.arange(pixels.shape[axis]) * shares_RC.shape[axis] // pixels.shape[axis] for axis in (0, 1))
    factor_HW = _FAINT + (1 - _FAINT) * shares_RC[np.ix_(down, across)]
    return np.asarray((lit * factor_HW[:, :, None]).clip(0, 1))
