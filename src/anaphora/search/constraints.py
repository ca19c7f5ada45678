"""Constraints on outputs: a minimum length, no n-gram twice, and no other word in place of the last of a prefix."""

from typing import Any

import numpy as np

from anaphora.protocols import Array
from anaphora.search.steering import NO_EDITS, Edits, Entries, Steering


class MinimumLength(Steering):
    """Outputs of at least this many tokens before ``</s>``, those of a prefix included."""

    def __init__(self, tokens: int, eos: int) -> None:
        self._tokens, self._eos = tokens, eos

    def edits(self, ids_NT: Array, state: Any) -> Edits:
        """Ban ``</s>`` while the outputs are too short."""
        rows, written = ids_NT.shape
        if written >= self._tokens:
            return NO_EDITS
        return Edits(forbidden=Entries.one_each(np.arange(rows), self._eos))


class NoRepeatedNgrams(Steering):
    """Outputs without an n-gram of tokens that they have already (Paulus et al. 2018, section 2.5)."""

    def __init__(self, n: int) -> None:
        self._n = n

    def edits(self, ids_NT: Array, state: Any) -> Edits:
        """Ban tokens that complete an n-gram for the second time."""
        n, written = self._n, ids_NT.shape[1]
        if written < n:
            return NO_EDITS
        places = written - n + 1
        again_NP = np.ones((len(ids_NT), places), dtype=np.bool_)
        for k in range(n - 1):
            again_NP &= ids_NT[:, k : k + places] == ids_NT[:, places + k, None]
        rows_X, places_X = again_NP.nonzero()
        return Edits(forbidden=Entries(rows_X, ids_NT[rows_X, places_X + n - 1]))


class WholeWords(Steering):
    """Outputs that do not continue the last word of their prefix.

    Its state is the length of the prefix of each row.
    """

    def __init__(self, lengths_B: Array, after_V: Array) -> None:
        """``lengths_B``: int64, 0 for a prefix that needs no care; ``after_V``: the tokens that continue no word."""
        self._lengths_B = lengths_B
        self._never_X = np.flatnonzero(~after_V)

    def start(self, sentences_B: Array) -> Array:
        return self._lengths_B[sentences_B]

    def edits(self, ids_NT: Array, state: Array) -> Edits:
        """Ban tokens that continue a word directly behind a prefix."""
        rows_X = np.flatnonzero((state == ids_NT.shape[1]) & (state > 0))
        return Edits(forbidden=Entries(rows_X.repeat(len(self._never_X)), np.tile(self._never_X, len(rows_X))))
