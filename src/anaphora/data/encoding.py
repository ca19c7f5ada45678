"""Lines to ids, a block at a time: in this process, or for large corpora in several, one for each thread of torch.

Processes take one block at a time, so that nobody waits to write to somebody who writes.
"""

import sys
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from anaphora.data.processes import Processes
from anaphora.errors import AnaphoraError, DataError, RunError
from anaphora.text.tokenizer import Tokenizer, encode_lines

if TYPE_CHECKING:
    from anaphora.data.columns import Integers

    Marks = np.ndarray[Any, np.dtype[np.bool_]]

MANY = 1 << 18
"""Lines from which several processes are worth their start."""

Sides = Sequence[Sequence[str]]
"""The lines of a block, for each tokenizer."""


class Rows(NamedTuple):
    """Encoded values: their numbers one after the other, and how many positions each value has."""

    numbers: Any
    """N, or N x width where a position has several numbers."""
    lengths: "Integers"

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Self:
        """Return those of every line."""
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        return cls(np.fromiter(chain.from_iterable(rows), np.int64, int(lengths.sum())), lengths)

    @classmethod
    def of_arrays(cls, rows: Sequence[Any], width: int) -> Self:
        """Return arrays of T x ``width`` one after the other."""
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        return cls(np.concatenate([np.zeros((0, width), np.float32), *rows]), lengths)

    @classmethod
    def together(cls, parts: Sequence["Rows"]) -> Self:
        """Return the rows of several, one at least, one after the other."""
        return cls(np.concatenate([part.numbers for part in parts]), np.concatenate([part.lengths for part in parts]))

    def kept(self, marked: "Marks") -> Self:
        """Return the rows that are marked."""
        return type(self)(self.numbers[np.repeat(marked, self.lengths)], self.lengths[marked])

    def truncated(self, longest: int) -> Self:
        """Return the first ``longest`` positions of every row."""
        if (self.lengths <= longest).all():
            return self
        starts = np.cumsum(self.lengths) - self.lengths
        inside = np.arange(len(self.numbers)) - np.repeat(starts, self.lengths) < longest
        return type(self)(self.numbers[inside], np.minimum(self.lengths, longest))

    def each(self) -> list[list[int]]:
        """Return the ids of every line."""
        return [row.tolist() for row in np.split(self.numbers, np.cumsum(self.lengths)[:-1])]


def encoded(
    tokenizers: Sequence[Tokenizer], blocks: Iterable[Sides], threads: int, lines: int
) -> Generator[list[Rows]]:
    """Yield the rows that each tokenizer makes of its side of each block; ``threads`` work on so many ``lines``.

    Closing it ends its processes. Raises DataError for what a tokenizer refuses, RunError where a process was killed.
    """
    if threads <= 1 or lines < MANY:
        yield from (_encoded(tokenizers, sides, threads) for sides in blocks)
        return
    with Processes() as processes:
        with _without_main():
            idle, busy = deque(processes.spawn(_work, tokenizers) for _ in range(threads)), deque[Connection]()
        for sides in blocks:
            if not idle:
                idle.append(busy.popleft())
                yield _received(idle[-1])
            idle[0].send(sides)
            busy.append(idle.popleft())
        yield from map(_received, busy)


def _encoded(tokenizers: Sequence[Tokenizer], sides: Sides, threads: int) -> list[Rows]:
    return [Rows.of(encode_lines(tokenizer, side, threads)) for tokenizer, side in zip(tokenizers, sides, strict=True)]


def _received(connection: Connection) -> list[Rows]:
    try:
        found: list[Rows] | str = connection.recv()
    except (EOFError, ConnectionError):
        raise RunError(
            "A process that encodes the corpus was killed: is there memory for all? Use fewer threads."
        ) from None
    if isinstance(found, str):
        raise DataError(found)
    return found


def _work(connection: Connection, tokenizers: Sequence[Tokenizer]) -> None:
    while True:
        sides: Sides = connection.recv()
        try:
            connection.send(_encoded(tokenizers, sides, 1))
        except AnaphoraError as error:
            connection.send(str(error))


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the script of this process, which a spawned one would run too, unless it is written for that."""
    main = sys.modules["__main__"]
    hidden = {name: getattr(main, name) for name in ("__spec__", "__file__") if hasattr(main, name)}
    for name in hidden:
        setattr(main, name, None)
    try:
        yield
    finally:
        for name, value in hidden.items():
            setattr(main, name, value)
