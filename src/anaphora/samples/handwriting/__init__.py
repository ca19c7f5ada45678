"""Handwriting by made-up writers: each has a slant, a width, a size, an unsteady hand, and may join letters.

A line is a function of (seed, number) alone, and the same on every machine.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import hypot
from pathlib import Path
from typing import NamedTuple

from anaphora.formats.lines import write_lines
from anaphora.samples.draws import Draws

Point = tuple[float, float]
Stroke = tuple[Point, ...]


class Letter(NamedTuple):
    """A lowercase letter as strokes of a pen.

    A stroke is the points that a smooth curve passes through; a point that stands twice is a corner. x runs right, y
    up; the base line is 0, the height of an x 1.
    """

    advance: float
    """Distance to the next letter on the right."""
    strokes: tuple[Stroke, ...]


def _stroke(points: str) -> Stroke:
    pairs = (pair.split(",") for pair in points.split())
    return tuple((float(x), float(y)) for x, y in pairs)


def _letter(advance: str, *strokes: str) -> Letter:
    return Letter(float(advance), tuple(map(_stroke, strokes)))


_ROWS = Path(__file__).with_name("letters.tsv").read_text(encoding="utf-8").splitlines()
LETTERS = {letter: _letter(advance, *strokes) for letter, advance, *strokes in (row.split("\t") for row in _ROWS)}
"""Strokes by character."""


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
    """Style of a writer."""

    slant: float
    width: float
    size: float
    unsteady: float
    joined: bool
    step: float
    spacing: float


def handwrite(text: str, seed: int, number: int = 0) -> Line:
    """Return a text of lowercase letters and spaces; KeyError for anything else."""
    draws = Draws(f"{seed}/{number}/hand")
    return Line(text, _write(text, _hand(draws), draws))


def lines(seed: int, count: int) -> Iterator[Line]:
    """``count`` lines of one or two made-up words; a longer stream begins with the shorter."""
    for number in range(count):
        draws = Draws(f"{seed}/{number}/text")
        words = [_word(draws) for _ in range(2 if draws.happens(0.15) else 1)]
        yield handwrite(" ".join(words), seed, number)


def _word(draws: Draws) -> str:
    """Syllables, or letters of any order: every letter comes after every other."""
    if draws.happens(0.5):
        return "".join(draws.pick(_VOWELS + _CONSONANTS) for _ in range(draws.pick(range(1, 5))))
    syllables = (draws.pick(_CONSONANTS) + draws.pick(_VOWELS) for _ in range(draws.pick(range(1, 3))))
    return "".join(syllables) + (draws.pick(_CONSONANTS) if draws.happens(0.5) else "")


def _hand(draws: Draws) -> _Hand:
    return _Hand(
        slant=draws.uniform(-0.1, 0.4),
        width=draws.uniform(0.8, 1.1),
        size=draws.uniform(0.85, 1.15),
        unsteady=draws.uniform(0.01, 0.035),
        joined=draws.happens(0.4),
        step=draws.uniform(0.28, 0.34),
        spacing=draws.uniform(0.1, 0.3),
    )


def _write(text: str, hand: _Hand, draws: Draws) -> list[list[tuple[int, int]]]:
    strokes: list[list[Point]] = []
    right, joins = 0.0, False
    for character in text:
        letter = LETTERS[character]
        for place, stroke in enumerate(letter.strokes):
            points = _shaken([(right + x * hand.width, y) for x, y in stroke], hand.unsteady, draws)
            if place == 0 and joins and stroke[0][0] < 0.3 and stroke[0][1] < 1.2:
                strokes[-1] += points
            else:
                strokes.append(points)
        # a letter whose last stroke is its body and ends at the base line is joined to the next one
        joins = hand.joined and len(letter.strokes) == 1 and letter.strokes[0][-1][1] < 0.3
        right += letter.advance * hand.width + hand.spacing * (1 + 0.3 * draws.normal())
    return [[_place(point, hand) for point in _even(_curve(stroke), hand.step, draws)] for stroke in strokes]


def _shaken(points: Sequence[Point], size: float, draws: Draws) -> list[Point]:
    """Return the points, each a little off; the two of a corner alike."""
    off = {point: (size * draws.normal(), size * draws.normal()) for point in dict.fromkeys(points)}
    return [(x + off[x, y][0], y + off[x, y][1]) for x, y in points]


def _place(point: Point, hand: _Hand) -> tuple[int, int]:
    x, y = point
    return round(UNIT * hand.size * (x + hand.slant * y)), round(-UNIT * hand.size * y)


def _curve(points: Sequence[Point]) -> list[Point]:
    """Return a curve through the points (Catmull and Rom 1974)."""
    around = [points[0], *points, points[-1]]
    fine = [points[0]]
    for a, b, c, d in zip(around, around[1:], around[2:], around[3:], strict=False):
        for piece in range(1, _FINE + 1):
            t = piece / _FINE
            fine.append((_spline(a[0], b[0], c[0], d[0], t), _spline(a[1], b[1], c[1], d[1], t)))
    return fine


def _spline(a: float, b: float, c: float, d: float, t: float) -> float:
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t + (3 * b - a - 3 * c + d) * t * t * t)


def _even(curve: Sequence[Point], step: float, draws: Draws) -> list[Point]:
    """Points of a curve about ``step`` apart, its ends among them."""
    kept, walked, wanted = [curve[0]], 0.0, step
    for before, after in pairwise(curve):
        walked += hypot(after[0] - before[0], after[1] - before[1])
        if walked >= wanted:
            kept.append(after)
            walked, wanted = 0.0, step * (1 + 0.1 * draws.normal())
    if kept[-1] != curve[-1]:
        kept.append(curve[-1])
    return kept


def write(folder: Path, seed: int = 1, train: int = 4_000, valid: int = 200, test: int = 200) -> Path:
    """Write ``train.jsonl``, ``val.jsonl`` and ``test.jsonl``; each split has its own seed. Returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for place, (name, count) in enumerate((("train", train), ("val", valid), ("test", test))):
        drawn = lines(3 * seed + place, count)
        rows = (json.dumps({"text": line.text, "strokes": line.strokes}, separators=(",", ":")) for line in drawn)
        write_lines(folder / f"{name}.jsonl", rows)
    return folder
