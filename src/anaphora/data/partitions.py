"""A corpus split into partitions of few distinct target ids, for outputs that are trained by them.

Jean et al. (2015, section 3.2) split the corpus once, before training. Here each epoch is split in the order in which
it is read, into runs of whole batches: batches may be shuffled again every epoch, and the ids that the targets of a
batch are compared with were targets of batches close to it.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anaphora.batch import Batch
from anaphora.data.buckets import LazySequence
from anaphora.data.columns import Integers
from anaphora.protocols import Batches


class Partitions:
    """Batches that carry the target ids of their partition; implements ``protocols.Batches``."""

    def __init__(self, batches: Batches, size: int) -> None:
        """A partition has at most ``size`` distinct target ids, unless its only batch has more."""
        self._batches, self._size = batches, size

    def epoch(self, number: int) -> "PartitionedEpoch":
        """Return the batches of one epoch, a pure function of those of ``batches``."""
        return PartitionedEpoch(self._batches.epoch(number), self._size)


class PartitionedEpoch(LazySequence[int, Batch]):
    """The batches of an epoch.

    Looking up the first batch of a partition makes all of its batches once, to find the target ids.
    """

    def __init__(self, batches: Sequence[Batch], size: int) -> None:
        super().__init__(range(len(batches)), self._with_partition)
        self._batches, self._size = batches, size
        self._starts = [0]  # of the partitions known so far, and past the last of them
        self._latest: tuple[int, Integers] = (-1, np.zeros(0, np.int64))

    def _with_partition(self, position: int) -> Batch:
        """Return a batch with the target ids of its partition, ascending."""
        while self._starts[-1] <= position:
            self._find(self._starts[-1])
        start = self._starts[bisect_right(self._starts, position) - 1]
        if self._latest[0] != start:
            self._find(start)
        batch = self._batches[position]
        return replace(batch, supervision=replace(batch.supervision, partition_C=self._latest[1]))

    def _find(self, start: int) -> None:
        """Read the partition that begins at ``start`` to its end."""
        ids: set[int] = set()
        end = start
        while end < len(self):
            targets = self._batches[end].target_ids
            more = ids.union(targets.ids_BT[targets.mask_BT].tolist())
            if ids and len(more) > self._size:
                break
            ids, end = more, end + 1
        if start == self._starts[-1]:
            self._starts.append(end)
        self._latest = start, np.array(sorted(ids))
