"""Strings that an output must not spell in any tokens: for what comes back from its source by other means.

A model that was trained on placeholders, tags or addresses may write one by itself beside the one that is put there.
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from anaphora.protocols import Array
from anaphora.search.steering import NO_EDITS, Edits, Entries, Steering

_BREAK = "\0"
"""Between tokens; in no text."""


class Spelling:
    """Text of each token of a vocabulary."""

    def __init__(self, writes: Sequence[str]) -> None:
        """``writes``: the text of each token, empty for one that writes nothing."""
        self._joined = _BREAK + _BREAK.join(writes) + _BREAK
        self._starts = [1]
        for one in writes[:-1]:
            self._starts.append(self._starts[-1] + len(one) + len(_BREAK))
        self._writes = writes
        self.letters = frozenset("".join(writes))
        self.containing = cache(self._tokens_at)
        """The tokens with a text anywhere inside, by the text."""
        self.beginning = cache(lambda text: self._tokens_at(_BREAK + text))
        """The tokens that begin with a text."""

    def after(self, text: str, token: int) -> str:
        """Return the text with what one more token writes; nothing after a token behind the vocabulary."""
        return text + self._writes[token] if token < len(self._writes) else ""

    def _tokens_at(self, text: str) -> list[int]:
        found, place = list[int](), self._joined.find(text)
        while place >= 0:
            found.append(bisect_right(self._starts, place + text.startswith(_BREAK)) - 1)
            place = self._joined.find(text, place + 1)
        return found


class _State(NamedTuple):
    sentences: list[int]
    written: list[str]
    """The end of what each row has written."""


class BannedStrings(Steering):
    """Forbids the token that would complete a text."""

    def __init__(self, texts_B: Sequence[Sequence[str]], spelling: Spelling) -> None:
        """``texts_B``: those of each sentence, as ``spelling`` writes them."""
        self._texts_B, self._spelling = texts_B, spelling
        self._longest = max(len(text) for texts in texts_B for text in texts)

    def start(self, sentences_B: Array) -> _State:
        numbers = sentences_B.tolist()
        return _State(numbers, [""] * len(numbers))

    def edits(self, ids_NT: Array, state: _State) -> Edits:
        """No token that completes one of the texts of its sentence, or has it inside."""
        rows, ids = list[int](), list[int]()
        for row, (sentence, written) in enumerate(zip(*state, strict=True)):
            for text in self._texts_B[sentence]:
                found = [*self._spelling.containing(text)]
                for size in range(1, len(text)):
                    if written.endswith(text[:size]):
                        found += self._spelling.beginning(text[size:])
                rows += [row] * len(found)
                ids += found
        if not rows:
            return NO_EDITS
        return Edits(forbidden=Entries(np.array(rows), np.array(ids)))

    def extend(self, state: _State, rows_N: Array, ids_N: Array) -> _State:
        sentences, written = list[int](), list[str]()
        for row, token in zip(rows_N.tolist(), ids_N.tolist(), strict=True):
            sentences.append(state.sentences[row])
            written.append(self._spelling.after(state.written[row], token)[-self._longest :])
        return _State(sentences, written)
