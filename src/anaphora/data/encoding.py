"""Encoding of lines to ids, block by block: in this process, or in several for a large corpus.

Processes take one block at a time, so that nobody waits to write to somebody who writes.
"""

import sys
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection

from anaphora.data.processes import Processes
from anaphora.data.ragged import Ragged
from anaphora.errors import AnaphoraError, DataError, RunError
from anaphora.text.tokenizer import Tokenizer

MANY = 1 << 18
"""Lines from which several processes are worth their start."""

Sides = Sequence[Sequence[str]]
"""The lines of a block, for each tokenizer."""


def encode_blocks(
    tokenizers: Sequence[Tokenizer], blocks: Iterable[Sides], threads: int, lines: int
) -> Generator[list[Ragged]]:
    """Yield the rows that each tokenizer makes of its side of each block; ``threads`` work on so many ``lines``.

    Closing it ends its processes. Raises DataError for what a tokenizer refuses, RunError where a process was killed.
    """
    if threads <= 1 or lines < MANY:
        yield from (_encode(tokenizers, sides, threads) for sides in blocks)
        return
    with Processes() as processes:
        with _without_main():
            idle, busy = deque(processes.spawn(_work, tokenizers) for _ in range(threads)), deque[Connection]()
        for sides in blocks:
            if not idle:
                idle.append(busy.popleft())
                yield _receive(idle[-1])
            idle[0].send(sides)
            busy.append(idle.popleft())
        yield from map(_receive, busy)


def _encode(tokenizers: Sequence[Tokenizer], sides: Sides, threads: int) -> list[Ragged]:
    return [Ragged.of(tokenizer.encode_lines(side, threads)) for tokenizer, side in zip(tokenizers, sides, strict=True)]


def _receive(connection: Connection) -> list[Ragged]:
    try:
        found: list[Ragged] | str = connection.recv()
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
            connection.send(_encode(tokenizers, sides, 1))
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
