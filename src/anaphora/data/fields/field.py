"""The contract of fields: how a kind of value is encoded, stored and padded."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from anaphora.batch import Items
from anaphora.data.columns import UNBOUNDED, Bound, Integers, Table, Writer
from anaphora.data.ragged import Ragged

Value = TypeVar("Value")

Place = Callable[[int], str]
"""Name of the place that a value of several is from, for errors: ``train.tsv:7``, or ``Text 7``."""


class Field(ABC, Generic[Value]):
    """One kind of input or target of examples.

    A field takes its value out of an example, encodes values as rows of numbers, keeps the rows in the columns of a
    store, and pads rows into the value that a network reads or predicts.
    """

    name: str
    """Prefix of its columns."""
    get: Callable[[Any], Value]
    """Return the value of an example."""
    unit: str
    """Noun of one position of a row: "token", "vector"."""
    bound: Bound
    """Bound of the numbers in its rows."""
    width: int = 1
    """Numbers of one position."""

    def __init__(self, name: str, get: Callable[[Any], Value]) -> None:
        self.name, self.get = name, get

    @property
    @abstractmethod
    def identity(self) -> Sequence[object]:
        """Everything that decides which numbers a value becomes, as JSON has it."""

    @property
    def columns(self) -> Mapping[str, Bound]:
        """Columns of a store with their bounds."""
        return {f"{self.name}.ids": self.bound, f"{self.name}.ends": UNBOUNDED}

    @abstractmethod
    def encode(self, values: Sequence[Value], place: Place) -> Ragged:
        """Return a row for each value; DataError with its ``place`` for one that is refused."""

    def appender(self, into: Writer) -> Callable[[Ragged], None]:
        """Return what appends rows, from the first to the last, to the columns of a store."""
        return lambda rows: into.extend(self.name, np.asarray(rows.ids), rows.lengths)

    def from_store(self, table: Table) -> Any:
        """Return the rows in the columns of a store, in the form that ``lengths`` and ``items`` take."""
        numbers: Any = table[f"{self.name}.ids"]
        if isinstance(self.bound, np.dtype):
            numbers = numbers[:].reshape(-1, self.width)
        return Ragged(numbers, table[f"{self.name}.ends"])

    def from_memory(self, rows: Ragged) -> Any:
        """Return rows in memory in the form that ``lengths`` and ``items`` take."""
        return rows

    def lengths(self, rows: Any) -> Integers:
        """Return the number of positions that each row has in a batch."""
        return np.asarray(rows.lengths)

    @abstractmethod
    def items(self, rows: Any, chosen: Integers, multiple: int = 1) -> Items:
        """Return the ``chosen`` rows side by side, padded to a width that is a multiple of ``multiple``."""


def distinct_appender(into: Writer, name: str, add: Callable[[str], None]) -> Callable[[Ragged], None]:
    """Return what appends rows of strings as numbers of distinct ones; ``add`` takes each string that is new."""
    numbers: dict[str, int] = {}

    def append(rows: Ragged) -> None:
        numbered, new = rows.as_numbers(numbers)
        for value in new:
            add(value)
        into.extend(name, np.asarray(numbered.ids), numbered.lengths)

    return append
