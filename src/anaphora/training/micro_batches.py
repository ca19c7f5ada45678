"""The batches of one update, numbered by position and divided among the ranks.

Each draws and carries by its number alone, as if it had its own rank, whichever rank computes it. So an update
does not depend on how many ranks there are, but for the order in which gradients are added.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch

from anaphora.batch import Batch
from anaphora.errors import DataError, RunError
from anaphora.kernels.runtime import Runtime, running
from anaphora.protocols import Batches, Carry
from anaphora.training.ranks import Ranks
from anaphora.training.reduction import Reduction, reduce_loss, weight_rows


@dataclass(frozen=True)
class MicroBatches:
    """Batches of one rank, and what they are part of."""

    batches: Mapping[int, Batch]
    """Batches by number; the last update of an epoch may have fewer than the others, and some rank none."""
    rows: int
    """Rows of all ranks."""
    predictions: int
    """Predictions of all ranks."""
    learning_rate_factor: float


class Updates:
    """Training data as updates of up to ``count`` micro-batches each."""

    def __init__(self, batches: Batches, count: int, ranks: Ranks, run: Path) -> None:
        """``run`` is what messages name."""
        self._batches, self._count, self._ranks, self._run = batches, count, ranks, run
        self._epoch: Sequence[Batch] = ()
        self._number = 0

    def at(self, epoch: int, position: int) -> tuple[MicroBatches, int]:
        """Return the update at ``position`` (from 0) of an epoch (from 1), and how many updates that has.

        Raises DataError for an epoch without batches, RunError for one without that position.
        """
        if self._number != epoch:
            self._epoch, self._number = self._ranks.run_on_each(partial(self._check, epoch, position)), epoch
        return self._divide(position), self._total(self._epoch)

    def _total(self, epoch: Sequence[Batch]) -> int:
        return -(-len(epoch) // self._count)

    def _check(self, number: int, position: int) -> Sequence[Batch]:
        epoch = self._batches.epoch(number)
        total = self._total(epoch)
        if not total:
            raise DataError("Training needs at least one batch an epoch, but the training data gives none.")
        if position >= total:
            raise RunError(
                f"{self._run} should continue at update {position + 1} of epoch {number}, but that has only {total}: "
                f"its data or its last state.json are not those that it was saved with."
            )
        return epoch

    def _divide(self, position: int) -> MicroBatches:
        first = position * self._count
        places = {number: first + number for number in self._ranks.numbers(self._count)}
        batches: dict[int, Batch] = {}

        def make() -> list[tuple[int, int, float]]:
            batches.update({number: self._epoch[place] for number, place in places.items() if place < len(self._epoch)})
            return [(one.size, one.predictions, one.supervision.learning_rate_factor) for one in batches.values()]

        everyone = [one for of_rank in self._ranks.run_on_all(make) for one in of_rank]
        rows, predictions, factors = zip(*everyone, strict=True)
        return MicroBatches(batches, sum(rows), sum(predictions), factors[0])


def accumulate(
    model: torch.nn.Module,
    given: MicroBatches,
    carries: Mapping[int, Carry],
    runtime: Runtime,
    reduction: Reduction,
    ranks: Ranks,
) -> tuple[float, dict[int, Carry]]:
    """Add up the gradients of the batches of this rank; returns the loss of all ranks, and what the batches here carry.

    A batch whose loss is not finite has no gradient, nor have those after it.
    """
    nats, after = 0.0, dict[int, Carry]()
    for number, batch in given.batches.items():
        with running(replace(runtime, rank=number)):
            loss, after[number] = model(weight_rows(batch, reduction), carries.get(number) or None)
            nats += float(loss.sum.detach())
            if not math.isfinite(nats):
                break
            reduce_loss(loss, given.rows, given.predictions, reduction).backward()  # type: ignore[no-untyped-call]
    return sum(ranks.all_gather(nats)), after
