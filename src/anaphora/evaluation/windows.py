"""Running text as windows of one row, each of which continues the one before."""

from collections.abc import Iterable, Iterator
from itertools import islice

import torch
from torch import Tensor

from anaphora.batch import Batch, Ids


def windows(ids: Iterable[int], before: int, steps: int) -> Iterator[Batch]:
    """Yield the tokens of a text, ``steps`` predictions at a time; ``before`` precedes the first."""
    first = True
    for ids_N in blocks(ids, before, steps):
        yield rows_of_text(ids_N.unsqueeze(0), torch.tensor([not first]))
        first = False


def blocks(ids: Iterable[int], before: int, count: int) -> Iterator[Tensor]:
    """Yield the tokens ``count`` at a time, each block with the token before it in front."""
    rest = iter(ids)
    while block := list(islice(rest, count)):
        yield torch.tensor([before, *block], dtype=torch.int64)
        before = block[-1]


def rows_of_text(ids_BL: Tensor, carry_mask_B: Tensor) -> Batch:
    """Rows of running text as a batch: the inputs, and the same one position later as targets."""
    lengths_B = torch.full((len(ids_BL),), ids_BL.shape[1] - 1)
    return Batch(
        inputs=Ids(ids_BL[:, :-1].contiguous(), lengths_B),
        targets=Ids(ids_BL[:, 1:].contiguous(), lengths_B),
        example_ids_B=torch.arange(len(ids_BL)),
        carry_mask_B=carry_mask_B,
    )
