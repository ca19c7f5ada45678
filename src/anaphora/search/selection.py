"""Choice of the continuations that a beam keeps: the best, the best of each bank, or those of groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import NamedTuple

import torch
from torch import Tensor, inf

from anaphora.errors import ConfigError
from anaphora.kernels import compiled
from anaphora.search.bounds import ForcedSentences
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.steering import Entries, SteeredRows


class KeptContinuations(NamedTuple):
    """The continuations that a beam keeps, best first."""

    scores_BK: Tensor
    """float64."""
    rows_BK: Tensor
    ids_BK: Tensor


class Pool(NamedTuple):
    """The continuations that a step chooses among: C of each of the H rows of every sentence, best first."""

    scores_BHC: Tensor
    """float64, minus infinity for those that are impossible."""
    ids_BHC: Tensor

    @classmethod
    def of(
        cls, scores_BH: Tensor, log_probs_NV: Tensor, size: int, forced: ForcedSentences, steered: SteeredRows
    ) -> "Pool":
        """Return the ``size`` best of every row, and what else is proposed; of a row that is forced, that token alone.

        ``log_probs_NV`` is changed in place by the edits of the step, which prefixes go before.

        No sentence can use more than ``size`` continuations of one row, and the order within a row is the same before
        the row's score is added: so float32 rows are cut first, and only the rest is summed.
        """
        sentences, hypotheses = scores_BH.shape
        any_forced = bool(forced.mask_B.any())
        if any_forced:
            forced_N, forced_ids_N = (x.repeat_interleave(hypotheses) for x in forced)
            value_N = log_probs_NV.gather(1, forced_ids_N[:, None]).squeeze(1).double()
        steered.edit(log_probs_NV)
        values_NC, ids_NC = top_k(log_probs_NV, 1 if any_forced and forced.mask_B.all() else size)
        values_NC = values_NC.double()
        for entries in steered.proposals():
            values_NC, ids_NC = _with(entries, values_NC, ids_NC, log_probs_NV)
        if any_forced:
            values_NC[forced_N] = -inf
            values_NC[:, 0] = torch.where(forced_N, value_N, values_NC[:, 0])
            ids_NC = torch.where(forced_N[:, None], forced_ids_N[:, None], ids_NC)
        totals_NC = scores_BH.reshape(-1, 1) + values_NC
        return cls(totals_NC.view(sentences, hypotheses, -1), ids_NC.view(sentences, hypotheses, -1))

    @property
    def rows_BHC(self) -> Tensor:
        """The row that each of them continues."""
        sentences, hypotheses, each = self.scores_BHC.shape
        rows_N = torch.arange(sentences * hypotheses, device=self.ids_BHC.device)
        return rows_N.view(sentences, hypotheses, 1).expand(-1, -1, each)

    def take(self, order_BK: Tensor) -> KeptContinuations:
        """Return those at the given places of each sentence's continuations, side by side."""
        columns = (self.scores_BHC, self.rows_BHC, self.ids_BHC)
        return KeptContinuations(*(column.flatten(1).gather(1, order_BK) for column in columns))

    def best(self, size: int) -> KeptContinuations:
        """Return the ``size`` best of every sentence; ties go to the lower row, then to the lower id."""
        order_BC = self.scores_BHC.flatten(1).sort(dim=1, descending=True, stable=True).indices
        return self.take(order_BC[:, :size])

    def allocate(self, size: int, steered: SteeredRows) -> KeptContinuations:
        """Return the best of every bank, then the second best of each, until there are ``size``; best first."""
        totals_BC = self.scores_BHC.flatten(1)
        banks_BC = steered.constraints_met(self.rows_BHC.flatten(), self.ids_BHC.flatten()).view_as(totals_BC)
        order_BC = totals_BC.sort(dim=1, descending=True, stable=True).indices
        banks_BC, possible_BC = banks_BC.gather(1, order_BC), totals_BC.gather(1, order_BC) > -inf
        # the place within its bank: how many before it are in the same one
        ahead_BC = torch.zeros_like(banks_BC)
        for bank in set(banks_BC.flatten().tolist()):
            inside_BC = banks_BC == bank
            ahead_BC = torch.where(inside_BC, inside_BC.long().cumsum(1) - 1, ahead_BC)
        ahead_BC = ahead_BC.masked_fill(~possible_BC, ahead_BC.shape[1])
        kept_BK = ahead_BC.sort(dim=1, stable=True).indices[:, :size].sort(dim=1).values
        return self.take(order_BC.gather(1, kept_BK))


