"""Running text as windows of one row, each going on from the one before."""

from collections.abc import Iterable, Iterator
from itertools import islice

import torch
from torch import Tensor

from anaphora.protocols import Batch, Sequence


def windows(units: Iterable[int], before: int, steps: int) -> Iterator[Batch]:
    """The units of a text, ``steps`` predictions at a time; ``before`` stands in front of the first."""
    first = True
    for ids_N in blocks(units, before, steps):
        yield rows_of_text(ids_N.unsqueeze(0), torch.tensor([not first]))
        first = False


def blocks(units: Iterable[int], before: int, count: int) -> Iterator[Tensor]:
    """The units ``count`` at a time, each block after the unit before it."""
    rest = iter(units)
    while block := list(islice(rest, count)):
        yield torch.tensor([before, *block], dtype=torch.int64)
        before = block[-1]


def rows_of_text(ids_RL: Tensor, goes_on_R: Tensor) -> Batch:
    """Rows of running text as a batch: what is read, and the same one place later."""
    lengths_R = torch.full((len(ids_RL),), ids_RL.shape[1] - 1)
    return Batch(
        inputs=Sequence(ids_RL[:, :-1].contiguous(), lengths_R),
        targets=Sequence(ids_RL[:, 1:].contiguous(), lengths_R),
        numbers_B=torch.arange(len(ids_RL)),
        continues_B=goes_on_R,
    )
