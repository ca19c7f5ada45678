"""Typographic variants of a character: each becomes the one that the training text of its side uses.

An apostrophe between two letters is always the most frequent one there, on both sides: l'eau and l’eau are one. Of
what is read, any other apostrophe, quote, hyphen, dash, ellipsis or full-width form becomes the most frequent of its
kind where the text hardly has it. What is written keeps them, so that quotes and code stay as they are.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Self

import regex

from anaphora.records import Record

_APOSTROPHES = "'’ʼʹ′‘´＇"
_KINDS = (_APOSTROPHES, '"“”„‟″＂', "-‐‑−－", "–—―", ("...", "…"))
_FULL_WIDTH = tuple(chr(code) + chr(code + 0xFEE0) for code in range(0x21, 0x7F) if chr(code) not in "\"'-")
_WITHIN_WORDS = regex.compile(rf"(?<=\p{{L}})[{_APOSTROPHES}](?=\p{{L}})")
_RARE = 20
"""A variant is replaced where another is more than this many times as frequent."""


class Variants(Record):
    """Variants of one side, by what a training text has."""

    apostrophe: str
    """Apostrophe between two letters; empty where there is none."""
    forms: dict[str, str]
    """Replacement of each variant."""

    @classmethod
    def learn(cls, lines: Iterable[str], written: bool) -> Self:
        """Return the variants of a training text; ``written``: of a side that is written."""
        counts, within = Counter[str](), Counter[str]()
        for line in lines:
            within.update(_WITHIN_WORDS.findall(line))
            counts.update(line)
            counts["..."] += line.count("...")
        forms = dict[str, str]()
        for kind in () if written else (*_KINDS, *_FULL_WIDTH):
            most = max(kind, key=counts.__getitem__)
            forms |= {one: most for one in kind if counts[one] * _RARE < counts[most]}
        return cls(max(within, key=within.__getitem__, default=""), forms)

    @cached_property
    def _table(self) -> Mapping[int, str]:
        return {ord(one): put for one, put in self.forms.items() if len(one) == 1}

    def unify(self, text: str) -> str:
        """Return a text with one form of each variant."""
        if self.apostrophe:
            text = _WITHIN_WORDS.sub(self.apostrophe, text)
        return text.translate(self._table).replace("...", self.forms.get("...", "..."))

    def in_lines(self, lines: Callable[[], Iterable[str]]) -> Callable[[], Iterator[str]]:
        """Return a text whose lines have one form of each."""
        return lambda: map(self.unify, lines())
