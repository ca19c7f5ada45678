"""Sequences of real-valued vectors."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from anaphora.batch import Values
from anaphora.data.columns import FLOATS, Integers
from anaphora.data.fields.field import Field, Place
from anaphora.data.ragged import Ragged
from anaphora.errors import DataError
from anaphora.formats.arrays import Floats


class Vectors(Field[Floats]):
    """Sequences of vectors of one width, T x D."""

    unit = "vector"
    bound = FLOATS

    def __init__(self, name: str, width: int, get: Callable[[Any], Floats], *, longest: int = 0) -> None:
        """With ``longest`` > 0, sequences are truncated to so many vectors."""
        super().__init__(name, get)
        self.width, self._longest = width, longest

    @property
    def identity(self) -> Sequence[object]:
        return [self.width, self._longest]

    def encode(self, values: Sequence[Floats], place: Place) -> Ragged:
        for number, values_TD in enumerate(values):
            if values_TD.shape[1] != self.width:
                raise DataError(
                    f"{place(number)} has vectors of {values_TD.shape[1]} numbers, but those of the training split "
                    f"have {self.width}: give all of them the same width."
                )
        return Ragged.of_arrays(values, self.width).truncate(self._longest)

    def items(self, rows: Ragged, chosen: Integers, multiple: int = 1) -> Values:
        return pad_vectors(cast(Sequence[Floats], rows.split(chosen)), multiple)


def pad_vectors(rows: Sequence[Floats], multiple: int = 1) -> Values:
    """Return rows of vectors as one rectangle, 0 in the padding, its width a multiple of ``multiple``."""
    lengths = [len(row) for row in rows]
    block = np.zeros((len(rows), -(-max(lengths) // multiple) * multiple, rows[0].shape[1]), np.float32)
    for line, row in zip(block, rows, strict=True):
        line[: len(row)] = row
    return Values(block, np.array(lengths))


def finite_vectors(place: str, values: Any) -> Floats:
    """Return the vectors of a sequence that a caller gave, T x D; a single vector may be given as D.

    Raises DataError for another shape, and for numbers that are not finite.
    """
    try:
        values_TD = np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{place} should be an array of numbers, steps x width, but is none ({error}): give one."
        ) from None
    if values_TD.ndim not in (1, 2) or not values_TD.size:
        raise DataError(f"{place} should be steps x width, but its shape is {values_TD.shape}: reshape it.")
    if not np.isfinite(values_TD).all():
        raise DataError(f"{place} has a number that is not finite: correct it.")
    return values_TD.reshape(-1, values_TD.shape[-1])


def moments(traces: Iterator[Any], scale: Callable[[Any], Floats]) -> tuple[list[float], list[float]]:
    """Return mean and standard deviation of each number of sequences with a ``place``; 1 for one that never varies.

    Raises DataError for vectors of several widths.
    """
    count, total, squares, begin = 0, np.zeros(1), np.zeros(1), np.zeros(1)
    for trace in traces:
        values_TD = scale(trace)
        if count and values_TD.shape[1] != len(total):
            raise DataError(
                f"{trace.place} has vectors of {values_TD.shape[1]} numbers, but those before have {len(total)}: give "
                f"vectors of one width."
            )
        begin = begin if count else values_TD[:1].sum(0)
        moved_TD = values_TD - begin  # squares of what lies far from 0 leave nothing of a small deviation
        count, total, squares = count + len(moved_TD), total + moved_TD.sum(0), squares + (moved_TD**2).sum(0)
    mean = total / count
    deviation = np.sqrt(np.maximum(squares / count - mean**2, 0))
    return (begin + mean).tolist(), np.where(deviation > 0, deviation, 1.0).tolist()