_FEW = 64
"""Continuations of a row that are found in one pass; of more, the pass takes longer than torch's selection."""


@dataclass(frozen=True)
class Diversity:
    """Diverse beam search (Vijayakumar et al. 2018, section 3): groups of hypotheses that avoid each other's tokens.

    Each group is a beam of its own. At every step the groups choose one after the other, and a token counts
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
        each, taken_BV = size // self.groups, pool.scores_BHC.new_zeros(sentences, vocabulary)
        found = []
        for group in range(self.groups):
            rows = slice(None) if hypotheses < size else slice(group * each, (group + 1) * each)
            totals_BC, ids_BC = pool.scores_BHC[:, rows].flatten(1), pool.ids_BHC[:, rows].flatten(1)
            reduced_BC = totals_BC - self.strength * taken_BV.gather(1, ids_BC)
            order_BC = reduced_BC.sort(dim=1, descending=True, stable=True).indices
            # a small vocabulary may have too few continuations at the first step: the last of them fills up, dead
            places_K = torch.arange(each, device=order_BC.device)
            order_BK = order_BC[:, places_K.clamp(max=order_BC.shape[1] - 1)]
            one = KeptContinuations(
                totals_BC.gather(1, order_BK).masked_fill(places_K >= order_BC.shape[1], -inf),
                pool.rows_BHC[:, rows].flatten(1).gather(1, order_BK),
                ids_BC.gather(1, order_BK),
            )
            taken_BV.scatter_add_(1, one.ids_BK, (one.scores_BK > -inf).double())
            found.append(one)
        return KeptContinuations(*(torch.cat(column, dim=1) for column in zip(*found, strict=True)))


def top_k(values_NV: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The ``k`` greatest values of each row, greatest first, and their ids; of equal values the lower id comes first.

    ``torch.topk`` promises nothing about ties, so they are put in order here: those within the k by a stable sort,
    those across the border (rare) by sorting the whole row. Which of several -inf is taken is undefined.
    """
    if compiled.suits(values_NV) and values_NV.is_contiguous() and k <= min(_FEW, values_NV.shape[1]):
        values, ids = map(torch.from_numpy, compiled.top_k(values_NV.numpy(), k))
        return values, ids
    if k >= values_NV.shape[1]:
        return values_NV.sort(dim=1, descending=True, stable=True)
    values, ids = values_NV.topk(k + 1, dim=1)
    tied_N = (values[:, k - 1] == values[:, k]) & (values[:, k] > -torch.inf)
    values, ids = values[:, :k], ids[:, :k]
    ids, order = ids.sort(dim=1)
    values, order = values.gather(1, order).sort(dim=1, descending=True, stable=True)
    ids = ids.gather(1, order)
    if tied_N.any():
        whole, whole_ids = values_NV[tied_N].sort(dim=1, descending=True, stable=True)
        values[tied_N], ids[tied_N] = whole[:, :k], whole_ids[:, :k]
    return values, ids


def _with(entries: Entries, values_NC: Tensor, ids_NC: Tensor, log_probs_NV: Tensor) -> tuple[Tensor, Tensor]:
    """Return the continuations of every row with those of ``entries`` that are not among them."""
    rows_X, ids_X = entries
    new_X = (ids_NC[rows_X] != ids_X[:, None]).all(dim=1)
    rows_X, ids_X = rows_X[new_X], ids_X[new_X]
    if not len(rows_X):
        return values_NC, ids_NC
    rows_X, order_X = rows_X.sort(stable=True)
    ids_X = ids_X[order_X]
    counts_N = torch.bincount(rows_X, minlength=len(ids_NC))
    column_X = torch.arange(len(rows_X), device=rows_X.device) - (counts_N.cumsum(0) - counts_N)[rows_X]
    more = int(counts_N.max())
    ids_NX = ids_NC.new_zeros(len(ids_NC), more)
    values_NX = values_NC.new_full((len(ids_NC), more), -inf)
    ids_NX[rows_X, column_X] = ids_X
    values_NX[rows_X, column_X] = log_probs_NV[rows_X, ids_X].double()
    return torch.cat([values_NC, values_NX], dim=1), torch.cat([ids_NC, ids_NX], dim=1)
