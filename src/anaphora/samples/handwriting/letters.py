"""The lowercase letters as strokes of a pen.

A stroke is the points that a smooth curve passes through; a point that stands twice is a corner. x runs right, y up;
the base line is 0, the height of an x 1.
"""

from typing import NamedTuple

Point = tuple[float, float]
Stroke = tuple[Point, ...]


class Letter(NamedTuple):
    """One letter."""

    advance: float
    """How much further right the next letter begins."""
    strokes: tuple[Stroke, ...]


def _stroke(points: str) -> Stroke:
    pairs = (pair.split(",") for pair in points.split())
    return tuple((float(x), float(y)) for x, y in pairs)


def _letter(advance: float, *strokes: str) -> Letter:
    return Letter(advance, tuple(map(_stroke, strokes)))


LETTERS = {
    " ": _letter(0.75),
    "a": _letter(1.0, ".75,.85 .4,1 .05,.5 .3,.02 .7,.4 .8,.97 .8,.97 .8,.25 .95,.03"),
    "b": _letter(0.95, ".1,1.75 .1,.85 .1,.05 .1,.05 .14,.55 .45,.98 .8,.55 .45,.02 .14,.2"),
    "c": _letter(0.9, ".75,.8 .45,1 .08,.5 .4,.02 .82,.2"),
    "d": _letter(1.0, ".75,.8 .4,1 .05,.5 .35,.02 .75,.45 .8,1.75 .8,1.75 .8,.3 .95,.03"),
    "e": _letter(0.9, ".1,.5 .72,.6 .45,1 .08,.5 .4,.02 .82,.2"),
    "f": _letter(0.75, ".75,1.5 .52,1.75 .3,1.3 .3,.6 .3,0", ".05,.95 .62,.95"),
    "g": _letter(1.0, ".75,.85 .4,1 .05,.55 .35,.1 .73,.5 .8,.97 .8,.97 .78,-.3 .4,-.7 .1,-.45"),
    "h": _letter(1.0, ".1,1.75 .1,.8 .1,0 .1,0 .14,.55 .45,1 .75,.7 .75,.15 .92,.02"),
    "i": _letter(0.5, ".2,1 .2,.2 .37,.02", ".2,1.4 .25,1.34"),
    "j": _letter(0.6, ".4,1 .4,-.3 .15,-.7 -.1,-.45", ".4,1.4 .45,1.34"),
    "k": _letter(0.9, ".1,1.75 .1,.8 .1,0", ".7,1 .14,.45 .14,.45 .78,0"),
    "l": _letter(0.5, ".15,1.75 .15,.25 .37,.02"),
    "m": _letter(1.25, ".1,1 .1,0 .1,0 .14,.6 .38,1 .55,.7 .55,0 .55,0 .6,.6 .83,1 1.0,.7 1.0,.15 1.17,.02"),
    "n": _letter(1.0, ".1,1 .1,0 .1,0 .14,.55 .45,1 .75,.7 .75,.15 .92,.02"),
    "o": _letter(0.95, ".5,1 .08,.5 .45,.02 .85,.5 .5,1"),
    "p": _letter(0.95, ".1,1 .1,.2 .1,-.7 .1,-.7 .12,.5 .45,1 .8,.55 .45,.02 .14,.2"),
    "q": _letter(1.05, ".75,.85 .4,1 .05,.5 .35,.02 .73,.4 .8,.98 .8,.98 .8,-.7 .8,-.7 1.02,-.4"),
    "r": _letter(0.75, ".1,1 .1,0 .1,0 .14,.55 .4,.98 .66,.85"),
    "s": _letter(0.8, ".68,.85 .4,1 .15,.75 .45,.5 .7,.25 .4,.02 .08,.15"),
    "t": _letter(0.75, ".3,1.5 .3,.25 .5,.02 .66,.12", ".05,1 .6,1"),
    "u": _letter(1.0, ".1,1 .1,.3 .4,.02 .73,.35 .77,1 .77,1 .77,.2 .94,.02"),
    "v": _letter(0.85, ".05,1 .4,.02 .4,.02 .75,1"),
    "w": _letter(1.15, ".05,1 .3,.02 .3,.02 .55,.85 .55,.85 .8,.02 .8,.02 1.05,1"),
    "x": _letter(0.9, ".05,1 .78,.02", ".75,1 .05,.02"),
    "y": _letter(0.9, ".05,1 .42,.08", ".8,1 .42,.08 .12,-.7"),
    "z": _letter(0.9, ".08,1 .75,1 .75,1 .08,.02 .08,.02 .82,.02"),
}
"""By character."""
