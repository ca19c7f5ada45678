"""A cache language model: n-grams counted in the last few hundred tokens of the text itself.

With h_1 .. h_L the tokens before a position, h_L the last of them, and the weights of order k

    d_i   = 2^(-(L - i) / half_life)                                     (1 where half_life is 0)
    m^1_i = d_i
    m^k_i = m^(k-1)_i  where  h_(i-k+1) = h_(L-k+2),  0 elsewhere        (the k - 1 tokens before both agree)

    p_k(w) = sum_i m^k_i [h_i = w] / sum_i m^k_i

(Kuhn and De Mori 1990; decaying counts: Clarkson and Robinson 1997). An order whose context is not among them makes
no prediction. The state is the tokens themselves, so no count is ever decremented.
"""

from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from annotated_types import Ge, Le
from numpy.lib.stride_tricks import sliding_window_view

from anaphora.options import MAX_COUNT, MAX_LENGTH
from anaphora.protocols import Array
from anaphora.records import Record

_CELLS = 1 << 21
"""Counts that are looked up at once, one for every order and remembered token of a position, which bounds memory."""


class ComponentPredictions(NamedTuple):
    """Predictions of the components of an interpolation at positions of a text."""

    log_probs: Array
    """ln p by component (K x ..); -inf for tokens that an order of the cache did not see."""
    known: Array
    """bool, K x positions: whether a component makes a prediction."""


class CountCache(Record, extra="forbid"):
    """N-grams of the most recent tokens."""

    kind: Literal["counts"] = "counts"
    """The kind's name."""
    order: Annotated[int, Ge(1), Le(MAX_LENGTH)] = 3
    """Length of the longest n-grams; each order has its own weight."""
    tokens: Annotated[int, Ge(1), Le(MAX_COUNT)] = 500
    """Number of tokens remembered."""
    half_life: Annotated[float, Ge(0)] = 100.0
    """Tokens after which a count is halved; 0 for no decay."""

    def empty_context(self, rows: int) -> Array:
        """Return the history of ``rows`` rows before anything was read: rows x tokens, -1 for no token."""
        return np.full((rows, self.tokens), -1)

    def read(self, history_RL: Array, ids_R: Array) -> Array:
        """Return the history after one more token."""
        return np.concatenate([history_RL, ids_R[:, None]], axis=1)[:, 1:]

    def log_probs(self, history_RL: Array, size: int) -> ComponentPredictions:
        """ln p of every token of a vocabulary of ``size``, K x R x V in float64."""
        counts_KRL = self._counts(history_RL)
        rows = np.arange(len(history_RL))[:, None], np.maximum(history_RL, 0)
        of_tokens_KRV = np.zeros((*counts_KRL.shape[:2], size))
        for of_tokens_RV, counts_RL in zip(of_tokens_KRV, counts_KRL, strict=True):
            np.add.at(of_tokens_RV, rows, counts_RL)
        return _divide(of_tokens_KRV, counts_KRL.sum(axis=2))

    def along(self, history_BL: Array, ids_BT: Array, targets_BT: Array) -> ComponentPredictions:
        """ln p of each target after each token of rows of text, K x B x T; ``history_BL`` is that before the first."""
        windows_BTL = sliding_window_view(np.concatenate([history_BL, ids_BT], axis=1), self.tokens, axis=1)[:, 1:]
        places, found = max(1, _CELLS // max(1, len(ids_BT) * self.order * self.tokens)), []
        for start in range(0, ids_BT.shape[1], places):
            some_BT = targets_BT[:, start : start + places]
            history_RL = windows_BTL[:, start : start + places].reshape(some_BT.size, self.tokens)
            counts_KRL = self._counts(history_RL)
            right_KR = (counts_KRL * (history_RL == some_BT.reshape(-1, 1))).sum(axis=2)
            parts = _divide(right_KR[:, :, None], counts_KRL.sum(axis=2))
            found.append([part.reshape(self.order, *some_BT.shape) for part in parts])
        return ComponentPredictions(*(np.concatenate(parts, axis=2) for parts in zip(*found, strict=True)))

    def after(self, history_BL: Array, ids_BT: Array, lengths_B: Array) -> Array:
        """Return the history after rows of text of the given lengths."""
        places_BL = lengths_B[:, None] + np.arange(self.tokens)
        return np.take_along_axis(np.concatenate([history_BL, ids_BT], axis=1), places_BL, axis=1)

    def _counts(self, history_RL: Array) -> Array:
        """The weight of each token of a history as a continuation of its last tokens, K x R x L: m^k of every order."""
        age_L = np.arange(self.tokens - 1, -1, -1)
        decay_L = 0.5 ** (age_L / self.half_life) if self.half_life else np.ones(self.tokens)
        counts_KRL = np.empty((self.order, *history_RL.shape))
        counts_KRL[:1] = decay_L * (history_RL >= 0)
        for back in range(1, self.order):
            agrees_RL = np.zeros(history_RL.shape, dtype=np.bool_)
            if back < self.tokens:
                agrees_RL[:, back:] = history_RL[:, :-back] == history_RL[:, self.tokens - back, None]
            counts_KRL[back] = counts_KRL[back - 1] * agrees_RL
        return counts_KRL


NO_COUNTS = CountCache(order=0, tokens=0, half_life=0.0)
"""The cache of no order, which has no component."""


class NoCache(Record, extra="forbid"):
    """No cache."""

    kind: Literal["none"] = "none"
    """The kind's name."""

    order: ClassVar[int] = 0


AnyCache = NoCache | CountCache


def _divide(counts_KRX: Array, totals_KR: Array) -> ComponentPredictions:
    known_KR = totals_KR > 0
    with np.errstate(divide="ignore"):
        return ComponentPredictions(np.log(counts_KRX / np.where(known_KR, totals_KR, 1.0)[:, :, None]), known_KR)
