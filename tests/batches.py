"""Rows of ids as the batches that models and searches are handed."""

from collections import abc

import torch

from anaphora.protocols import Batch, Sequence

Rows = abc.Sequence[abc.Sequence[int]]


def padded(rows: Rows, width: int = 0, pad: int = 0) -> Sequence:
    """Rows of ids, ``pad`` after them up to the longest or to ``width``."""
    ids_BT = torch.full((len(rows), max([width, *map(len, rows)])), pad)
    for ids_T, row in zip(ids_BT, rows, strict=True):
        ids_T[: len(row)] = torch.tensor(row)
    return Sequence(ids_BT, torch.tensor([len(row) for row in rows]))


def pair_batch(
    sources: Rows,
    targets: Rows | None = None,
    numbers: abc.Sequence[int] = (),
    width: int = 16,
    pad: int = 0,
    candidates: Rows | None = None,
) -> Batch:
    """Sources in a ``width`` that their length alone decides, with what is given of their targets."""
    return Batch(
        padded(sources, width, pad),
        None if targets is None else padded(targets, pad=pad),
        torch.tensor(numbers or range(len(sources))),
        torch.zeros(len(sources), dtype=torch.bool),
        candidates=None if candidates is None else padded(candidates),
    )
