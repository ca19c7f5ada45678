"""A shard: consecutive lines of a text, and the note that is kept beside their translations."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from anaphora.errors import DataError, RunError
from anaphora.files import DamagedError, is_sealed, json_bytes, parse_json, sealed, sha256

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
MOST_NOTED = 1 << 26
"""Bytes of the largest note that is read."""


class Shard(NamedTuple):
    """The bytes from ``begin`` of a text, which end with a line feed: lines ``first`` (from 1) and those after it."""

    number: int
    first: int
    begin: int
    lines: tuple[str, ...]
    unreadable: "tuple[Refused, ...]" = ()
    """Lines of it that are empty, since they are no text."""

    @property
    def source(self) -> bytes:
        """Its lines in UTF-8, a line feed after each."""
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
        refused = tuple(Refused(line, unreadable[line]) for line in numbers if line in unreadable)
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


class Refused(NamedTuple):
    """A line (from 1) that has no translation, and why."""

    line: int
    reason: str


class Finished(NamedTuple):
    """Note about the translations of a shard, in a file of JSON beside them."""

    number: int
    first: int
    lines: int
    begin: int
    """The first byte of its lines in the text, as UTF-8 with line feeds alone."""
    end: int
    """The byte after the last."""
    source: str
    """SHA-256 of those bytes."""
    size: int
    """Bytes of the translations."""
    translations: str
    """SHA-256 of the translations."""
    made_by: str
    """Identity of the translator: see ``folder.Identity``."""
    refused: tuple[Refused, ...]

    @classmethod
    def of(cls, shard: Shard, translations: bytes, made_by: str, refused: Iterable[Refused]) -> Self:
        """Return the note of a shard that was translated."""
        source = shard.source
        text = shard.number, shard.first, len(shard.lines), shard.begin, shard.begin + len(source), sha256(source)
        return cls(*text, len(translations), sha256(translations), made_by, tuple(refused))

    def serialise(self) -> bytes:
        """Return the note as JSON with its own SHA-256."""
        return json_bytes(sealed(self._asdict()))

    @classmethod
    def parse(cls, content: bytes, path: Path) -> Self:
        """Return the note in a file; DamagedError where it is not what was written."""
        table: dict[str, Any] = parse_json(content, path)
        if not is_sealed(table) or table.keys() != {*cls._fields, "sha256"}:
            raise DamagedError(f"{path} was changed after it was written: its content does not fit its own SHA-256.")
        del table["sha256"]
        return cls(**table | {"refused": tuple(Refused(*one) for one in table["refused"])})

    def demand(self, shard: Shard, made_by: str, path: Path) -> None:
        """Raise RunError where it is of other lines than those of ``shard``, or made by another translator."""
        if self.made_by != made_by:
            raise RunError(
                f"{path} is a shard of another model or of other search options: remove its folder to translate "
                f"everything again, or name another output."
            )
        if self.source != sha256(shard.source):
            raise RunError(
                f"{path} is of a text with other lines {self.first:,} to {self.first + self.lines - 1:,}: restore "
                f"that text, or remove the folder to translate everything again."
            )
