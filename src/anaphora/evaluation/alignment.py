"""Word links: out of attention, between units and words, as Pharaoh lines, and measured against gold ones.

A link (i, j) says that unit i of the source and unit j of the target translate each other; both count from 0.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy.typing as npt

from anaphora.errors import DataError

Links = frozenset[tuple[int, int]]

_SPACE = "\u2581"
"""How the pieces of a coder show a space."""


def hard_links(weights_TS: npt.NDArray[Any], source: int, target: int) -> Links:
    """Link each of ``target`` units to the source position it looked at most (the first of equals).

    ``weights_TS`` may hold a row and a column more, of the two ``</s>``: that row is left out, and a unit that looked
    at ``</s>`` most gets no link. ``source`` and ``target`` count the units without it.
    """
    if not source or not target:
        return frozenset()
    looked_T = weights_TS[:target].argmax(axis=1)
    return frozenset((int(i), j) for j, i in enumerate(looked_T) if i < source)


def words_of(pieces: Sequence[str]) -> list[int | None]:
    """The word, counted from 0, that each piece belongs to; None for a piece that is only space."""
    words: list[int | None] = []
    word, open_word = -1, False
    for piece in pieces:
        letters = piece.strip(_SPACE)
        open_word = open_word and not piece.startswith(_SPACE)
        if letters and not open_word:
            word, open_word = word + 1, True
        words.append(word if letters else None)
        open_word = open_word and not piece.endswith(_SPACE)
    return words


def spaced(pieces: Sequence[str], space: bool) -> list[str]:
    """The pieces of a text with the space in front of the first, or without it, whatever it had."""
    first, *others = pieces or [""]
    bare = first.removeprefix(_SPACE)
    return [_SPACE + bare if space else bare, *others][: len(pieces)]


def merge(links: Iterable[tuple[int, int]], source: Sequence[int | None], target: Sequence[int | None]) -> Links:
    """Links between words, given those between pieces and the word of every piece on either side."""
    merged = ((source[i], target[j]) for i, j in links)
    return frozenset((i, j) for i, j in merged if i is not None and j is not None)


def to_pharaoh(links: Iterable[tuple[int, int]]) -> str:
    """``0-0 1-2``: one line, in order of the source, then of the target."""
    return " ".join(f"{i}-{j}" for i, j in sorted(links))


def from_pharaoh(line: str) -> Links:
    """The links of one line; DataError for anything else than ``i-j`` with spaces between."""
    links = []
    for field in line.split():
        i, dash, j = field.partition("-")
        if not (dash and i.isdecimal() and j.isdecimal()):
            raise DataError(f"A word link should read i-j with two numbers, but reads {field!r}: mend that line.")
        links.append((int(i), int(j)))
    return frozenset(links)


def alignment_error_rate(found: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links] = ()) -> float:
    """1 - (|A & S| + |A & P|) / (|A| + |S|) over all sentences, from 0, the best, to 1 (Och and Ney 2003).

    ``possible`` links are those allowed beside the sure ones, if the gold standard knows them. Raises DataError for
    unequal counts of sentences, or where there is no link at all.
    """
    if len(found) != len(sure) or len(possible) not in (0, len(sure)):
        raise DataError(
            f"Alignments should be equally many, but there are {len(found):,} found, {len(sure):,} sure and "
            f"{len(possible):,} possible ones: give those of the same sentences."
        )
    allowed = [s | p for s, p in zip(sure, possible, strict=True)] if possible else sure
    links = sum(map(len, found)) + sum(map(len, sure))
    if not links:
        raise DataError("An alignment error rate needs links, but there are none on either side: give some.")
    right = sum(len(a & s) + len(a & p) for a, s, p in zip(found, sure, allowed, strict=True))
    return 1.0 - right / links
