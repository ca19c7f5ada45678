"""A back-off n-gram table: every n-gram with its probability and its back-off weight, looked up many at a time.

An n-gram is identified by its place: its row among those of its order, sorted by their tokens. A place one order higher
is found by one binary search, for (place of the first n - 1 tokens) * V + last token; the places of all n-grams that
end at a token follow from those that end at the token before. So a whole batch is looked up in one search an order.

    ln p(w | u) = ln p(u w)                            where the table has u w
                = ln gamma(u) + ln p(w | u')           elsewhere, u' being u without its first token
                                                       and gamma(u) = 1 where the table has no u
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.compiled.places import find_places


class Order(NamedTuple):
    """The n-grams of one order, sorted by their tokens."""

    keys_N: Tensor
    """int64: (place of the first n - 1 tokens) * V + last token, ascending. Order 1 has every id of the vocabulary, so
    its places are the ids."""
    log_probs_N: Tensor
    """ln p(last token | the tokens before it)."""
    log_gammas_N: Tensor
    """ln of the back-off weight of each as a context."""


class BackoffTable:
    """The orders of a model, from 1 up."""

    def __init__(self, orders: Sequence[Order], end: int) -> None:
        """``end`` is the token that no context reaches across: ``</s>``, which serves as ``<s>`` too."""
        self._orders = orders
        self._end = end
        self.size = len(orders[0].keys_N)
        """V."""

    @property
    def contexts(self) -> int:
        """Number of tokens of the context; 1 for a model of order 1, which ignores it."""
        return max(1, len(self._orders) - 1)

    def empty_context(self, rows: int) -> Tensor:
        """The context of ``rows`` rows before anything was read: rows x contexts, places by order, -1 for none."""
        return torch.full((rows, self.contexts), -1, device=self._orders[0].keys_N.device)

    def read(self, context_RC: Tensor, ids_R: Tensor) -> Tensor:
        """Return the context after one more token; -1 where no later prediction depends on it."""
        grams_RC = self._grams(context_RC, ids_R)[:, : self.contexts]
        # contexts do not reach across lines
        grams_RC[:, 1:] = grams_RC[:, 1:].masked_fill((ids_R == self._end).unsqueeze(1), -1)
        for order in range(1, self.contexts + 1):
            grams_RC[:, order - 1].masked_fill_(~self._matters(order, grams_RC[:, order - 1]), -1)
        return grams_RC

    def match_length(self, context_RC: Tensor, ids_R: Tensor) -> Tensor:
        """Return length of the longest n-gram in the table that ends in ``ids_R``, given its context."""
        there_RN = self._grams(context_RC, ids_R) >= 0
        return (there_RN * torch.arange(1, there_RN.shape[1] + 1, device=there_RN.device)).amax(dim=1)

    def log_probs_along(self, context_BC: Tensor, ids_BL: Tensor) -> tuple[Tensor, Tensor]:
        """ln p of every token of rows of text but the first, B x L - 1 in float64, and the context after every token.

        ``context_BC`` is that before the first; contexts are B x L x contexts.
        """
        grams, contexts = self._along(context_BC, ids_BL, len(self._orders))
        before = [context_BL[:, :-1].flatten() for context_BL in contexts]
        log_probs_R = self._backed_off(before, [gram_BL[:, 1:].flatten() for gram_BL in grams])
        return log_probs_R.view(len(ids_BL), -1), torch.stack(contexts[: self.contexts], dim=2)

    def contexts_along(self, context_BC: Tensor, ids_BT: Tensor) -> Tensor:
        """Return the context after every token of rows of text, B x T x contexts.

        ``context_BC`` is that before the first.
        """
        return torch.stack(self._along(context_BC, ids_BT, self.contexts)[1], dim=2)

    def log_probs(self, context_RC: Tensor) -> Tensor:
        """ln p of every token in each context, R x V, float64."""
        log_probs_RV = self._orders[0].log_probs_N.double().expand(len(context_RC), -1).clone()
        for order in range(2, len(self._orders) + 1):
            context_R = context_RC[:, order - 2]
            known_R = (context_R >= 0).nonzero().squeeze(1)
            place_R = context_R[known_R]
            log_probs_RV[known_R] += self._orders[order - 2].log_gammas_N[place_R].double().unsqueeze(1)
            keys_N = self._orders[order - 1].keys_N
            begin_R, end_R = self._continuations(order, place_R)
            count_R = end_R - begin_R
            row_M = torch.repeat_interleave(known_R, count_R)
            first_M = torch.repeat_interleave(begin_R - (count_R.cumsum(0) - count_R), count_R)
            place_M = first_M + torch.arange(len(row_M), device=row_M.device)
            log_probs_RV[row_M, keys_N[place_M] % self.size] = self._orders[order - 1].log_probs_N[place_M].double()
        return log_probs_RV

    def find(self, order: int, context: Tensor, ids: Tensor) -> Tensor:
        """Return the places of n-grams of ``order`` by the place of their context and their last token; -1 for none."""
        if order == 1:
            return ids
        # a key is below 0 where there is no context, as none of the table is
        keys = (context * self.size + ids).numpy()
        return torch.from_numpy(find_places(self._orders[order - 1].keys_N.numpy(), keys))

    def _matters(self, order: int, place_R: Tensor) -> Tensor:
        """True if predictions depend on these contexts: some n-gram extends them, or their back-off weight is not 1."""
        if order == len(self._orders):
            return torch.zeros_like(place_R, dtype=torch.bool)
        gammas_N = self._orders[order - 1].log_gammas_N
        if not len(gammas_N):
            return place_R >= 0  # this order is empty, so no place is
        begin_R, end_R = self._continuations(order + 1, place_R)
        return (place_R >= 0) & ((end_R > begin_R) | (gammas_N[place_R.clamp(min=0)] != 0))

    def _continuations(self, order: int, place_R: Tensor) -> tuple[Tensor, Tensor]:
        """Begin and end of the n-grams of an order that extend each context."""
        keys_N = self._orders[order - 1].keys_N
        begin_R, end_R = (torch.searchsorted(keys_N, at_R * self.size) for at_R in (place_R, place_R + 1))
        return begin_R, end_R

    def _grams(self, context_RC: Tensor, ids_R: Tensor) -> Tensor:
        """Return the places of the n-grams that end in ``ids_R``, R x orders."""
        higher = [self.find(order, context_RC[:, order - 2], ids_R) for order in range(2, len(self._orders) + 1)]
        return torch.stack([ids_R, *higher], dim=1)

    def _along(self, context_BC: Tensor, ids_BT: Tensor, orders: int) -> tuple[list[Tensor], list[Tensor]]:
        """The places of the n-grams of orders 1 to ``orders`` that end at every token of rows of text, and as contexts.

        Contexts do not reach across lines.
        """
        grams, contexts, ends_BT = [ids_BT], [ids_BT], ids_BT == self._end
        for order in range(2, orders + 1):
            before_BT = torch.cat([context_BC[:, order - 2, None], contexts[-1][:, :-1]], dim=1)
            grams.append(self.find(order, before_BT, ids_BT))
            contexts.append(grams[-1].masked_fill(ends_BT, -1))
        return grams, contexts

    def _backed_off(self, contexts: Sequence[Tensor], grams: Sequence[Tensor]) -> Tensor:
        """ln p of R n-grams by the places of their contexts and their own, with back-off where the table has none."""
        log_probs_R = self._orders[0].log_probs_N.take(grams[0]).double()
        for order, context_R, gram_R in zip(range(2, len(self._orders) + 1), contexts, grams[1:], strict=False):
            gammas_N, found_N = self._orders[order - 2].log_gammas_N, self._orders[order - 1].log_probs_N
            if not len(gammas_N):
                break  # the text has no n-grams so long, nor longer ones
            gamma_R = gammas_N.take(context_R.clamp(min=0))
            log_probs_R += gamma_R.masked_fill_(context_R < 0, 0)
            if len(found_N):
                log_probs_R = torch.where(gram_R >= 0, found_N.take(gram_R.clamp(min=0)).double(), log_probs_R)
        return log_probs_R
