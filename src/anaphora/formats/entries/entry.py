"""An entry of a translation memory or a document: source, target, and where a missing translation goes.

Places are bytes of the file in UTF-8, which is what every reader here is given (``entries.encoded``).
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple


class Reason(StrEnum):
    """Why an entry is no pair to learn from; the data check has a rule for each."""

    UNTRANSLATED = "without a translation"
    FUZZY = "marked fuzzy"
    OBSOLETE = "marked obsolete"
    OTHER_LANGUAGES = "in other languages"
    NOT_FOR_TRANSLATION = "not to be translated"
    UNAPPROVED = "in a draft state"
    EMPTY = "without a source text"
    WITHOUT_SEG = "without a <seg> in a <tuv>"
    WITHOUT_COLUMNS = "without the columns of the heading"


class Run(NamedTuple):
    """A stretch of text between two inline codes."""

    begin: int
    end: int
    text: str
    """Unescaped."""
    flow: int = 0
    """0 is the sentence; others are texts inside of its codes, such as the title of a link."""


class Code(NamedTuple):
    """An inline code: a tag, or an element that has no text to translate."""

    begin: int
    end: int
    """Unknown to readers, which give the begin; it is where the next text or code begins."""
    flow: int = 0
    pair: str = ""
    """A name that a code has in common with the one that it opens or closes; empty for a single code."""
    opens: bool = False
    fixed: bool = False
    """True if the codes around it have to stay in their order."""


def close_code(codes: list[Code], runs: Sequence[Run], opening: Code, at: int) -> None:
    """Add the code at a place that closes one; of an element without texts and codes the two are a single one."""
    if codes[-1:] == [opening] and not (runs and runs[-1].begin > opening.begin):
        codes[-1] = opening._replace(pair="", opens=False)
    else:
        codes.append(opening._replace(begin=at, end=at, opens=False))


class Content(NamedTuple):
    """Content of an element."""

    begin: int
    """Place of its start tag."""
    end: int
    """Place of its end tag; of an empty-element tag, the place behind it."""
    runs: tuple[Run, ...]
    codes: tuple[Code, ...] = ()
    segments: Mapping[str, "Content"] = {}
    """The sentences that it is divided into, by their ids; none where ids are missing or used twice."""

    @property
    def text(self) -> str:
        """The sentence without its codes."""
        return "".join([run.text for run in self.runs if not run.flow])

    def flows(self) -> list[str]:
        """Return the sentence and the texts inside of its codes, each without codes."""
        texts: dict[int, list[str]] = {0: []}
        for run in self.runs:
            texts.setdefault(run.flow, []).append(run.text)
        return ["".join(texts[flow]) for flow in sorted(texts)]


class Edit(NamedTuple):
    """Bytes that take the place of those from ``begin`` to ``end``."""

    begin: int
    end: int
    content: bytes | Code
    """A code stands for its bytes, with the edits inside of them."""


Put = Mapping[Run | Code, str | Code]
"""Texts in the places of runs, which may be empty ones beside codes, and codes in the places of others."""
Fill = Callable[[bytes, Put, Mapping[Run, int]], list[Edit]]
"""Function from a file, its new texts, and the first runs of sentences with the target of a similar one, to edits."""


class Gap(NamedTuple):
    """A translation that is missing."""

    runs: tuple[Run, ...]
    """Texts to translate."""
    fill: Fill
    """Function from the whole file and what is put there to the edits that do so, together or not at all.

    Gaps that share this function are filled in one call. An edit that several calls return, such as the declaration of
    a language, is made once.
    """
    fits: Callable[[str], bool | None] = lambda _: True
    """True if the file allows a translation of that size; None where that cannot be measured."""
    codes: tuple[Code, ...] = ()
    """Inline codes; the last of a flow stands for its end."""

    def flows(self) -> list[list[Run | Code]]:
        """Return the texts and codes of the sentence, and those of each text inside of its codes.

        Between two texts there is a code, and codes have their ends.
        """
        found = defaultdict[int, list[Run | Code]](list)
        pieces: list[Run | Code] = [*self.runs, *self.codes]
        for piece in sorted(pieces, key=lambda piece: piece.begin):
            found[piece.flow].append(piece)
        return [list(_whole_codes(found[flow])) for flow in sorted({run.flow for run in self.runs})]


def _whole_codes(pieces: Sequence[Run | Code]) -> Iterator[Run | Code]:
    """Yield the texts and codes of a flow, all codes with their ends, those included that a reader does not tell."""
    for piece, following in pairwise(pieces):
        if isinstance(piece, Code):
            yield piece._replace(end=following.begin)
            continue
        yield piece
        if isinstance(following, Run) or following.begin > piece.end:
            yield Code(piece.end, following.begin, piece.flow)
    if isinstance(pieces[-1], Run):
        yield pieces[-1]


class Entry(NamedTuple):
    """One entry."""

    line: int
    """Number of its first line, from 1."""
    source: str
    target: str
    skipped: str = ""
    """Why it is no pair to learn from; empty for one that is."""
    gap: Gap | None = None
    """Place of its translation, if it has none and may have one."""

    @classmethod
    def untranslated(cls, line: int, source: str, gap: Gap | None) -> "Entry":
        """Return an entry that lacks a translation; its source may have several lines."""
        return cls(line, one_line(source), "", Reason.UNTRANSLATED, gap)


_BREAK = re.compile(r"[\t\n\r\v\f\x85\u2028\u2029]")


def one_line(text: str) -> str:
    """Return a text on one line, with a space for each line end or tab, and none at its ends."""
    return " ".join(filter(None, map(str.strip, _BREAK.split(text))))


def pairs(source: Content, target: Content) -> list[tuple[str, str]]:
    """Return the sentence with its translation; and the texts inside of its codes, where both have as many of them."""
    flows = source.flows(), target.flows()
    count = len(flows[0]) if len(flows[0]) == len(flows[1]) else 1
    return [(one_line(one), one_line(other)) for one, other in list(zip(*flows, strict=False))[:count]]


def apply_edits(content: bytes, edits: Sequence[Edit], begin: int, end: int) -> bytes:
    """Return the content between two places with the edits, each once, in their order if they are of the same place."""
    ordered = sorted(dict.fromkeys(edits), key=lambda edit: (edit.begin, edit.end))
    return b"".join(_edited(content, ordered, begin, end))


def _edited(content: bytes, edits: Sequence[Edit], begin: int, end: int) -> Iterator[bytes]:
    for place in range(bisect_left(edits, begin, key=lambda edit: edit.begin), len(edits)):
        edit = edits[place]
        if edit.end > end:
            break
        if edit.begin < begin:  # inside of a code that has another place
            continue
        yield content[begin : edit.begin]
        if isinstance(edit.content, bytes):
            yield edit.content
        elif (code := edit.content).end > code.begin:
            yield content[code.begin : code.begin + 1]
            yield from _edited(content, edits, code.begin + 1, code.end - 1)
            yield content[code.end - 1 : code.end]
        begin = edit.end
    yield content[begin:end]


def matches(code: str, wanted: str) -> bool:
    """True if text in the language ``code`` is in the one ``wanted``: en-US is en, but en need not be en-US."""
    code, wanted = (name.strip().replace("_", "-").casefold() for name in (code, wanted))
    return code == wanted or (bool(wanted) and code.startswith(f"{wanted}-"))


def places_of(codes: Sequence[str], wanted: str, other: str) -> list[int]:
    """Return the places of the codes of a language: exactly that, or else of varieties that are not the ``other``."""
    every = [place for place, code in enumerate(codes) if matches(code, wanted)]
    exact = [place for place in every if matches(wanted, codes[place])]
    return exact or [place for place in every if not matches(other, codes[place])]


class Reader:
    """The entries of one file."""

    def __init__(self, name: str, languages: tuple[str, str]) -> None:
        """Of a file that messages call ``name``, in the ``languages`` of source and target."""
        self.name = name
        self.source, self.target = (code.replace("_", "-") for code in languages)  # as BCP 47 writes codes

    def read(self, pieces: Iterable[bytes]) -> Iterator[Entry]:
        """Return the entries of a file in UTF-8; DataError, with the line, for what is not in its format."""
        raise NotImplementedError
