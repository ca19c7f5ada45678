"""A corpus cut into partitions of few different target words, for outputs that are trained by them.

Jean et al. (2015, section 3.2) cut the corpus once, before training. Here each epoch is cut in the order in which it is
read, into stretches of whole batches; so batches may be shuffled again every epoch, and all words that a batch is
compared with have been targets not far from it.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import overload

import torch
from torch import Tensor

from anaphora.protocols import Batch, Batches


class Partitions:
    """Batches whose targets know the words of their partition; meets ``protocols.Batches``."""

    def __init__(self, batches: Batches, words: int) -> None:
        """A partition has at most this many different target words, unless its only batch has more."""
        self._batches, self._words = batches, words

    def epoch(self, number: int) -> "PartitionedEpoch":
        """The batches of one epoch, a pure function of what ``batches`` gives for it."""
        return PartitionedEpoch(self._batches.epoch(number), self._words)


class PartitionedEpoch(Sequence[Batch]):
    """The batches of an epoch. Looking the first of a partition up makes all of its batches once, to know its words."""

    def __init__(self, batches: Sequence[Batch], words: int) -> None:
        """As for ``Partitions``."""
        self._batches, self._most = batches, words
        self._starts = [0]  # of the partitions known so far, and past the last of them
        self._latest: tuple[int, Tensor] = (-1, torch.empty(0))

    def __len__(self) -> int:
        """The number of batches."""
        return len(self._batches)

    @overload
    def __getitem__(self, position: int) -> Batch: ...

    @overload
    def __getitem__(self, position: slice) -> list[Batch]: ...

    def __getitem__(self, position: int | slice) -> Batch | list[Batch]:
        """A batch with the words of its partition."""
        if isinstance(position, slice):
            return [self[place] for place in range(*position.indices(len(self)))]
        batch = self._batches[position]
        if batch.targets is None:
            raise ValueError("a corpus is cut into partitions by its targets, but this batch has none.")
        words_C = self._words_of(range(len(self))[position])
        return replace(batch, targets=replace(batch.targets, words_C=words_C))

    def _words_of(self, position: int) -> Tensor:
        """The words of the partition that has a batch, ascending."""
        while self._starts[-1] <= position:
            self._cut(self._starts[-1])
        start = self._starts[bisect_right(self._starts, position) - 1]
        if self._latest[0] != start:
            self._cut(start)
        return self._latest[1]

    def _cut(self, start: int) -> None:
        """Walk the partition that begins at ``start`` to its end."""
        words: set[int] = set()
        end = start
        while end < len(self):
            more = words | _targets(self._batches[end])
            if words and len(more) > self._most:
                break
            words, end = more, end + 1
        if start == self._starts[-1]:
            self._starts.append(end)
        self._latest = start, torch.tensor(sorted(words))


def _targets(batch: Batch) -> set[int]:
    assert batch.targets is not None
    ids_BT, lengths_B = batch.targets.ids_BT, batch.targets.lengths_B
    inside_BT = torch.arange(ids_BT.shape[1]) < lengths_B.unsqueeze(1)
    return set(ids_BT[inside_BT].tolist())
