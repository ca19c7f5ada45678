"""Features of images: a grid of vectors, or one vector, by the name of the image, read as they are asked for.

An array file (``formats/arrays.py``) holds an array for each image, named as the image is, or all of them as ``values``
with their ``names``; a folder holds a file for each image. An array is rows x columns x width, positions x width, or
width alone; every image has the same.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import isqrt
from pathlib import Path
from typing import NamedTuple

from anaphora.data.corpora import fingerprint
from anaphora.errors import DataError
from anaphora.formats.arrays import ArrayFile, Floats, Raw, RealArray
from anaphora.formats.captions import file_name, image_key

ENDINGS = (".npy", ".npz", ".safetensors")
"""Endings of array files."""
_NAMES, _VALUES = "names", "values"
_OPEN = 64
"""Files that are open at once, at most."""


class GridShape(NamedTuple):
    """The size of a grid of vectors."""

    rows: int
    columns: int
    width: int

    @property
    def positions(self) -> int:
        return self.rows * self.columns

    @classmethod
    def of(cls, shape: Sequence[int]) -> "GridShape":
        """Return the shape of an array; positions that come in no rows are a square if they can be, else one row."""
        if len(shape) == 3:
            return cls(shape[0], shape[1], shape[2])
        positions = shape[0] if len(shape) == 2 else 1
        side = isqrt(positions)
        rows = side if side * side == positions else 1
        return cls(rows, positions // rows, shape[-1])


class _Place(NamedTuple):
    """Position of the features of an image."""

    file: str
    """The file name of the image as it was given, without folders."""
    path: Path
    array: str
    row: int | None
    """Row of an array of all images; None where the array is of one."""


class Features:
    """The features of images by name, positions x width each."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """``paths`` are array files; nothing but their indices is read. DataError for none, and for what is no such."""
        if not paths:
            raise DataError("Descriptions need features: add an .npz, .npy or .safetensors file of them to --data.")
        self.paths = tuple(paths)
        self._opened = lru_cache(maxsize=_OPEN)(ArrayFile)
        self._places: dict[str, _Place] = {}
        self._shape: tuple[tuple[int, ...], str] | None = None
        for path in paths:
            self._index(path)
        assert self._shape is not None
        self.shape: GridShape = GridShape.of(self._shape[0])
        """Of every image."""

    def _index(self, path: Path) -> None:
        file = self._opened(path)
        if _NAMES in file.names and _VALUES in file.names:
            names, values = file.strings(_NAMES), file.real(_VALUES)
            if len(names) != len(values) or len(values.shape) < 2:
                raise DataError(
                    f"{path} has {len(names):,} names, but values of shape {values.shape}: save as many of both."
                )
            self._check(values.shape[1:], values.where)
            for row, name in enumerate(names):
                self._add(name, _Place(file_name(name), path, _VALUES, row))
            return
        for name in file.names:
            array = file.real(name)
            self._check(array.shape, array.where)
            self._add(name, _Place(file_name(name), path, name, None))

    def _add(self, name: str, place: _Place) -> None:
        other = self._places.setdefault(image_key(name), place)
        if other is not place:
            raise DataError(f"The image '{image_key(name)}' has features in {other.path} and {place.path}: keep one.")

    def _check(self, shape: tuple[int, ...], where: str) -> None:
        if self._shape is None:
            if len(shape) > 3:
                raise DataError(
                    f"{where} should be rows x columns x width, positions x width, or width, but its shape is {shape}: "
                    f"reshape it."
                )
            self._shape = shape, where
        elif shape != self._shape[0]:
            raise DataError(
                f"{where} has features of shape {shape}, but {self._shape[1]} has {self._shape[0]}: give all images "
                f"features of the same shape."
            )

    def __contains__(self, image: str) -> bool:
        return image in self._places

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __getitem__(self, image: str) -> Floats:
        """Positions x width; KeyError for an image without any, DataError for a number that is not finite."""
        place = self._places[image]
        array: RealArray = self._opened(place.path).real(place.array)
        found = array[:] if place.row is None else array[place.row]
        return found.reshape(self.shape.positions, self.shape.width)

    def file(self, image: str) -> str:
        """Return the file name of an image as it was given, without folders."""
        return self._places[image].file

    def verify(self) -> str:
        """SHA-256 of all files, after every number was read; DataError for one that is not finite."""
        for image in self:
            self[image]
        return fingerprint(self.paths)


def array_files(folder: Path) -> list[Path]:
    """Return the array files in a folder and in the folders in it, by name."""
    found = (path for pattern in ("*", "*/*") for path in folder.glob(pattern))
    return sorted(path for path in found if path.name.lower().endswith(ENDINGS) and path.is_file())


def grid_of(array: Raw, shape: GridShape, where: str) -> Floats:
    """Features that come as an array, positions x width; DataError for another shape or numbers that are not finite."""
    values = RealArray(where, array.shape, lambda: array)
    if array.dtype.kind not in "iubf" or not 1 <= array.ndim <= 3 or 0 in array.shape:
        raise DataError(f"{where} should be real features, but is {array.dtype} of shape {array.shape}: correct it.")
    values.demand_width(shape.width, "this describer")
    if GridShape.of(array.shape).positions != shape.positions:
        raise DataError(
            f"{where} has {GridShape.of(array.shape).positions:,} vectors, but this describer has grids of "
            f"{shape.positions:,}: give features like those it was trained on."
        )
    return values[:].reshape(shape.positions, shape.width)
