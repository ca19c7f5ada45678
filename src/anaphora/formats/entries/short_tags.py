"""Inline codes as OmegaT shows them: ``<b0>``, ``</b0>``, ``<br1/>``, numbered in the order in which they open."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from html import unescape
from itertools import count

from anaphora.formats.entries.entry import Run

_TAG = re.compile(
    r"<!--.*?-->|<(?P<native>bpt|ept|ph|it)\b[^<>]*+>[^<>]*+</(?P=native)>"
    r"""|<(?P<end>/?)(?P<name>[A-Za-z][^\s/<>]*+)(?:[^<>"'/]|"[^"]*+"|'[^']*+'|/(?!>))*+(?P<empty>/?)>""",
    re.DOTALL,
)
_NEAR = 2000
"""Characters in front of a text, and behind it, in which its tags stand."""

_Piece = re.Match[str] | str
"""A tag or a text."""


def short_tagged(read: Callable[[int, int], str], runs: Sequence[Run]) -> str:
    """The text of runs with a short tag for each code between them, in single spaces.

    ``read`` gives what the file has from one place to another. A tag in front of the first run stays if its partner is
    between the runs, with all that follow it; so does one behind the last run, with all before it.
    """
    before = _tags_at_end(read(max(0, runs[0].begin - _NEAR), runs[0].begin))
    pieces: list[_Piece] = [*before]
    for run, following in zip(runs, [*runs[1:], None], strict=True):
        pieces.append(run.text)
        if following is not None:
            pieces += _pieces(read(run.end, following.begin))
    first, last = len(before), len(pieces) - 1
    pieces += _tags_at_start(read(runs[-1].end, runs[-1].end + _NEAR))
    partners = _partners(pieces)
    begin = next((place for place in range(first) if first < partners.get(place, -1) < last), first)
    end = next((place for place in range(len(pieces) - 1, last, -1) if first < partners.get(place, -1) < last), last)
    return " ".join("".join(_written(pieces[begin : end + 1], begin, partners)).split())


def _pieces(between: str) -> list[_Piece]:
    found, end = list[_Piece](), 0
    for tag in _TAG.finditer(between):
        found += [unescape(between[end : tag.start()]), tag]
        end = tag.end()
    return [*found, unescape(between[end:])]


def _tags_at_end(text: str) -> list[_Piece]:
    begin = len(text)
    while text[:begin].rstrip().endswith(">") and (at := text.rfind("<", 0, begin)) >= 0:
        begin = at
    return [tag for tag in _TAG.finditer(text, begin)]


def _tags_at_start(text: str) -> list[_Piece]:
    found, end = list[_Piece](), 0
    while tag := _TAG.match(text, len(text) - len(text[end:].lstrip())):
        found.append(tag)
        end = tag.end()
    return found


def _partners(pieces: Sequence[_Piece]) -> dict[int, int]:
    """The places of tags that open and close each other."""
    partners = dict[int, int]()
    opened = defaultdict[str, list[int]](list)
    for place, piece in enumerate(pieces):
        if isinstance(piece, str) or not piece["name"] or piece["empty"]:
            continue
        if not piece["end"]:
            opened[piece["name"].lower()].append(place)
        elif opened[piece["name"].lower()]:
            partner = opened[piece["name"].lower()].pop()
            partners |= {place: partner, partner: place}
    return partners


def _written(pieces: Sequence[_Piece], first: int, partners: dict[int, int]) -> list[str]:
    """Pieces as text; ``first`` is the place of the first among those that ``partners`` counts."""
    written, numbers, free = list[str](), dict[int, int](), count()
    for place, piece in enumerate(pieces, first):
        if isinstance(piece, str):
            written.append(piece)
            continue
        opened = numbers.get(partners.get(place, -1))
        number = numbers[place] = next(free) if opened is None else opened
        name = (piece["name"] or piece["native"] or "c").lower()
        letter = name if name == "br" else name[0]
        empty = "/" if not piece["name"] or piece["empty"] else ""
        written.append(f"<{piece['end'] or ''}{letter}{number}{empty}>")
    return written
