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

import torch
from pydantic import Field
from torch import Tensor

from anaphora.config import MAX_COUNT, MAX_LENGTH, Config, by_kind

_CELLS = 1 << 21
"""Counts that are looked up at once, one for every order and remembered token of a position, which bounds memory."""


class ComponentPredictions(NamedTuple):
    """Predictions of the components of an interpolation at positions of a text."""

    log_probs: Tensor
    """ln p by component (K x ..); -inf for tokens that an order of the cache did not see."""
    known: Tensor
    """bool, K x positions: whether a component makes a prediction."""


class CountCache(Config):
    """N-grams of the most recent tokens."""

    kind: Literal["counts"] = "counts"
    """The kind's name."""
    order: int = Field(3, ge=1, le=MAX_LENGTH)
    """Length of the longest n-grams; each order has a weight of its own."""
    tokens: int = Field(500, ge=1, le=MAX_COUNT)
    """Number of tokens remembered."""
    half_life: float = Field(100.0, ge=0)
    """Tokens after which a count is halved; 0 for no decay."""

    def empty_context(self, rows: int) -> Tensor:
        """Return the history of ``rows`` rows before anything was read: rows x tokens, -1 for no token."""
        return torch.full((rows, self.tokens), -1)

    def read(self, history_RL: Tensor, ids_R: Tensor) -> Tensor:
        """Return the history after one more token."""
        return torch.cat([history_RL, ids_R.unsqueeze(1)], dim=1)[:, 1:]

    def log_probs(self, history_RL: Tensor, size: int) -> ComponentPredictions:
        """ln p of every token of a vocabulary of ``size``, K x R x V in float64."""
        counts_KRL = self._counts(history_RL)
        tokens_KRL = history_RL.clamp(min=0).expand_as(counts_KRL)
        of_tokens_KRV = counts_KRL.new_zeros(*counts_KRL.shape[:2], size).scatter_add_(2, tokens_KRL, counts_KRL)
        return _divide(of_tokens_KRV, counts_KRL.sum(2))

    def along(self, history_BL: Tensor, ids_BT: Tensor, targets_BT: Tensor) -> ComponentPredictions:
        """ln p of each target after each token of rows of text, K x B x T; ``history_BL`` is that before the first."""
        windows_BTL = torch.cat([history_BL, ids_BT], dim=1).unfold(1, self.tokens, 1)[:, 1:]
        places, found = max(1, _CELLS // max(1, len(ids_BT) * self.order * self.tokens)), []
        for start in range(0, ids_BT.shape[1], places):
            history_RL = windows_BTL[:, start : start + places].flatten(0, 1)
            targets_R = targets_BT[:, start : start + places].flatten()
            counts_KRL = self._counts(history_RL)
            right_KR = (counts_KRL * (history_RL == targets_R.unsqueeze(1))).sum(2)
            parts = _divide(right_KR.unsqueeze(2), counts_KRL.sum(2))
            found.append([part.view(self.order, *targets_BT[:, start : start + places].shape) for part in parts])
        return ComponentPredictions(*(torch.cat(parts, dim=2) for parts in zip(*found, strict=True)))

    def after(self, history_BL: Tensor, ids_BT: Tensor, lengths_B: Tensor) -> Tensor:
        """Return the history after rows of text of the given lengths."""
        places_BL = lengths_B.unsqueeze(1) + torch.arange(self.tokens)
        return torch.cat([history_BL, ids_BT], dim=1).gather(1, places_BL)

    def _counts(self, history_RL: Tensor) -> Tensor:
        """The weight of each token of a history as a continuation of its last tokens, K x R x L: m^k of every order."""
        age_L = torch.arange(self.tokens - 1, -1, -1, dtype=torch.float64)
        decay_L = 0.5 ** (age_L / self.half_life) if self.half_life else torch.ones_like(age_L)
        counts_KRL = decay_L.new_empty(self.order, *history_RL.shape)
        counts_KRL[:1] = decay_L * (history_RL >= 0)
        for back in range(1, self.order):
            agrees_RL = torch.zeros_like(history_RL, dtype=torch.bool)
            if back < self.tokens:
                agrees_RL[:, back:] = history_RL[:, :-back] == history_RL[:, self.tokens - back, None]
            counts_KRL[back] = counts_KRL[back - 1] * agrees_RL
        return counts_KRL


NO_COUNTS = CountCache.model_construct(order=0, tokens=0, half_life=0.0)
"""The cache of no order, which has no component."""


class NoCache(Config):
    """No cache."""

    kind: Literal["none"] = "none"
    """The kind's name."""

    order: ClassVar[int] = 0


AnyCache = Annotated[NoCache | CountCache, Field(discriminator="kind"), by_kind]


def _divide(counts_KRX: Tensor, totals_KR: Tensor) -> ComponentPredictions:
    known_KR = totals_KR > 0
    p_KRX = counts_KRX / totals_KR.where(known_KR, 1.0).unsqueeze(2)
    return ComponentPredictions(p_KRX.log(), known_KR)
