"""Sequences of real vectors from files: what one is, and the checks that every format shares.

Pen strokes are points in the plane, with a mark where the pen is lifted. A format gives the strokes of a sequence as
``Ink``, or as rows of two numbers and a pen bit, whose numbers may be offsets from point to point.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from anaphora.errors import DataError

Floats = np.ndarray[Any, np.dtype[np.float64]]
Booleans = np.ndarray[Any, np.dtype[np.bool_]]


class Trace(NamedTuple):
    """One sequence."""

    place: str
    """The file, and the line or number where there are several in it."""
    values_TD: Floats
    """Vectors; of a pen x and y."""
    ends_T: Booleans | None
    """True if the pen is lifted after each point; None where there is no pen."""
    text: str = ""
    """The written text; empty where it is unknown."""
    offsets: bool | None = False
    """True if points are relative to the point before; None where the format does not tell."""


def ink(place: str, strokes: Iterable[Sequence[Sequence[float]]], text: str = "") -> Trace:
    """Return a sequence of strokes, each the x, y and perhaps time of its points.

    Raises DataError for a stroke without points, a number that is none, and times that run backwards.
    """
    rows, ends, latest = list[tuple[float, float]](), list[bool](), -np.inf
    for number, stroke in enumerate(strokes, 1):
        if not len(stroke):
            raise DataError(f"{place}: stroke {number} has no points: remove it.")
        for at, point in enumerate(stroke, 1):
            where = f"{place}: stroke {number}, point {at}"
            x, y, *time = _numbers(point, where, (2, 3))
            if time and time[0] < latest:
                raise DataError(
                    f"{where} is out of order: its time {time[0]:g} is before {latest:g}; sort the points, or leave "
                    f"times out."
                )
            latest = time[0] if time else latest
            rows.append((x, y))
        ends += [False] * (len(stroke) - 1) + [True]
    if not rows:
        raise DataError(f"{place} has no strokes: remove it.")
    return Trace(place, np.array(rows, dtype=np.float64), np.array(ends), text)


def pen_rows(place: str, rows: Sequence[Sequence[float]], text: str = "") -> Trace:
    """Return rows of two numbers and a pen bit (1 where the pen is lifted after the point), or of sketch-rnn's three.

    Of the three bits p1, p2, p3 (Ha and Eck 2017), p2 is the lifted pen, and a row with p3 ends the sequence. Raises
    DataError for a row of another width, a number that is none, and a bit that is neither 0 nor 1.
    """
    values, ends = list[list[float]](), list[bool]()
    for number, row in enumerate(rows, 1):
        where = f"{place}: point {number}"
        x, y, *bits = _numbers(row, where, (len(rows[0]),))
        if not all(bit in (0, 1) for bit in bits):
            raise DataError(f"{where} has pen bits {bits}, but they should be 0 or 1: correct them.")
        if len(bits) == 3 and bits[2]:
            break
        values.append([x, y])
        ends.append(bool(bits[len(bits) // 2]))
    if not values:
        raise DataError(f"{place} has no points: remove it.")
    return Trace(place, np.array(values, dtype=np.float64), np.array(ends), text, None)


def _numbers(row: Any, where: str, widths: tuple[int, ...]) -> list[float]:
    if isinstance(row, dict):
        row = [row[key] for key in ("x", "y", "t", "time") if key in row]
    good = isinstance(row, list | tuple) and all(
        isinstance(one, int | float) and not isinstance(one, bool) for one in row
    )
    if not good or len(row) not in widths:
        raise DataError(f"{where} should have {' or '.join(map(str, widths))} numbers, but is {row!r:.60}: correct it.")
    try:
        values = [float(one) for one in row]
    except OverflowError:
        values = [np.inf]
    if not np.isfinite(values).all():
        raise DataError(f"{where} has a number that is not finite: {row!r:.60}; correct or remove it.")
    return values
