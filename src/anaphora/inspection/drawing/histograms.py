"""Histograms of a corpus."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anaphora.datacheck.distribution import Histogram
from anaphora.inspection.drawing import canvas
from anaphora.inspection.drawing.canvas import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_histograms(path: Path, histograms: Sequence[Histogram]) -> Path:
    """Draw histograms side by side; the suffix chooses .png or .svg. Raises MissingExtraError without matplotlib."""
    canvas.draw([path], lambda: _figure(histograms))
    return path


def _figure(histograms: Sequence[Histogram]) -> "Figure":
    figure = canvas.figure(5.5 * len(histograms), 3.6, layout="constrained")
    panels = figure.subplots(1, len(histograms), squeeze=False)[0]
    for axes, histogram in zip(panels, histograms, strict=True):
        width = 0.85 / len(histogram.series)
        for number, (name, counts) in enumerate(histogram.series):
            places = [place + width * number for place in range(len(counts))]
            axes.bar(places, counts, width, align="edge", color=COLOURS[number % len(COLOURS)], label=name)
        middles = [place + 0.425 for place in range(len(histogram.labels))]
        axes.set_xticks(middles, histogram.labels, rotation=45, ha="right", fontsize=8)
        axes.tick_params(axis="y", labelsize=8)
        canvas.title(axes, f"{histogram.title} ({histogram.unit})")
        if len(histogram.series) > 1:
            axes.legend(frameon=False, fontsize=9)
    return figure
