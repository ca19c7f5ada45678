"""Batches of new pairs with old ones in each, so that a network learns the new without losing what it knows."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import torch

from anaphora.batch import Batch, Ids, pad
from anaphora.data.buckets import shuffled
from anaphora.data.columns import Integers
from anaphora.data.example_batches import LazyBatches
from anaphora.data.pairs import PairBatches

_DRAWN, _SHUFFLED = 2, 3
"""What orders are for, beside those of ``data.buckets``."""

_Place = tuple[LazyBatches, int]


def shares(batch_tokens: int, replay: float) -> tuple[int, int]:
    """The tokens of a batch that are for new and for old pairs, ``replay`` of them for old ones; at least one each."""
    old = min(max(1, round(batch_tokens * replay)), max(1, batch_tokens - 1))
    return max(1, batch_tokens - old), old


class ReplayedBatches:
    """Every batch of new pairs with a batch of old pairs in it (rehearsal); implements ``protocols.Batches``.

    An epoch has every new pair once, and as many batches of old pairs as of new ones, others in every epoch. Batches of
    long pairs meet batches of long pairs, so that there is little padding.
    """

    def __init__(self, new: PairBatches, old: Sequence[PairBatches], seed: int) -> None:
        """The sizes of batches of ``new`` and ``old`` decide the share of each; see ``shares``."""
        self._new, self._old, self._seed = new, old, seed

    def epoch(self, number: int) -> Sequence[Batch]:
        """The batches of epoch ``number``, a pure function of it, the seed and the pairs."""
        new, olds = self._new.epoch(number), [old.epoch(number) for old in self._old]
        every = [(old, place) for old in olds for place in range(len(old))]
        drawn = shuffled(len(every), self._seed, number, _DRAWN)
        chosen = [every[drawn[place % len(every)]] for place in range(len(new))]
        own = [(new, place) for place in range(len(new))]
        # a batch of few rows has long ones
        meeting = list(zip(sorted(own, key=_rows), sorted(chosen, key=_rows), strict=True))
        order = shuffled(len(meeting), self._seed, number, _SHUFFLED)
        return LazyBatches(list(order.reshape(-1, 1)), partial(_met, meeting))


def _rows(place: _Place) -> int:
    return len(place[0].rows[place[1]])


def _met(meeting: Sequence[tuple[_Place, _Place]], place: Integers) -> Batch:
    (new, own), (old, other) = meeting[int(place[0])]
    return joined(new[own], old[other])


def joined(first: Batch, second: Batch) -> Batch:
    """The rows of two batches of pairs in one, from long targets to short; example ids are those of either corpus."""
    lengths_B = torch.cat([first.target_ids.lengths_B, second.target_ids.lengths_B])
    order_B = torch.argsort(lengths_B, descending=True, stable=True)
    return replace(
        first,
        inputs=_joined(first.input_ids, second.input_ids, order_B),
        targets=_joined(first.target_ids, second.target_ids, order_B),
        example_ids_B=torch.cat([first.example_ids_B, second.example_ids_B])[order_B],
        carry_mask_B=torch.cat([first.carry_mask_B, second.carry_mask_B])[order_B],
    )


def _joined(first: Ids, second: Ids, order_B: torch.Tensor) -> Ids:
    rows = [
        ids_T[:length]
        for ids in (first, second)
        for ids_T, length in zip(ids.ids_BT.numpy(), ids.lengths_B.tolist(), strict=True)
    ]
    return pad([rows[place] for place in order_B.tolist()])
