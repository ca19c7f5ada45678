"""A whole file with gaps, and the same file with them filled and every other byte as it was."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from html import unescape
from itertools import count
from pathlib import Path
from types import MappingProxyType

from anaphora.errors import DataError
from anaphora.formats.entries.encoded import PEEKED, Encoding
from anaphora.formats.entries.entry import Code, Entry, Fill, Gap, Put, Reason, Run, apply_edits, one_line
from anaphora.formats.entries.kinds import READERS
from anaphora.formats.lines import whole

LONGEST = 1 << 27
"""Bytes of the longest file that is written back, which is held in memory."""
MARKUP = frozenset(("tmx", "xliff", "html"))
"""Kinds that can write any character in any encoding."""
CODED = frozenset(("xliff", "html"))
"""Kinds whose inline codes stand between the texts of a sentence."""
REVIEWED = frozenset(("po", "xliff"))
"""Kinds that can say that a translation needs review."""
REPLACED = frozenset(("subtitles", "html"))
"""Kinds in which a translation takes the place of its source."""


class Document:
    """A file that may lack translations."""

    def __init__(self, content: bytes, name: str, kind: str, languages: tuple[str, str]) -> None:
        """Of the bytes of a file that messages call ``name``; ``languages`` are those of source and target.

        Raises DataError as ``kinds.read_entries``, and for bytes that the encoding would not give back.
        """
        self.kind, self.name = kind, name
        self._encoding = Encoding(content[:PEEKED], name, kind)
        self._content = b"".join(self._encoding.decode([content]))
        if self._encoding.encode(self._content) != content:
            raise DataError(f"{name} has bytes that {self._encoding.codec} would write otherwise: convert it to UTF-8.")
        self.entries: list[Entry] = list(READERS[kind](name, languages).read([self._content]))
        """All of its entries, in their order."""

    @classmethod
    def read(cls, path: Path, kind: str, languages: tuple[str, str]) -> "Document":
        """Return a file, gzipped or not. Raises DataError as above, and for one of more than ``LONGEST`` bytes."""
        return cls(whole(path, LONGEST, ": split it"), str(path), kind, languages)

    @property
    def is_foreign(self) -> bool:
        """True if entries are in other languages, and none in those of source and target."""
        ours = any(entry.gap or not entry.skipped for entry in self.entries)
        return not ours and any(entry.skipped == Reason.OTHER_LANGUAGES for entry in self.entries)

    def takes(self, text: str) -> bool:
        """True if its encoding has all characters of a text, or a way to write them."""
        return self.kind in MARKUP or not self._encoding.lacks(text)

    def sentences(self, gap: Gap) -> list[str]:
        """Return the lines to translate in a gap: the texts of its runs with short tags for the codes."""
        if self.kind == "subtitles":  # whose codes and speakers are text to others
            return [one_line(self._slice(gap.runs[0].begin, gap.runs[-1].end))]
        if self.kind not in CODED:
            texts = ([piece.text for piece in flow if isinstance(piece, Run)] for flow in gap.flows())
            return [one_line("".join(of_flow)) for of_flow in texts]
        return [text_with_tags(self._slice, flow) for flow in gap.flows()]

    def _slice(self, begin: int, end: int) -> str:
        """Return the file from one place of its runs to another."""
        return self._content[begin:end].decode(errors="ignore")

    def fill(self, translations: Mapping[int, Put], similar: Mapping[int, int] = MappingProxyType({})) -> bytes:
        """Return the file with translations, by the number of the entry what is put into its gap.

        Those that are targets of ``similar`` segments, of so many percent, are marked where the kind is ``REVIEWED``.
        Without any translation, it is the file as it was.
        """
        filled, percents = defaultdict[Fill, dict[Run | Code, str | Code]](dict), dict[Run, int]()
        for number, put in translations.items():
            gap = self.entries[number].gap
            assert gap is not None
            filled[gap.fill].update(put)
            if number in similar:
                percents[gap.runs[0]] = similar[number]
        edits = [edit for fill, put in filled.items() for edit in fill(self._content, put, percents)]
        replaced = "xmlcharrefreplace" if self.kind in MARKUP else "strict"
        return self._encoding.encode(apply_edits(self._content, edits, 0, len(self._content)), replaced)


_TAG = re.compile(
    r"<!--.*?-->|<(?P<native>bpt|ept|ph|it)\b[^<>]*+>[^<>]*+</(?P=native)>"
    r"""|<(?P<end>/?)(?P<name>[A-Za-z][^\s/<>]*+)(?:[^<>"'/]|"[^"]*+"|'[^']*+'|/(?!>))*+(?P<empty>/?)>""",
    re.DOTALL,
)
_Piece = re.Match[str] | str
"""A tag or a text."""


def text_with_tags(read: Callable[[int, int], str], flow: Sequence[Run | Code]) -> str:
    """Return the text of a sentence with a short tag for each code in it, in single spaces.

    ``read`` gives what the file has from one place to another. A tag in front of the first text stays if its partner is
    between the texts, with all that follow it; so does one behind the last text, with all before it.
    """
    pieces, runs = list[_Piece](), list[int]()
    for piece in flow:
        if isinstance(piece, Run):
            runs.append(len(pieces))
            pieces.append(piece.text)
        else:
            pieces += _pieces(read(piece.begin, piece.end))
    first, last, partners = runs[0], runs[-1], _partners(pieces)
    begin = next((place for place in range(first) if first < partners.get(place, -1) < last), first)
    end = next((place for place in range(len(pieces) - 1, last, -1) if first < partners.get(place, -1) < last), last)
    return " ".join("".join(_write(pieces[begin : end + 1], begin, partners)).split())


def _pieces(between: str) -> list[_Piece]:
    found, end = list[_Piece](), 0
    for tag in _TAG.finditer(between):
        found += [unescape(between[end : tag.start()]), tag]
        end = tag.end()
    return [*found, unescape(between[end:])]


def _partners(pieces: Sequence[_Piece]) -> dict[int, int]:
    """Return the places of tags that open and close each other."""
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


def _write(pieces: Sequence[_Piece], first: int, partners: dict[int, int]) -> list[str]:
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
