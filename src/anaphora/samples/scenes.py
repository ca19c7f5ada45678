"""Drawn scenes with captions: small images of coloured shapes, features, and sentences that are true of them.

A scene is one thing, or two of which one is beside the other. Validation and test splits show combinations that
training never shows. A combination is a colour and a shape. Five are in scenes of the test split alone, five others in
scenes of the validation split alone; each shape and each colour is in training, with others.

Pictures are drawn pixel by pixel, in whole numbers alone, so that they are the same on every machine.
``python -m anaphora.samples.scenes FOLDER [SEED]`` writes a corpus.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anaphora.formats.lines import write_lines
from anaphora.samples.draws import Draws, Splits, splits

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
    """Place on the grid."""
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


CELL = 8
"""Pixels of a side of one place."""
Picture = np.ndarray[Any, np.dtype[np.uint8]]
"""Rows x columns x 3."""

_LEVELS = np.arange(0, 201, 50)
"""Levels of red, green and blue above the background."""
WIDTH = 3 * len(_LEVELS) + CELL * CELL
"""Numbers that describe a place: its colour, and how much each pixel stands out."""

_INK = {
    "red": (220, 40, 40),
    "green": (40, 170, 60),
    "blue": (50, 80, 220),
    "yellow": (235, 215, 50),
    "purple": (150, 50, 190),
    "orange": (240, 135, 30),
    "white": (245, 245, 245),
    "turquoise": (60, 205, 205),
}
_RADIUS = {"small": 10, "large": 15}
"""Radius in quarters of a pixel, as all lengths are while a shape is drawn."""
_FINE = 4
"""Samples of a pixel along each side."""
_SHADE = 15
"""Largest difference of a thing's red, green or blue from those of its colour, in either direction."""
_NOISE = 8
"""Largest change of a number by noise, in either direction."""
_FAINT = 64
"""Difference from the background below which nothing is drawn, and noise is not enlarged."""


def picture(scene: Scene, draws: Draws) -> Picture:
    """Return the scene on a dark background, whose shade is its own, with noise.

    Each thing has its own shade too.
    """
    side = CELLS * CELL
    shade = 20 + int(draws.pick(range(50)))
    pixels = np.full((side, side, 3), shade, dtype=np.int64)
    for thing in scene.things:
        top, left = thing.row * CELL, thing.column * CELL
        covered = _coverage(thing)[..., None]
        place = pixels[top : top + CELL, left : left + CELL]
        shades = [number + draws.pick(range(-_SHADE, _SHADE + 1)) for number in _INK[thing.colour]]
        ink, full = np.array(shades).clip(0, 255), _FINE * _FINE
        place[:] = (place * (full - covered) + ink * covered) // full
    noise = np.random.RandomState(draws.pick(range(1 << 31))).randint(-_NOISE, _NOISE + 1, pixels.shape)
    return (pixels + noise).clip(0, 255).astype(np.uint8)


def features(pixels: Picture) -> np.ndarray[Any, np.dtype[np.float16]]:
    """Return the features of every place, colour apart from form: rows x columns x WIDTH, from 0 to 4.

    The form is how much each pixel differs from the background, as a share of the largest difference in its place. The
    colour is the mean difference of red, green and blue, weighted by the form, and each number is coded by how near
    it is to each of _LEVELS. So a shape looks the same in every colour, and a colour in every shape, seen together
    before or not.
    """
    background = np.sort(pixels.reshape(-1, 3), axis=0)[pixels.size // 6].astype(np.int64)
    places = (pixels - background).reshape(CELLS, CELL, CELLS, CELL, 3).transpose(0, 2, 1, 3, 4)
    differences = places.reshape(CELLS, CELLS, CELL * CELL, 3)
    contrast = np.abs(differences).max(-1)
    form = 255 * contrast // contrast.max(-1, keepdims=True).clip(_FAINT)
    colour = (differences * form[..., None]).sum(2) // form.sum(-1, keepdims=True).clip(1)
    steps = np.abs(colour.clip(_LEVELS[0], _LEVELS[-1])[..., None] - _LEVELS)
    near = (255 - 255 * steps // (_LEVELS[1] - _LEVELS[0])).clip(0).reshape(CELLS, CELLS, -1)
    return (np.concatenate([near, form], axis=-1) / 64).astype(np.float16)


def _coverage(thing: Thing) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the number of samples of each pixel of a place within the thing."""
    middle, radius = CELL * _FINE // 2, _RADIUS[thing.size]
    samples = np.arange(CELL * _FINE)
    y, x = (2 * (samples - middle - _FINE * shift) + 1 for shift in thing.shift)  # from its middle, doubled
    y, x, r = y[:, None], x[None, :], 2 * radius
    inside = {
        "circle": lambda: x * x + y * y <= r * r,
        "square": lambda: (abs(x) <= r) & (abs(y) <= r),
        "triangle": lambda: (y <= r) & (2 * abs(x) <= y + r),
        "ring": lambda: (x * x + y * y <= r * r) & (4 * (x * x + y * y) >= r * r),
        "cross": lambda: (abs(x) <= r) & (abs(y) <= r) & ((4 * abs(x) <= r) | (4 * abs(y) <= r)),
    }[thing.shape]()
    return np.asarray(inside.reshape(CELL, _FINE, CELL, _FINE).sum((1, 3)), dtype=np.int64)


TEST_PAIRS = frozenset((COLOURS[n], shape) for n, shape in enumerate(SHAPES))
"""Colours and shapes that only the test split has together."""
VALID_PAIRS = frozenset((COLOURS[n + 2], shape) for n, shape in enumerate(SHAPES))
"""Pairs that only the validation split has together."""


def corpus(seed: int, train: int = 8_000, valid: int = 500, test: int = 1_000) -> Splits[Scene]:
    """Return a corpus of these sizes, the same for a seed on every machine.

    Every scene of validation and test has a combination of its own split. Raises ConfigError for a negative size.
    """
    return splits(lambda split: _scenes(seed, split), train, valid, test)


def write(folder: Path, seed: int = 1, train: int = 8_000, valid: int = 500, test: int = 1_000) -> Path:
    """Write a corpus as ``{train,val,test}.tsv``, an image's name and a caption a line, and ``.npz`` of features.

    Returns the folder.
    """
    found = corpus(seed, train, valid, test)
    folder.mkdir(parents=True, exist_ok=True)
    for split, scenes in zip(("train", "val", "test"), found, strict=True):
        draws = Draws(f"{seed} pictures {split}")
        names = [f"{split}-{number:05d}" for number in range(len(scenes))]
        lines = (f"{name}\t{caption}" for name, scene in zip(names, scenes, strict=True) for caption in scene.captions)
        write_lines(folder / f"{split}.tsv", lines)
        values = np.stack([features(picture(scene, draws)) for scene in scenes])
        np.savez(folder / f"{split}.npz", names=np.array(names), values=values)
    return folder


def _scenes(seed: int, split: str) -> Iterator[Scene]:
    """Yield an endless stream of the scenes of a split."""
    draws, own = Draws(f"{seed} {split}"), {"valid": VALID_PAIRS, "test": TEST_PAIRS}.get(split, frozenset())
    others = (TEST_PAIRS | VALID_PAIRS) - own
    while True:
        scene = draw_scene(draws)
        pairs = {thing.pair for thing in scene.things}
        if not pairs & others and (not own or pairs & own):
            yield scene


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("Usage: python -m anaphora.samples.scenes FOLDER [SEED]")
    print(write(Path(sys.argv[1]), *map(int, sys.argv[2:])))
