"""Answers of models of real-valued sequences: vectors, pen strokes as SVG, and forecasts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Self

import numpy as np

from anaphora.formats.traces import Booleans, Floats

_MARGIN = 0.6
"""Space around a picture, in heights of a line at most."""


@dataclass(frozen=True)
class Series:
    """A sequence of vectors without a pen."""

    values_TD: Floats
    primed: int = 0
    """Number of vectors that were given."""
    ended: bool = True
    """True if the model ended it; otherwise the greatest length did."""

    def json(self) -> dict[str, Any]:
        return {"values": self.values_TD.tolist(), "primed": self.primed, "ended": self.ended}


@dataclass(frozen=True)
class Drawing:
    """A sequence of pen strokes."""

    points_TD: Floats
    """x and y, from 0 at the first point, as the data has them."""
    ends_T: Booleans
    """True if the pen is lifted after each point."""
    text: str = ""
    """Text of the handwriting, if known."""
    primed: int = 0
    """Number of points that were given."""
    ended: bool = True
    """True if the model ended it; otherwise the greatest length did."""
    upward: bool = False
    """True if y grows upwards."""

    @property
    def strokes(self) -> list[Floats]:
        """The points of each stroke."""
        cuts = np.flatnonzero(self.ends_T) + 1
        return [part for part in np.split(self.points_TD, cuts) if len(part)]

    def json(self) -> dict[str, Any]:
        """Everything, for ``json.dumps``; ``formats.stroke_json`` reads it."""
        strokes = [np.round(stroke, 3).tolist() for stroke in self.strokes]
        return {"text": self.text, "strokes": strokes, "primed": self.primed, "ended": self.ended}

    def svg(self) -> str:
        return svg([self])

    def __str__(self) -> str:
        return self.svg()


@dataclass(frozen=True)
class Forecast:
    """The steps that follow a sequence, by sampled continuations."""

    samples_STD: Floats
    """The continuations; one, that of the expected vectors, of a model without a density."""
    mean_TD: Floats
    lower_TD: Floats | None
    """Lower end of the interval of each number; None of a model without a density."""
    upper_TD: Floats | None
    """Upper end of it."""
    interval: float
    """Probability of the interval; as much is below it as above it."""

    @classmethod
    def of(cls, samples_STD: Floats, interval: float, density: bool) -> Self:
        """Return the forecast of these continuations; without a ``density`` there is no interval."""
        ends = [0.5 - interval / 2, 0.5 + interval / 2]
        lower_TD, upper_TD = np.quantile(samples_STD, ends, axis=0) if density else (None, None)
        return cls(samples_STD, samples_STD.mean(0), lower_TD, upper_TD, interval)

    def json(self) -> dict[str, Any]:
        """Return everything but the continuations, for ``json.dumps``."""
        found = {"mean": self.mean_TD, "lower": self.lower_TD, "upper": self.upper_TD}
        return {name: None if one is None else one.tolist() for name, one in found.items()} | {
            "interval": self.interval
        }

    def __str__(self) -> str:
        """Return a step a line, tabs between its numbers, each as ``mean [lower, upper]``."""
        shown = np.vectorize("{:.6g}".format)(self.mean_TD)
        if self.lower_TD is not None:
            shown = np.vectorize("{} [{:.6g}, {:.6g}]".format)(shown, self.lower_TD, self.upper_TD)
        return "".join(f"{line}\n" for line in map("\t".join, shown.tolist()))


def svg(drawings: Sequence[Drawing]) -> str:
    """Drawings below each other as one picture, their texts as its title."""
    boxes = [_box(drawing) for drawing in drawings]
    height = max(bottom - top for _, top, _, bottom in boxes) or 1.0
    margin, width = _MARGIN * height / 2, max(right - left for left, _, right, _ in boxes)
    lines, y = list[str](), margin
    for drawing, (left, top, _, bottom) in zip(drawings, boxes, strict=True):
        paths = " ".join(_paths(drawing, margin - left, y - top))
        lines.append(f'<path d="{paths}"><title>{escape(drawing.text, quote=False)}</title></path>')
        y += bottom - top + margin
    title = escape(", ".join(drawing.text for drawing in drawings if drawing.text) or "pen strokes", quote=False)
    pen = height / 40
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + 2 * margin:.2f} {y:.2f}" role="img">',
            f"<title>{title}</title>",
            '<rect width="100%" height="100%" fill="#fff"/>',
            f'<g fill="none" stroke="#1a1a2e" stroke-width="{pen:.2f}" stroke-linecap="round" stroke-linejoin="round">',
            *lines,
            "</g>",
            "</svg>",
        ]
    )


def _place(drawing: Drawing) -> Iterator[Floats]:
    return (stroke * [1, -1] if drawing.upward else stroke for stroke in drawing.strokes)


def _box(drawing: Drawing) -> tuple[float, float, float, float]:
    every = np.concatenate(list(_place(drawing)))
    (left, top), (right, bottom) = every.min(0).tolist(), every.max(0).tolist()
    return left, top, right, bottom


def _paths(drawing: Drawing, right: float, down: float) -> Iterator[str]:
    for stroke in _place(drawing):
        points = [f"{x + right:.2f},{y + down:.2f}" for x, y in stroke.tolist()]
        # a path of one point is drawn as a dot
        yield f"M{points[0]} L{' '.join(points[1:] or points)}"
