"""Choice of the continuations that a beam keeps: the best, the best of each bank, or those of groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from math import inf
from typing import NamedTuple

import numpy as np

from anaphora.errors import ConfigError
from anaphora.kernels.log_probs import descending, to_host, top_k
from anaphora.protocols import Array, DeviceArray
from anaphora.search.bounds import ForcedSentences
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.steering import Entries, SteeredRows


class KeptContinuations(NamedTuple):
    """The continuations that a beam keeps, best first."""

    scores_BK: Array
    """float64."""
    rows_BK: Array
    ids_BK: Array


class Pool(NamedTuple):
    """The continuations that a step chooses among: C of each of the H rows of every sentence, best first."""

    scores_BHC: Array
    """float64, minus infinity for those that are impossible."""
    ids_BHC: Array

    @classmethod
    def of(
        cls, scores_BH: Array, log_probs_NV: DeviceArray, size: int, forced: ForcedSentences, steered: SteeredRows
    ) -> "Pool":
        """Return the ``size`` best of every row, and what else is proposed; of a row that is forced, that token alone.

        ``log_probs_NV`` is changed in place by the edits of the step, which prefixes go before.

        No sentence can use more than ``size`` continuations of one row, and the order within a row is the same before
        the row's score is added: so float32 rows are cut first, and only the rest is summed.
        """
        sentences, hypotheses = scores_BH.shape
        any_forced = bool(forced.mask_B.any())
        if any_forced:
            forced_N, forced_ids_N = (x.repeat(hypotheses) for x in forced)
            value_N = to_host(log_probs_NV[np.arange(len(forced_N)), forced_ids_N])
        steered.edit(log_probs_NV)
        values_NC, ids_NC = top_k(log_probs_NV, 1 if any_forced and forced.mask_B.all() else size)
        values_NC = values_NC.astype(np.float64)
        for entries in steered.proposals():
            values_NC, ids_NC = _with(entries, values_NC, ids_NC, log_probs_NV)
        if any_forced:
            values_NC[forced_N] = -inf
            values_NC[:, 0] = np.where(forced_N, value_N, values_NC[:, 0])
            ids_NC = np.where(forced_N[:, None], forced_ids_N[:, None], ids_NC)
        totals_NC = scores_BH.reshape(-1, 1) + values_NC
        shape = sentences, hypotheses, values_NC.shape[1]
        return cls(totals_NC.reshape(shape), ids_NC.reshape(shape))

    def take(self, order_BK: Array, first: int = 0) -> KeptContinuations:
        """Return the continuations at these places of each sentence, side by side from row ``first`` on."""
        sentences, hypotheses, each = self.scores_BHC.shape
        sentences_B1, places_BK = np.arange(sentences)[:, None], order_BK + first * each
        scores_BK, ids_BK = (x.reshape(sentences, -1)[sentences_B1, places_BK] for x in self)
        return KeptContinuations(scores_BK, sentences_B1 * hypotheses + places_BK // each, ids_BK)

    def best(self, size: int) -> KeptContinuations:
        """Return the ``size`` best of every sentence; ties go to the lower row, then to the lower id."""
        return self.take(descending(self.scores_BHC.reshape(len(self.scores_BHC), -1))[:, :size])

    def allocate(self, size: int, steered: SteeredRows) -> KeptContinuations:
        """Return the best of every bank, then the second best of each, until there are ``size``; best first."""
        order_BC = descending(self.scores_BHC.reshape(len(self.scores_BHC), -1))
        found, sentences_B1 = self.take(order_BC), np.arange(len(order_BC))[:, None]
        banks_BC = steered.constraints_met(found.rows_BK.ravel(), found.ids_BK.ravel()).reshape(order_BC.shape)
        # the place within its bank: how many before it are in the same one
        by_bank_BC = banks_BC.argsort(axis=1, kind="stable")
        banks_BC, places_C = banks_BC[sentences_B1, by_bank_BC], np.arange(order_BC.shape[1])
        begins_BC = np.diff(banks_BC, axis=1, prepend=-1) > 0
        ahead_BC = np.empty_like(order_BC)
        ahead_BC[sentences_B1, by_bank_BC] = places_C - np.maximum.accumulate(places_C * begins_BC, axis=1)
        ahead_BC[found.scores_BK == -inf] = len(places_C)
        kept_BK = np.sort(ahead_BC.argsort(axis=1, kind="stable")[:, :size], axis=1)
        return KeptContinuations(*(column_BC[sentences_B1, kept_BK] for column_BC in found))


@dataclass(frozen=True)
class Diversity:
    """Diverse beam search (Vijayakumar et al. 2018, section 3): groups of hypotheses that avoid each other's tokens.

    Each group is its own beam. At every step the groups choose one after the other, and a token counts
    ``strength`` less for each hypothesis of an earlier group that takes it at the same step (Hamming diversity).
    """

    groups: int
    strength: float = 0.5

    def check(self, size: int) -> None:
        """Raise ConfigError where a beam of this size cannot be divided into the groups, or for a strength below 0."""
        if self.groups < 2 or size % self.groups or not 0 <= self.strength < inf:
            raise ConfigError(
                f"A diverse beam needs at least 2 groups of equal size and a strength of at least 0, but they are "
                f"{self.groups:,} groups of a beam of {size:,} and {self.strength:g}: change them."
            )

    def join(self, of_groups: Sequence[list[Hypothesis]], n: int) -> list[list[Hypothesis]]:
        """The results of sentences from those of their groups, side by side: the best of each, then the second best.

        A hypothesis that several groups found counts once. Unfinished ones count only where none is finished.
        """
        found = []
        for first in range(0, len(of_groups), self.groups):
            own = of_groups[first : first + self.groups]
            chosen: dict[tuple[int, ...], Hypothesis] = {}
            for hypothesis in filter(None, chain.from_iterable(zip_longest(*own))):
                if len(chosen) < n:
                    chosen.setdefault(hypothesis.ids, hypothesis)
            found.append(sorted(chosen.values(), key=lambda one: -one.rank))
        return found

    def chosen(self, pool: Pool, size: int, vocabulary: int) -> KeptContinuations:
        """``size`` continuations of every sentence, group by group; within a group the best first.

        At the first step all groups continue the same row, later each its own ones.
        """
        sentences, hypotheses, _ = pool.scores_BHC.shape
        each, taken_BV = size // self.groups, np.zeros((sentences, vocabulary))
        sentences_B1, places_K = np.arange(sentences)[:, None], np.arange(each)
        found = []
        for group in range(self.groups):
            rows = slice(None) if hypotheses < size else slice(group * each, (group + 1) * each)
            totals_BC, ids_BC = (x[:, rows].reshape(sentences, -1) for x in pool)
            order_BC = descending(totals_BC - self.strength * taken_BV[sentences_B1, ids_BC])
            # a small vocabulary may have too few continuations at the first step: the last of them fills up, dead
            one = pool.take(order_BC[:, np.minimum(places_K, order_BC.shape[1] - 1)], rows.start or 0)
            one.scores_BK[:, places_K >= order_BC.shape[1]] = -inf
            np.add.at(taken_BV, (sentences_B1, one.ids_BK), one.scores_BK > -inf)
            found.append(one)
        return KeptContinuations(*(np.concatenate(column, axis=1) for column in zip(*found, strict=True)))


def _with(entries: Entries, values_NC: Array, ids_NC: Array, log_probs_NV: DeviceArray) -> tuple[Array, Array]:
    """Return the continuations of every row with those of ``entries`` that are not among them."""
    rows_X, ids_X = entries
    new_X = (ids_NC[rows_X] != ids_X[:, None]).all(axis=1)
    rows_X, ids_X = rows_X[new_X], ids_X[new_X]
    if not len(rows_X):
        return values_NC, ids_NC
    order_X = rows_X.argsort(kind="stable")
    rows_X, ids_X = rows_X[order_X], ids_X[order_X]
    counts_N = np.bincount(rows_X, minlength=len(ids_NC))
    column_X = np.arange(len(rows_X)) - (counts_N.cumsum() - counts_N)[rows_X]
    shape = len(ids_NC), int(counts_N.max())
    ids_NX, values_NX = np.zeros(shape, dtype=np.int64), np.full(shape, -inf)
    ids_NX[rows_X, column_X] = ids_X
    values_NX[rows_X, column_X] = to_host(log_probs_NV[rows_X, ids_X])
    return np.concatenate([values_NC, values_NX], axis=1), np.concatenate([ids_NC, ids_NX], axis=1)
