"""Pictures of scenes, pixel by pixel: whole numbers alone, so that they are the same on every machine."""

from typing import Any

import numpy as np

from anaphora.samples.draws import Draws
from anaphora.samples.scenes.scene import CELLS, Scene, Thing

CELL = 8
"""Pixels of a side of one place."""
Picture = np.ndarray[Any, np.dtype[np.uint8]]
"""Rows x columns x 3."""

_LEVELS = np.arange(0, 201, 50)
"""Of red, green and blue above the background."""
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
"""In quarters of a pixel, as all lengths are while a shape is drawn."""
_FINE = 4
"""Samples of a pixel along each side."""
_SHADE = 15
"""Largest difference of a thing's red, green or blue from those of its colour, in either direction."""
_NOISE = 8
"""Largest change of a number by noise, in either direction."""
_FAINT = 64
"""Difference from the background below which nothing is drawn, and noise is not enlarged."""


def picture(scene: Scene, draws: Draws) -> Picture:
    """Return the scene on a dark background of a shade of its own, with noise.

    Each thing has a shade of its own too.
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
