"""An entry of a translation memory or a document: source, target, and where a missing translation goes.

Places are bytes of the file in UTF-8, which is what every reader here is given (``entries.encoded``).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import groupby
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


class Content(NamedTuple):
    """Content of an element."""

    begin: int
    """Place of its start tag."""
    end: int
    """Place of its end tag; of an empty-element tag, the place behind it."""
    runs: tuple[Run, ...]
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
    content: bytes


class Gap(NamedTuple):
    """A translation that is missing."""

    runs: tuple[Run, ...]
    """Texts to translate."""
    fill: Callable[[bytes, Mapping[Run, str]], list[Edit]]
    """From the whole file and translations of runs: the edits that put them there, together or not at all.

    Gaps that share this function are filled in one call. An edit that several calls return, such as the declaration of
    a language, is made once.
    """
    fits: Callable[[str], bool | None] = lambda _: True
    """True if the file allows a translation of that size; None where that cannot be measured."""

    def flows(self) -> list[list[Run]]:
        """Return the runs of the sentence, and those of each text inside of its codes."""
        return [list(runs) for _, runs in groupby(self.runs, key=lambda run: run.flow)]


class Entry(NamedTuple):
    """One entry."""

    line: int
    """Its first line, from 1."""
    source: str
    target: str
    skipped: str = ""
    """Why it is no pair to learn from; empty for one that is."""
    gap: Gap | None = None
    """Place of its translation, if it has none and may have one."""


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
    parts = []
    for edit in sorted(dict.fromkeys(edits), key=lambda edit: (edit.begin, edit.end)):
        parts += [content[begin : edit.begin], edit.content]
        begin = edit.end
    return b"".join([*parts, content[begin:end]])


def matches(code: str, wanted: str) -> bool:
    """True if text in the language ``code`` is in the one ``wanted``: en-US is en, but en need not be en-US."""
    code, wanted = (name.strip().replace("_", "-").casefold() for name in (code, wanted))
    return code == wanted or (bool(wanted) and code.startswith(f"{wanted}-"))


class Reader:
    """The entries of one file."""

    def __init__(self, name: str, languages: tuple[str, str]) -> None:
        """Of a file that messages call ``name``, in the ``languages`` of source and target."""
        self.name, (self.source, self.target) = name, languages

    def read(self, pieces: Iterable[bytes]) -> Iterator[Entry]:
        """Return the entries of a file in UTF-8; DataError, with the line, for what is not in its format."""
        raise NotImplementedError
