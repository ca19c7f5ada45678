"""Restraints on every output alike: a minimum length, and no n-gram twice."""

from typing import Any

import torch
from torch import Tensor

from anaphora.search.steering import NO_EDITS, Edits, Entries, Steering


class MinimumLength(Steering):
    """Outputs of at least this many tokens before ``</s>``, those of a prefix included."""

    def __init__(self, tokens: int, eos: int) -> None:
        self._tokens, self._eos = tokens, eos

    def edits(self, ids_NT: Tensor, state: Any) -> Edits:
        """No ``</s>`` while the outputs are too short."""
        rows, written = ids_NT.shape
        if written >= self._tokens:
            return NO_EDITS
        rows_N = torch.arange(rows, device=ids_NT.device)
        return Edits(forbidden=Entries(rows_N, torch.full_like(rows_N, self._eos)))


class NoRepeatedNgrams(Steering):
    """Outputs without an n-gram of tokens that they have already (Paulus et al. 2018, section 2.5)."""

    def __init__(self, n: int) -> None:
        self._n = n

    def edits(self, ids_NT: Tensor, state: Any) -> Edits:
        """No token that completes an n-gram for the second time."""
        n, written = self._n, ids_NT.shape[1]
        if written < n:
            return NO_EDITS
        ngrams_NPn = ids_NT.unfold(1, n, 1)
        again_NP = (ngrams_NPn[:, :, : n - 1] == ids_NT[:, None, written - n + 1 :]).all(dim=2)
        rows_X, places_X = again_NP.nonzero(as_tuple=True)
        return Edits(forbidden=Entries(rows_X, ngrams_NPn[rows_X, places_X, n - 1]))
