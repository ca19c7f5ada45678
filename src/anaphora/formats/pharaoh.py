"""Word alignments in Pharaoh format: a line a pair, ``0-0 1-2``, source word and target word counted from 0."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from anaphora.errors import DataError
from anaphora.formats.lines import read_lines
from anaphora.wording import inflect

_LINK = re.compile("([0-9]{1,15})-([0-9]{1,15})")

Links = frozenset[tuple[int, int]]
"""Links (i, j): word i of the source and word j of the target translate each other."""


def words_between_spaces(text: str) -> list[str]:
    """Return the words of a text as links count them.

    A no-break space or a tab is a part of the word that it stands in.
    """
    return [word for word in text.split(" ") if word]


def to_pharaoh(links: Iterable[tuple[int, int]]) -> str:
    """Return one line, in order of the source, then of the target."""
    return " ".join(f"{i}-{j}" for i, j in sorted(links))


def from_pharaoh(line: str, where: str) -> Links:
    """Return the links of one line.

    For anything else than ``i-j`` with spaces between, DataError naming ``where`` it is.
    """
    links = []
    for field in line.split():
        link = _LINK.fullmatch(field)
        if link is None:
            raise DataError(f"{where}: a word link should read i-j with two numbers, not {field[:60]!r}.")
        links.append((int(link[1]), int(link[2])))
    return frozenset(links)


def each_links(path: Path, lengths: Iterable[tuple[int, int] | None]) -> Iterator[Links]:
    """Yield the links of pairs of sentences, a line each, one line at a time.

    ``lengths`` has the words on both sides of each pair, or None where links are not compared with them. Raises
    DataError as ``read_lines`` does, for a line that is none, in the end for more or fewer lines than pairs, and then
    for a link to a word that is not there, after which no more links come.
    """
    lines, pairs, number, fault = read_lines(path), 0, 0, ""
    for words in lengths:
        line = next(lines, None)
        pairs, number = pairs + 1, number + (line is not None)
        if line is None or fault:
            continue
        links = from_pharaoh(line, f"{path}:{number}")
        if words is None or all(i < words[0] and j < words[1] for i, j in links):
            yield links
            continue
        fault = (
            f"{path}:{number} should link the words of a pair with {words[0]} and {inflect(words[1], 'word')}, "
            f"counted from 0, but has {to_pharaoh(links)}: give the links of the same text."
        )
    number += sum(1 for _ in lines)
    if number != pairs:
        raise DataError(
            f"{path} should hold the word alignments of {inflect(pairs, 'pair')}, a line each, but has "
            f"{inflect(number, 'line')}: give those of the same pairs, an empty line where there is no link."
        )
    if fault:
        raise DataError(fault)
