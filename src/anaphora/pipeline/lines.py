"""Lines of text as the ids of their units: one after the other, side by side, or one alone."""

from collections import abc
from collections.abc import Iterable, Iterator

import numpy as np
import torch

from anaphora.data.pairs import LazyBatches
from anaphora.evaluation.perplexity import TextSize, size_of_line
from anaphora.protocols import Batch, Sequence
from anaphora.text.coder import TextCoder

_ROWS = 64
"""Lines that are scored side by side."""


class Reading:
    """The units of a text line by line, each line closed by ``</s>``, which keeps what was read until it is taken.

    ``size`` is that of the text so far, ``known_size`` that of what its known units write, line ends included.
    """

    def __init__(self, lines: Iterable[str], coder: TextCoder) -> None:
        self._lines = lines
        self._coder = coder
        self._rows: list[list[int]] = []
        self.size = self.known_size = TextSize(0, 0, 0)

    def __iter__(self) -> Iterator[int]:
        for line in self._lines:
            ids, symbols = self._coder.encode(line), self._coder.symbols
            size = size_of_line(line)
            known = [number for number in ids if number != symbols.unk]
            self.size += size
            self.known_size += size if len(known) == len(ids) else size_of_line(self._coder.decode(known))
            row = [*ids, symbols.eos]
            self._rows.append(row)
            yield from row

    def take(self) -> list[list[int]]:
        """The lines that were begun since the last time."""
        taken, self._rows = self._rows, []
        return taken


def by_length(rows: abc.Sequence[abc.Sequence[int]], begin: int) -> LazyBatches:
    """Rows to be scored, each by itself, long ones with long ones."""
    places = np.array(sorted(range(len(rows)), key=lambda place: len(rows[place])), dtype=np.int64)

    def batch(numbers: np.ndarray) -> Batch:
        some = [rows[number] for number in numbers]
        ids_BT = torch.zeros(len(some), max(map(len, some)), dtype=torch.int64)
        for ids_T, row in zip(ids_BT, some, strict=True):
            ids_T[: len(row)] = torch.tensor(row)
        ones_B = torch.ones(len(some), dtype=torch.int64)
        return Batch(
            inputs=Sequence(torch.full((len(some), 1), begin), ones_B),
            targets=Sequence(ids_BT, torch.tensor([len(row) for row in some])),
            numbers_B=torch.from_numpy(numbers),
            continues_B=ones_B.bool().logical_not(),
        )

    return LazyBatches([places[first : first + _ROWS] for first in range(0, len(places), _ROWS)], batch)


def one_row(inputs: list[int], targets: list[int]) -> Batch:
    """One line, of which ``targets`` are given."""

    def row(ids: list[int]) -> Sequence:
        return Sequence(torch.tensor([ids], dtype=torch.int64), torch.tensor([len(ids)]))

    return Batch(row(inputs), row(targets) if targets else None, torch.tensor([0]), torch.tensor([False]))
