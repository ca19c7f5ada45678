"""A shard: consecutive lines of a text."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from anaphora.errors import DataError

LINES = 10_000
"""Lines of a shard at most: what is lost with a killed worker."""
LEAST = 1_000
"""Lines of a shard at least, if the text has so many: a window of the translator."""
FRACTION = 32
"""A shard grows to this fraction of the lines before it, so that workers end together whatever the text's length."""
NONE: Mapping[int, str] = MappingProxyType({})
"""Faults of a text whose lines can all be read."""
LONGEST = 1 << 26
"""Bytes after which a shard ends with its line, so that few of them fit into any memory."""
MOST_FAILING = 100
"""Failing lines of one shard, above which it is no fault of lines."""


class Shard(NamedTuple):
    """The bytes from ``begin`` of a text, which end with a line feed: lines ``first`` (from 1) and those after it."""

    number: int
    first: int
    begin: int
    lines: tuple[str, ...]
    unreadable: "tuple[RefusedLine, ...]" = ()
    """Lines of it that are empty, since they are no text."""

    @property
    def source(self) -> bytes:
        """Lines in UTF-8, a line feed after each."""
        return "".join(f"{line}\n" for line in self.lines).encode()


def shards(
    lines: Iterable[str], size: int = LINES, longest: int = LONGEST, unreadable: Mapping[int, str] = NONE
) -> Iterator[Shard]:
    """The shards of a text, each of ``size`` lines at most, and of fewer in its beginning and of ``longest`` bytes.

    ``unreadable`` has what is wrong with lines, by number, once they have come. Raises DataError for a shard with more
    than ``MOST_FAILING`` of them.
    """

    def shard() -> Shard:
        numbers = range(first, first + len(kept))
        refused = tuple(RefusedLine(line, unreadable[line]) for line in numbers if line in unreadable)
        if len(refused) > MOST_FAILING:
            raise DataError(
                f"{len(refused):,} of the lines {numbers[0]:,} to {numbers[-1]:,} cannot be read. {refused[0].reason}"
            )
        return Shard(number, first, begin, tuple(kept), refused)

    kept, length, number, first, begin = list[str](), 0, 0, 1, 0
    for line in lines:
        kept.append(line)
        length += len(line.encode()) + 1
        if len(kept) == min(size, max(LEAST, first // FRACTION)) or length >= longest:
            yield shard()
            number, first, begin = number + 1, first + len(kept), begin + length
            kept, length = [], 0
    if kept:
        yield shard()


class RefusedLine(NamedTuple):
    """A line (from 1) that has no translation, and why."""

    line: int
    reason: str
