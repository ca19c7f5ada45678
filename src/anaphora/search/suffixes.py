"""Outputs that end with a given suffix, for all rows of a search at once.

``</s>`` waits until the last tokens of a row are its suffix, which a table follows (Knuth, Morris and Pratt 1977). Near
the maximum length only tokens may be written that leave room for the rest of it: so every output has its suffix. A beam
gives places to hypotheses that have written any part of it (Post and Vilar 2018).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from anaphora.batch import pad
from anaphora.protocols import Array
from anaphora.search.steering import Edits, Entries, Form, Steering


class _State(NamedTuple):
    sentences_N: Array
    written_N: Array
    """int64: the number of tokens of its suffix that each row ends with."""
    step: int


class Suffixes(Steering):
    """Steers a search to the suffixes of one batch."""

    allocates_beam = True

    def __init__(self, suffixes: Sequence[Form], lengths_B: Array, eos: int) -> None:
        """``suffixes`` of the sentences, empty for none.

        ``lengths_B``: int64, the maximum number of tokens of each output, ``</s>`` included.
        """
        tokens_B = [sorted(set(suffix)) for suffix in suffixes]
        self._sizes_B, self._tokens_BT = np.array(list(map(len, suffixes))), pad(tokens_B, value=-1).ids_BT
        shape = len(suffixes), self._sizes_B.max() + 1, self._tokens_BT.shape[1]
        self._next_BKT = np.zeros(shape, np.int64)  # how much is written, by how much was and by the token
        for next_KT, suffix, tokens in zip(self._next_BKT, suffixes, tokens_B, strict=True):
            shorter = 0
            for written, place in enumerate(map(tokens.index, suffix)):
                following = next_KT[shorter, place]
                next_KT[written] = next_KT[shorter]
                next_KT[written, place], shorter = written + 1, following
            next_KT[len(suffix)] = next_KT[shorter]
        self._lengths_B, self._eos = lengths_B, eos

    def start(self, sentences_B: Array) -> _State:
        return _State(sentences_B, np.zeros_like(sentences_B), 0)

    def edits(self, ids_NT: Array, state: _State) -> Edits:
        """Ban ``</s>`` before the suffix, and near the end all that leaves no room for the rest of it."""
        sizes_N, lengths_N = self._sizes_B[state.sentences_N], self._lengths_B[state.sentences_N]
        complete_N = state.written_N == sizes_N
        early_X = np.flatnonzero(~complete_N)
        forbidden = Entries.one_each(early_X, self._eos)
        least_N = sizes_N + 2 - (lengths_N - state.step)  # of the suffix that has to be written after the next token
        tight_N = (sizes_N > 0) & (least_N > 0)
        if not tight_N.any():
            return Edits(forbidden=forbidden)
        rows_X, ids_X, written_X = self._continuations(state)
        kept_X = tight_N[rows_X] & (written_X >= least_N[rows_X])
        ending = Entries.one_each(np.flatnonzero(tight_N & complete_N), self._eos)
        return Edits(only=Entries.concatenate(Entries(rows_X[kept_X], ids_X[kept_X]), ending), forbidden=forbidden)

    def proposals(self, ids_NT: Array, state: _State) -> Entries:
        """Return the tokens that begin or continue the suffix, and the end behind it."""
        rows_X, ids_X, _ = self._continuations(state)
        sizes_N = self._sizes_B[state.sentences_N]
        complete_N = (sizes_N > 0) & (state.written_N == sizes_N)
        return Entries.concatenate(Entries(rows_X, ids_X), Entries.one_each(np.flatnonzero(complete_N), self._eos))

    def extend(self, state: _State, rows_N: Array, ids_N: Array) -> _State:
        return _State(state.sentences_N[rows_N], self.constraints_met(state, rows_N, ids_N), state.step + 1)

    def constraints_met(self, state: _State, rows_X: Array, ids_X: Array) -> Array:
        """Return the number of tokens of its suffix that a row ends with."""
        sentences_X = state.sentences_N[rows_X]
        next_XT = self._next_BKT[sentences_X, state.written_N[rows_X]]
        found: Array = (next_XT * (self._tokens_BT[sentences_X] == ids_X[:, None])).max(axis=1)
        return found

    def _continuations(self, state: _State) -> tuple[Array, Array, Array]:
        """Rows, tokens of their suffixes after which they end with a part of it, and how much of it."""
        tokens_NT = self._tokens_BT[state.sentences_N]
        rows_X, places_X = (tokens_NT >= 0).nonzero()
        ids_X = tokens_NT[rows_X, places_X]
        written_X = self.constraints_met(state, rows_X, ids_X)
        begun_X = written_X > 0
        return rows_X[begun_X], ids_X[begun_X], written_X[begun_X]
