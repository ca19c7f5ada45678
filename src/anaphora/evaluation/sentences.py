"""What lines cost one by one, each behind ``</s>`` and without the lines before it."""

from collections.abc import Iterator, Sequence

import torch

from anaphora.protocols import Batch, TextModel
from anaphora.protocols import Sequence as Rows

TOKENS = 8192
"""Predictions side by side, padding included, at most; a longer line is read alone."""


def sentence_loss(model: TextModel, rows: Sequence[Sequence[int]], before: int) -> float:
    """The summed -ln p of rows of units, in nats, each with ``before`` in front of it; no row may be empty.

    ``model`` is in evaluation mode; no gradients are made.
    """
    nats = 0.0
    with torch.no_grad():
        for batch in _batches(rows, before):
            log_probs_BT, _ = model.target_log_probs(batch)
            nats -= float(log_probs_BT.sum())
    return nats


def _batches(rows: Sequence[Sequence[int]], before: int) -> Iterator[Batch]:
    """The rows with others of their length."""
    some: list[Sequence[int]] = []
    for row in sorted(rows, key=len):
        if some and len(row) * (len(some) + 1) > TOKENS:
            yield _batch(some, before)
            some = []
        some.append(row)
    if some:
        yield _batch(some, before)


def _batch(rows: Sequence[Sequence[int]], before: int) -> Batch:
    ids_BL = torch.full((len(rows), len(rows[-1]) + 1), before)
    for ids_L, row in zip(ids_BL, rows, strict=True):
        ids_L[1 : len(row) + 1] = torch.tensor(row)
    lengths_B = torch.tensor([len(row) for row in rows])
    return Batch(
        inputs=Rows(ids_BL[:, :-1], lengths_B),
        targets=Rows(ids_BL[:, 1:], lengths_B),
        numbers_B=torch.arange(len(rows)),
        continues_B=torch.zeros(len(rows), dtype=torch.bool),
    )
