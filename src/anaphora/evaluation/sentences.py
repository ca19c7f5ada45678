"""What lines cost one by one: no state is carried, so many lines are read side by side."""

from collections.abc import Iterable, Iterator
from itertools import islice

import torch
from torch import Tensor

from anaphora.errors import DataError
from anaphora.evaluation.stream import stream_log_probs
from anaphora.protocols import Batch, Sequence, TextModel

ROWS = 64
"""Sentences of a batch."""

SORTED = 32 * ROWS
"""Sentences that are sorted by length together."""

UNITS = 1 << 16
"""Rows times the longest in a batch, and the units of a line that is read at once."""


def sentence_log_probs(
    model: TextModel, units: Iterable[int], before: int, end: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """The units of a text and ln p of each, some lines at a time, in no order; each line closes with ``end``.

    ``before`` stands in front of every line. A line of running text may have any length: a long one is read window by
    window. A model of sentences, in front of which something else stands than after them, reads each of them at once.
    ``model`` is in evaluation mode; no gradients are made. Raises DataError for a sentence too long for that.
    """
    rows = _rows(units, end, 0 if before == end else UNITS)
    while some := list(islice(rows, SORTED)):
        some.sort(key=len, reverse=True)
        while some and len(some[0]) > UNITS:
            yield from stream_log_probs(model, some.pop(0), before)
        while some:
            count = min(ROWS, UNITS // len(some[0]))
            batch, some = _batch(some[:count], before), some[count:]
            with torch.no_grad():
                log_probs_BT, _ = model.target_log_probs(batch)
            assert batch.targets is not None
            open_BT = torch.arange(log_probs_BT.shape[1]) < batch.targets.lengths_B.unsqueeze(1)
            yield batch.targets.ids_BT[open_BT], log_probs_BT[open_BT]


def _rows(units: Iterable[int], end: int, most: int) -> Iterator[list[int]]:
    """The units of every line with its end; DataError for one of more than ``most`` units, where that is not 0."""
    row: list[int] = []
    number = 1
    for unit in units:
        row.append(unit)
        if unit == end:
            if 0 < most < len(row):
                raise DataError(
                    f"Line {number:,} should be a sentence of at most {most:,} units, but has {len(row):,}: split it."
                )
            yield row
            row, number = [], number + 1


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
