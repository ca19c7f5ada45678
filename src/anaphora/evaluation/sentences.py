"""What lines cost one by one: no state is carried, so many are read side by side."""

from collections.abc import Iterable, Iterator
from itertools import islice

import torch
from torch import Tensor

from anaphora.protocols import Batch, Sequence, TextModel

ROWS = 64
"""Sentences of a batch."""

SORTED = 32 * ROWS
"""Sentences that are sorted by length together."""


def sentence_log_probs(
    model: TextModel, units: Iterable[int], before: int, end: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """The units of a text and ln p of each, some lines at a time, in no order; each line closes with ``end``.

    ``before`` stands in front of every line. ``model`` is in evaluation mode; no gradients are made.
    """
    rows = _rows(units, end)
    while some := list(islice(rows, SORTED)):
        some.sort(key=len, reverse=True)
        for first in range(0, len(some), ROWS):
            batch = _batch(some[first : first + ROWS], before)
            with torch.no_grad():
                log_probs_BT, _ = model.target_log_probs(batch)
            assert batch.targets is not None
            open_BT = torch.arange(log_probs_BT.shape[1]) < batch.targets.lengths_B.unsqueeze(1)
            yield batch.targets.ids_BT[open_BT], log_probs_BT[open_BT]


def _rows(units: Iterable[int], end: int) -> Iterator[list[int]]:
    """The units of every line with its end."""
    row: list[int] = []
    for unit in units:
        row.append(unit)
        if unit == end:
            yield row
            row = []


def _batch(rows: list[list[int]], before: int) -> Batch:
    ids_BL = torch.full((len(rows), len(rows[0]) + 1), before)
    for ids_L, row in zip(ids_BL, rows, strict=True):
        ids_L[1 : len(row) + 1] = torch.tensor(row)
    lengths_B = torch.tensor([len(row) for row in rows])
    return Batch(
        inputs=Sequence(ids_BL[:, :-1], lengths_B),
        targets=Sequence(ids_BL[:, 1:], lengths_B),
        numbers_B=torch.arange(len(rows)),
        continues_B=torch.zeros(len(rows), dtype=torch.bool),
    )
