"""Back-off n-gram model: a table of every n-gram with its probability and its back-off weight, read many at a time.

An n-gram is identified by its place: its row among those of its order, sorted by their tokens. A place one order higher
is found by one binary search, for (place of the first n - 1 tokens) * V + last token; the places of all n-grams that
end at a token follow from those that end at the token before. So a whole batch is looked up in one search an order.

    ln p(w | u) = ln p(u w)                            where the table has u w
                = ln gamma(u) + ln p(w | u')           elsewhere, u' being u without its first token
                                                       and gamma(u) = 1 where the table has no u

It is scored and searched as recurrent language models are, in arrays of numpy; its state is the places of the context.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from anaphora.batch import Batch
from anaphora.inference.weights import Weights
from anaphora.kernels.compiled.places import find_places
from anaphora.protocols import Array, Carry, SearchStart, Step, VocabularyInfo


class Order(NamedTuple):
    """The n-grams of one order, sorted by their tokens."""

    keys_N: Array
    """int64: (place of the first n - 1 tokens) * V + last token, ascending. Order 1 has every id of the vocabulary, so
    its places are the ids."""
    log_probs_N: Array
    """ln p(last token | the tokens before it)."""
    log_gammas_N: Array
    """ln of the back-off weight of each as a context."""


class BackoffModel:
    """N-gram language model with back-off weights, of orders from 1 up (see ``protocols.TextModel``)."""

    def __init__(self, orders: Sequence[Order], symbols: VocabularyInfo) -> None:
        """No context reaches across ``</s>``, which serves as ``<s>`` too."""
        self.orders, self._end = orders, symbols.eos
        self.symbols, self.order = symbols, len(orders)
        self.size = symbols.size
        """V."""
        self.contexts = max(1, len(orders) - 1)
        """Number of tokens of the context; 1 for a model of order 1, which ignores it."""

    @classmethod
    def described(cls, weights: Weights, data: Mapping[str, Any]) -> Self:
        """Return the model of a description, whose orders name their keys, ln p and ln gamma."""
        symbols = VocabularyInfo(*data["symbols"])
        orders = [Order(*(weights[name] for name in names)) for names in data["orders"]]
        if len(orders[0].keys_N) != symbols.size or any(len({*map(len, order)}) > 1 for order in orders):
            raise ValueError("an order with lists of other lengths")
        return cls(orders, symbols)

    def with_order(self, tokens_NK: Array, log_probs_N: Array, log_gammas_N: Array) -> Self | None:
        """Return the model with n-grams of one order more; None where some context is no n-gram of the order below."""
        columns = iter(tokens_NK.T.astype(np.int64))
        place_N = np.zeros(len(tokens_NK), dtype=np.int64)
        for lower in range(1, self.order + 1):
            place_N = self.find(lower, place_N, next(columns))
            if (place_N < 0).any():
                return None
        keys_N = place_N * self.size + next(columns)
        sorting_N = keys_N.argsort()
        values = (values_N[sorting_N].astype(np.float32, copy=False) for values_N in (log_probs_N, log_gammas_N))
        return type(self)([*self.orders, Order(keys_N[sorting_N], *values)], self.symbols)

    def ngrams(self) -> Iterator[tuple[Array, Array, Array]]:
        """Yield the ids (N x n), ln p and ln gamma of the n-grams of every order, sorted by their ids."""
        tokens_NK = np.empty((1, 0), dtype=np.int64)
        for keys_N, log_probs_N, log_gammas_N in self.orders:
            place_N = keys_N // self.size
            tokens_NK = np.concatenate([tokens_NK[place_N], (keys_N % self.size)[:, None]], axis=1)
            yield tokens_NK, log_probs_N, log_gammas_N

    def empty_context(self, rows: int) -> Array:
        """The context of ``rows`` rows before anything was read: rows x contexts, places by order, -1 for none."""
        return np.full((rows, self.contexts), -1)

    def read(self, context_RC: Array, ids_R: Array) -> Array:
        """Return the context after one more token; -1 where no later prediction depends on it."""
        grams_RC = self._grams(context_RC, ids_R)[:, : self.contexts]
        # contexts do not reach across lines
        grams_RC[ids_R == self._end, 1:] = -1
        for order in range(1, self.contexts + 1):
            grams_RC[~self._matters(order, grams_RC[:, order - 1]), order - 1] = -1
        return grams_RC

    def match_length(self, context_RC: Array, ids_R: Array) -> Array:
        """Return length of the longest n-gram in the table that ends in ``ids_R``, given its context."""
        there_RN = self._grams(context_RC, ids_R) >= 0
        found: Array = (there_RN * np.arange(1, there_RN.shape[1] + 1)).max(axis=1)
        return found

    def log_probs_along(self, context_BC: Array, ids_BL: Array) -> tuple[Array, Array]:
        """ln p of every token of rows of text but the first, B x L - 1 in float64, and the context after every token.

        ``context_BC`` is that before the first; contexts are B x L x contexts.
        """
        grams, contexts = self._along(context_BC, ids_BL, len(self.orders))
        before = [context_BL[:, :-1].ravel() for context_BL in contexts]
        log_probs_R = self._backed_off(before, [gram_BL[:, 1:].ravel() for gram_BL in grams])
        return log_probs_R.reshape(len(ids_BL), -1), np.stack(contexts[: self.contexts], axis=2)

    def contexts_along(self, context_BC: Array, ids_BT: Array) -> Array:
        """Return the context after every token of rows of text, B x T x contexts.

        ``context_BC`` is that before the first.
        """
        return np.stack(self._along(context_BC, ids_BT, self.contexts)[1], axis=2)

    def log_probs(self, context_RC: Array) -> Array:
        """ln p of every token in each context, R x V, float64."""
        log_probs_RV = np.tile(self.orders[0].log_probs_N.astype(np.float64), (len(context_RC), 1))
        for order in range(2, len(self.orders) + 1):
            context_R = context_RC[:, order - 2]
            known_R = np.flatnonzero(context_R >= 0)
            place_R = context_R[known_R]
            log_probs_RV[known_R] += self.orders[order - 2].log_gammas_N[place_R, None]
            keys_N = self.orders[order - 1].keys_N
            begin_R, end_R = self._continuations(order, place_R)
            count_R = end_R - begin_R
            row_M = known_R.repeat(count_R)
            first_M = (begin_R - (count_R.cumsum() - count_R)).repeat(count_R)
            place_M = first_M + np.arange(len(row_M))
            log_probs_RV[row_M, keys_N[place_M] % self.size] = self.orders[order - 1].log_probs_N[place_M]
        return log_probs_RV

    def target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Array, Carry]:
        """ln p of each target of a window: see ``protocols.TextModel``."""
        targets = batch.target_ids
        ids_BL = np.concatenate([batch.input_ids.ids_BT[:, :1], targets.ids_BT], axis=1)
        log_probs_BT, contexts_BLC = self.log_probs_along(self._first_context(batch, carry), ids_BL)
        return np.where(targets.mask_BT, log_probs_BT, 0), _at_ends(contexts_BLC, batch)

    def carry_after(self, batch: Batch, carry: Carry | None = None) -> Carry:
        """Return the contexts at the end of a window: see ``protocols.TextModel``."""
        return _at_ends(self.contexts_along(self._first_context(batch, carry), batch.input_ids.ids_BT), batch)

    def _first_context(self, batch: Batch, carry: Carry | None) -> Array:
        """Return the context before each row of a window, B x C."""
        context_BC = self.empty_context(batch.size)
        return np.where(batch.carry_mask_B[:, None], carry["contexts"], context_BC) if carry else context_BC

    def stepper(self) -> "NgramStepper":
        """Return the model one token at a time."""
        return NgramStepper(self)

    def find(self, order: int, context: Array, ids: Array) -> Array:
        """Return the places of n-grams of ``order`` by the place of their context and their last token; -1 for none."""
        if order == 1:
            return ids
        # a key is below 0 where there is no context, as none of the table is
        return find_places(self.orders[order - 1].keys_N, context * self.size + ids)

    def _matters(self, order: int, place_R: Array) -> Array:
        """True if predictions depend on these contexts: some n-gram extends them, or their back-off weight is not 1."""
        if order == len(self.orders):
            return np.zeros(len(place_R), dtype=np.bool_)
        gammas_N = self.orders[order - 1].log_gammas_N
        if not len(gammas_N):
            return place_R >= 0  # this order is empty, so no place is
        begin_R, end_R = self._continuations(order + 1, place_R)
        found: Array = (place_R >= 0) & ((end_R > begin_R) | (gammas_N[np.maximum(place_R, 0)] != 0))
        return found

    def _continuations(self, order: int, place_R: Array) -> tuple[Array, Array]:
        """Begin and end of the n-grams of an order that extend each context."""
        keys_N = self.orders[order - 1].keys_N
        begin_R, end_R = (keys_N.searchsorted(at_R * self.size) for at_R in (place_R, place_R + 1))
        return begin_R, end_R

    def _grams(self, context_RC: Array, ids_R: Array) -> Array:
        """Return the places of the n-grams that end in ``ids_R``, R x orders."""
        higher = [self.find(order, context_RC[:, order - 2], ids_R) for order in range(2, len(self.orders) + 1)]
        return np.stack([ids_R, *higher], axis=1)

    def _along(self, context_BC: Array, ids_BT: Array, orders: int) -> tuple[list[Array], list[Array]]:
        """The places of the n-grams of orders 1 to ``orders`` that end at every token of rows of text, and as contexts.

        Contexts do not reach across lines.
        """
        grams, contexts, ends_BT = [ids_BT], [ids_BT], ids_BT == self._end
        for order in range(2, orders + 1):
            before_BT = np.concatenate([context_BC[:, order - 2, None], contexts[-1][:, :-1]], axis=1)
            grams.append(self.find(order, before_BT, ids_BT))
            contexts.append(np.where(ends_BT, -1, grams[-1]))
        return grams, contexts

    def _backed_off(self, contexts: Sequence[Array], grams: Sequence[Array]) -> Array:
        """ln p of R n-grams by the places of their contexts and their own, with back-off where the table has none."""
        log_probs_R = self.orders[0].log_probs_N[grams[0]].astype(np.float64)
        for order, context_R, gram_R in zip(range(2, len(self.orders) + 1), contexts, grams[1:], strict=False):
            gammas_N, found_N = self.orders[order - 2].log_gammas_N, self.orders[order - 1].log_probs_N
            if not len(gammas_N):
                break  # the text has no n-grams so long, nor longer ones
            log_probs_R += np.where(context_R < 0, 0, gammas_N[np.maximum(context_R, 0)])
            if len(found_N):
                log_probs_R = np.where(gram_R >= 0, found_N[np.maximum(gram_R, 0)], log_probs_R)
        return log_probs_R


def _at_ends(contexts_BLC: Array, batch: Batch) -> Carry:
    """Return the contexts after the last input of each row."""
    ends_B = batch.input_ids.lengths_B - 1
    return {"contexts": contexts_BLC[np.arange(len(ends_B)), ends_B]}


class NgramStepper:
    """An n-gram language model for search: see ``protocols.TextStepper``. It needs no memory."""

    def __init__(self, model: BackoffModel) -> None:
        """The model is read, never changed."""
        self._model, self.order = model, model.order
        self.size, _, self.unk, _, self.eos = model.symbols
        self.bos = self.eos

    def start(self, batch: Batch) -> SearchStart:
        """Return the empty context for each row of the batch."""
        return SearchStart(None, self._model.empty_context(batch.size), np.zeros(batch.size, dtype=np.int64))

    def advance(self, memory: None, state: Array, ids_N: Array) -> Step:
        context_NC = self._model.read(state, ids_N)
        return Step(self._model.log_probs(context_NC), None, context_NC)

    def select(self, state: Array, rows_N: Array) -> Array:
        return state[rows_N]

    def keep(self, memory: None, sentences_B: Array) -> None:
        """Keep nothing: such a model has no memory of a sentence."""

    def unconditional(self) -> Step:
        """Return the unigram distribution."""
        context_NC = self._model.empty_context(1)
        return Step(self._model.log_probs(context_NC), None, context_NC)

    def match_length(self, state: Array, ids_N: Array, read: int) -> int:
        """Return length of the longest n-gram in the table."""
        return int(self._model.match_length(state, ids_N)[0])
