"""Handwriting by made-up writers: each has a slant, a width, a size, an unsteady hand, and may join letters.

A line is a function of (seed, number) alone, and the same on every machine.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import hypot
from typing import NamedTuple

from anaphora.samples.handwriting.letters import LETTERS, Point

UNIT = 100
"""Height of an x in the whole numbers that points are given in."""

_FINE = 16
"""Pieces of a curve between two points of a stroke, before points are set at even distances."""

_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnpqrstvwxyz"


class Line(NamedTuple):
    """A text and how it was written."""

    text: str
    strokes: list[list[tuple[int, int]]]
    """Points of each stroke; x runs right, y down."""


class _Hand(NamedTuple):
    """How a writer writes."""

    slant: float
    width: float
    size: float
    unsteady: float
    joined: bool
    step: float
    spacing: float


def written(text: str, seed: int, number: int = 0) -> Line:
    """A text of lowercase letters and spaces; KeyError for anything else."""
    source = random.Random(f"{seed}/{number}/hand")
    return Line(text, _write(text, _hand(source), source))


def lines(seed: int, count: int) -> Iterator[Line]:
    """``count`` lines of one or two made-up words; a longer stream begins with the shorter."""
    for number in range(count):
        source = random.Random(f"{seed}/{number}/text")
        words = [_word(source) for _ in range(2 if source.random() < 0.15 else 1)]
        yield written(" ".join(words), seed, number)


def _word(source: random.Random) -> str:
    """Syllables, or letters of any order: every letter comes after every other."""
    if source.random() < 0.5:
        return "".join(_pick(source, _VOWELS + _CONSONANTS) for _ in range(1 + int(source.random() * 4)))
    syllables = (_pick(source, _CONSONANTS) + _pick(source, _VOWELS) for _ in range(1 + int(source.random() * 2)))
    return "".join(syllables) + (_pick(source, _CONSONANTS) if source.random() < 0.5 else "")


def _pick(source: random.Random, letters: str) -> str:
    return letters[int(source.random() * len(letters))]


def _hand(source: random.Random) -> _Hand:
    return _Hand(
        slant=_within(source, -0.1, 0.4),
        width=_within(source, 0.8, 1.1),
        size=_within(source, 0.85, 1.15),
        unsteady=_within(source, 0.01, 0.035),
        joined=source.random() < 0.4,
        step=_within(source, 0.28, 0.34),
        spacing=_within(source, 0.1, 0.3),
    )


def _within(source: random.Random, low: float, high: float) -> float:
    return low + (high - low) * source.random()


def _normal(source: random.Random) -> float:
    """Nearly normal, of ``random`` alone."""
    return sum(source.random() for _ in range(12)) - 6


def _write(text: str, hand: _Hand, source: random.Random) -> list[list[tuple[int, int]]]:
    strokes: list[list[Point]] = []
    right, joins = 0.0, False
    for character in text:
        letter = LETTERS[character]
        for place, stroke in enumerate(letter.strokes):
            points = _shaken([(right + x * hand.width, y) for x, y in stroke], hand.unsteady, source)
            if place == 0 and joins and stroke[0][0] < 0.3 and stroke[0][1] < 1.2:
                strokes[-1] += points
            else:
                strokes.append(points)
        # a letter whose last stroke is its body and ends at the base line is joined to the next one
        joins = hand.joined and len(letter.strokes) == 1 and letter.strokes[0][-1][1] < 0.3
        right += letter.advance * hand.width + hand.spacing * (1 + 0.3 * _normal(source))
    return [[_placed(point, hand) for point in _even(_curve(stroke), hand.step, source)] for stroke in strokes]


def _shaken(points: Sequence[Point], size: float, source: random.Random) -> list[Point]:
    """The points, each a little off; the two of a corner alike."""
    off = {point: (size * _normal(source), size * _normal(source)) for point in dict.fromkeys(points)}
    return [(x + off[x, y][0], y + off[x, y][1]) for x, y in points]


def _placed(point: Point, hand: _Hand) -> tuple[int, int]:
    x, y = point
    return round(UNIT * hand.size * (x + hand.slant * y)), round(-UNIT * hand.size * y)


def _curve(points: Sequence[Point]) -> list[Point]:
    """A curve through the points (Catmull and Rom 1974)."""
    around = [points[0], *points, points[-1]]
    fine = [points[0]]
    for a, b, c, d in zip(around, around[1:], around[2:], around[3:], strict=False):
        for piece in range(1, _FINE + 1):
            t = piece / _FINE
            fine.append((_spline(a[0], b[0], c[0], d[0], t), _spline(a[1], b[1], c[1], d[1], t)))
    return fine


def _spline(a: float, b: float, c: float, d: float, t: float) -> float:
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t + (3 * b - a - 3 * c + d) * t * t * t)


def _even(curve: Sequence[Point], step: float, source: random.Random) -> list[Point]:
    """Points of a curve about ``step`` apart, its ends among them."""
    kept, walked, wanted = [curve[0]], 0.0, step
    for before, after in pairwise(curve):
        walked += hypot(after[0] - before[0], after[1] - before[1])
        if walked >= wanted:
            kept.append(after)
            walked, wanted = 0.0, step * (1 + 0.1 * _normal(source))
    if kept[-1] != curve[-1]:
        kept.append(curve[-1])
    return kept
