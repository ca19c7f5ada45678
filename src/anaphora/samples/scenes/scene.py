"""Scenes: one thing, or two of which one is beside the other, and the sentences that are true of them."""

from typing import NamedTuple

from anaphora.samples.draws import Draws

SHAPES = ("circle", "square", "triangle", "ring", "cross")
COLOURS = ("red", "green", "blue", "yellow", "purple", "orange", "white", "turquoise")
SIZES = ("small", "large")
CELLS = 4
"""Rows and columns of places where a thing can be."""

_ALONE = 0.2
"""Probability of a scene of one thing."""


class Thing(NamedTuple):
    """One coloured shape."""

    size: str
    colour: str
    shape: str
    row: int
    column: int
    """Its place on the grid."""
    shift: tuple[int, int]
    """Pixels down and right of the middle of its place."""

    @property
    def pair(self) -> tuple[str, str]:
        """Colour and shape."""
        return self.colour, self.shape

    def __str__(self) -> str:
        return f"a {self.size} {self.shape} in {self.colour}"


class Scene(NamedTuple):
    """One or two things."""

    things: tuple[Thing, ...]

    @property
    def captions(self) -> list[str]:
        """The sentences that describe it: of two things, from either."""
        if len(self.things) == 1:
            return [str(self.things[0])]
        first, second = self.things
        return [f"{one} with {other} {_relation(one, other)} it" for one, other in ((first, second), (second, first))]


def draw_scene(draws: Draws) -> Scene:
    """Return a scene; two things share a row or a column, so that one relation is true of them."""
    row, column = (draws.pick(range(CELLS)) for _ in range(2))
    first = _thing(draws, row, column)
    if draws.happens(_ALONE):
        return Scene((first,))
    if draws.happens(0.5):
        column = draws.pick([other for other in range(CELLS) if other != column])
    else:
        row = draws.pick([other for other in range(CELLS) if other != row])
    return Scene((first, _thing(draws, row, column)))


def _thing(draws: Draws, row: int, column: int) -> Thing:
    size, colour, shape = draws.pick(SIZES), draws.pick(COLOURS), draws.pick(SHAPES)
    most = 1 if size == "small" else 0
    shift = draws.pick(range(-most, most + 1)), draws.pick(range(-most, most + 1))
    return Thing(size, colour, shape, row, column, shift)


def _relation(one: Thing, other: Thing) -> str:
    """Return the direction of ``other`` from ``one``."""
    if one.row == other.row:
        return "to the left of" if other.column < one.column else "to the right of"
    return "above" if other.row < one.row else "below"
