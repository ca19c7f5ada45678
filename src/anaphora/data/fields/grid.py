"""The same number of vectors in every example, such as the regions of an image."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from anaphora.batch import Grid as Grids
from anaphora.data.columns import FLOATS, Bound, Integers
from anaphora.data.features import Features, GridShape
from anaphora.data.fields.field import Field, Place
from anaphora.data.ragged import Ragged


class Grid(Field[Any]):
    """Grids that are given as arrays, positions x width."""

    unit = "position"
    bound: Bound = FLOATS

    def __init__(self, name: str, shape: GridShape, get: Callable[[Any], Any] = lambda example: example) -> None:
        super().__init__(name, get)
        self.shape, self.width = shape, shape.width

    @property
    def identity(self) -> Sequence[object]:
        return [*self.shape]

    def encode(self, values: Sequence[Any], place: Place) -> Ragged:
        return Ragged.of_arrays(values, self.width)

    def items(self, rows: Ragged, chosen: Integers, multiple: int = 1) -> Grids:
        return Grids(np.stack(rows.split(chosen)))


class ImageGrid(Grid):
    """Grids of images by name, whose features stay in their files."""

    def __init__(self, name: str, features: Features, get: Callable[[Any], str]) -> None:
        super().__init__(name, features.shape, get)
        self._features, self._names, self.bound = features, list(features), len(features)
        self._numbers = {image: number for number, image in enumerate(self._names)}

    def encode(self, values: Sequence[str], place: Place) -> Ragged:
        """Return the number of each image."""
        return Ragged.of([[self._numbers[image]] for image in values])

    def items(self, rows: Ragged, chosen: Integers, multiple: int = 1) -> Grids:
        grids = [self._features[self._names[number]] for (number,) in rows.split(chosen)]
        return Grids(np.stack(grids))
