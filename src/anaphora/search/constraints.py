"""Constraints on outputs: a minimum length, no n-gram twice, and no other word in place of the last of a prefix."""

from typing import Any

import torch
from torch import Tensor

from anaphora.search.steering import NO_EDITS, Edits, Entries, Steering


class MinimumLength(Steering):
    """Outputs of at least this many tokens before ``</s>``, those of a prefix included."""

    def __init__(self, tokens: int, eos: int) -> None:
        self._tokens, self._eos = tokens, eos

    def edits(self, ids_NT: Tensor, state: Any) -> Edits:
        """Ban ``</s>`` while the outputs are too short."""
        rows, written = ids_NT.shape
        if written >= self._tokens:
            return NO_EDITS
        rows_N = torch.arange(rows, device=ids_NT.device)
        return Edits(forbidden=Entries.one_each(rows_N, self._eos))


class NoRepeatedNgrams(Steering):
    """Outputs without an n-gram of tokens that they have already (Paulus et al. 2018, section 2.5)."""

    def __init__(self, n: int) -> None:
        self._n = n

    def edits(self, ids_NT: Tensor, state: Any) -> Edits:
        """Ban tokens that complete an n-gram for the second time."""
        n, written = self._n, ids_NT.shape[1]
        if written < n:
            return NO_EDITS
        ngrams_NPn = ids_NT.unfold(1, n, 1)
        again_NP = (ngrams_NPn[:, :, : n - 1] == ids_NT[:, None, written - n + 1 :]).all(dim=2)
        rows_X, places_X = again_NP.nonzero(as_tuple=True)
        return Edits(forbidden=Entries(rows_X, ngrams_NPn[rows_X, places_X, n - 1]))


class WholeWords(Steering):
    """Outputs that do not continue the last word of their prefix.

    Its state is the length of the prefix of each row.
    """

    def __init__(self, lengths_B: Tensor, after_V: Tensor) -> None:
        """``lengths_B``: int64, 0 for a prefix that needs no care; ``after_V``: the tokens that continue no word."""
        self._lengths_B = lengths_B
        self._never_X = (~after_V).nonzero().squeeze(1)

    def start(self, sentences_B: Tensor) -> Tensor:
        return self._lengths_B.to(sentences_B.device)[sentences_B]

    def edits(self, ids_NT: Tensor, state: Tensor) -> Edits:
        """Ban tokens that continue a word directly behind a prefix."""
        written = ids_NT.shape[1]
        rows_X = (state == written).nonzero().squeeze(1)
        if not written or not len(rows_X):
            return NO_EDITS
        return Edits(forbidden=Entries.every(rows_X, self._never_X.to(rows_X.device)))

    def extend(self, state: Tensor, rows_N: Tensor, ids_N: Tensor) -> Tensor:
        return state[rows_N]
