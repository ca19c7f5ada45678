"""The loss of a text whose lines are read each by itself: no state is carried, so many are read side by side."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import torch

from anaphora.protocols import Batch, Model, Sequence, Symbols

ROWS = 64
"""Sentences of a batch."""

SORTED = 32 * ROWS
"""Sentences that are sorted by length together."""


def sentence_loss(
    model: Model, units: Iterable[int], text: Symbols, done: Callable[[int], None] = lambda tokens: None
) -> tuple[float, int]:
    """The summed -ln p of every unit of a text, in nats, and the number of units, each line's ``</s>`` among them.

    ``model`` is in evaluation mode; no gradients are made. ``done`` hears how many units are behind.
    """
    nats, tokens, rows = 0.0, 0, _rows(units, text.eos)
    with torch.no_grad():
        while some := list(islice(rows, SORTED)):
            some.sort(key=len, reverse=True)
            for first in range(0, len(some), ROWS):
                loss, _ = model(_batch(some[first : first + ROWS], text))
                nats, tokens = nats + float(loss.sum), tokens + loss.count
                done(tokens)
    return nats, tokens


def _rows(units: Iterable[int], end: int) -> Iterator[list[int]]:
    """The units of every line with its end."""
    row: list[int] = []
    for unit in units:
        row.append(unit)
        if unit == end:
            yield row
            row = []


def _batch(rows: list[list[int]], text: Symbols) -> Batch:
    lengths_B = torch.tensor([len(row) for row in rows])
    ids_BT = torch.full((len(rows), len(rows[0])), text.pad)
    for ids_T, row in zip(ids_BT, rows, strict=True):
        ids_T[: len(row)] = torch.tensor(row)
    before_BT = torch.cat([torch.full((len(rows), 1), text.bos), ids_BT[:, :-1]], dim=1)
    return Batch(
        inputs=Sequence(before_BT, lengths_B),
        targets=Sequence(ids_BT, lengths_B),
        numbers_B=torch.arange(len(rows)),
        continues_B=torch.zeros(len(rows), dtype=torch.bool),
    )
