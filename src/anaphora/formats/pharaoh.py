"""Word alignments in Pharaoh format: a line a pair, ``0-0 1-2``, source word and target word counted from 0."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from anaphora.errors import DataError
from anaphora.formats.lines import read_lines
from anaphora.wording import counted

_LINK = re.compile("([0-9]{1,15})-([0-9]{1,15})")

Links = frozenset[tuple[int, int]]
"""Links (i, j): word i of the source and word j of the target translate each other."""


def words_between_spaces(text: str) -> list[str]:
    """The words of a text as links count them; a no-break space or a tab is a part of the word that it stands in."""
    return [word for word in text.split(" ") if word]


def to_pharaoh(links: Iterable[tuple[int, int]]) -> str:
    """One line, in order of the source, then of the target."""
    return " ".join(f"{i}-{j}" for i, j in sorted(links))


def from_pharaoh(line: str, where: str) -> Links:
    """The links of one line; for anything else than ``i-j`` with spaces between, DataError naming ``where`` it is."""
    links = []
    for field in line.split():
        link = _LINK.fullmatch(field)
        if link is None:
            raise DataError(f"{where}: a word link should read i-j with two numbers, not {field[:60]!r}.")
        links.append((int(link[1]), int(link[2])))
    return frozenset(links)


def each_links(path: Path, pairs: int) -> Iterator[Links]:
    """The links of ``pairs`` pairs of sentences, a line each, one line at a time.

    Raises DataError as ``read_lines`` does, for a line that is none, and in the end for more or fewer lines than pairs.
    """
    number = 0
    for number, line in enumerate(read_lines(path), 1):
        yield from_pharaoh(line, f"{path}:{number}")
    if number != pairs:
        raise DataError(
            f"{path} should hold the word alignments of {counted(pairs, 'pair')}, a line each, but has "
            f"{counted(number, 'line')}: give those of the same pairs, an empty line where there is no link."
        )


def read_links(path: Path, pairs: int) -> list[Links]:
    """The same, all of them at once."""
    return list(each_links(path, pairs))


def check_links(path: Path, links: Iterable[Links], lengths: Iterable[tuple[int, int] | None]) -> None:
    """DataError for the first pair, of two ``lengths`` in words or None for one that is left out, that lacks a word."""
    for number, (found, words) in enumerate(zip(links, lengths, strict=True), 1):
        if words is not None and any(i >= words[0] or j >= words[1] for i, j in found):
            raise DataError(
                f"{path}:{number} should link the words of a pair with {words[0]} and {counted(words[1], 'word')}, "
                f"counted from 0, but has {to_pharaoh(found)}: give the links of the same text."
            )
