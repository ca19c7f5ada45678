"""The loss of running text in one pass, the state carried from the first unit to the last; many times faster than it.

Unit by unit, every product has one row, and what takes time is fetching the matrices. So a block of text is cut into
segments that are read side by side. Each must start from the state that the one before it ends in, and that is guessed
first, from what stands in front of it: a trained network forgets where it began. Then all segments are read, and every
guess is compared with the state that was really reached. Where all agree to the rounding of single precision, the sum
is that of one pass. Where one does not, because the network remembers for longer, the block is read unit by unit.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import torch
from torch import Tensor

from anaphora.protocols import Batch, Carry, Model, Sequence

ROWS = 32
"""Segments side by side, at most."""

SEGMENT = 2048
"""Predictions of a segment, at least."""

WARM_UP = 512
"""Predictions in front of a segment that its first state is guessed from."""

WINDOW = 128
"""Predictions of a segment between two calls of the model, which bounds memory."""

TOLERANCE = 1e-5
"""How far a guess may be from the state that was reached, over one plus its size."""

Rows = tuple[Carry, Tensor] | None
"""What the rows of a batch go on from, and which of them do; None at the start of a text."""


def stream_loss(
    model: Model, units: Iterable[int], before: int, done: Callable[[int], None] = lambda tokens: None
) -> tuple[float, int]:
    """The summed -ln p of every unit of a text, in nats, and the number of units; ``before`` stands in front of them.

    ``model`` is in evaluation mode; no gradients are made. ``done`` hears how many units are behind.
    """
    nats, tokens, carry = 0.0, 0, None
    with torch.no_grad():
        for block in _blocks(units):
            ids_N = torch.tensor([before, *block], dtype=torch.int64)
            more, carry = _block(model, ids_N, carry)
            nats, tokens, before = nats + more, tokens + len(block), block[-1]
            done(tokens)
    return nats, tokens


def _block(model: Model, ids_N: Tensor, carry: Carry | None) -> tuple[float, Carry]:
    """The loss of a block behind its first id, and the state at its end."""
    first = None if carry is None else (carry, torch.tensor([True]))
    rows = (len(ids_N) - 1) // SEGMENT
    if rows < 2:
        return _read(model, ids_N.unsqueeze(0), first)
    length = (len(ids_N) - 1) // rows
    segments_RL = ids_N.unfold(0, length + 1, length)[:rows]
    _, guessed = _read(model, segments_RL[:-1, -WARM_UP - 1 :], None)
    nats, reached = _read(model, segments_RL, _starts(guessed, carry, rows))
    if not _agree(guessed, reached):
        return _read(model, ids_N.unsqueeze(0), first)
    end: Carry = {name: state_RH[-1:] for name, state_RH in reached.items()}
    rest_N = ids_N[rows * length :]
    if len(rest_N) > 1:
        more, end = _read(model, rest_N.unsqueeze(0), (end, torch.tensor([True])))
        nats += more
    return nats, end


def _read(model: Model, ids_RL: Tensor, start: Rows) -> tuple[float, Carry]:
    """The loss of rows of one length, each behind its first id, and their states at the end."""
    rows, length = ids_RL.shape[0], ids_RL.shape[1] - 1
    carry, goes_on_R = start or (None, torch.zeros(rows, dtype=torch.bool))
    nats = 0.0
    after: Carry = carry or {}
    for place in range(0, length, WINDOW):
        window_RL = ids_RL[:, place : place + WINDOW + 1]
        lengths_R = torch.full((rows,), window_RL.shape[1] - 1)
        batch = Batch(
            inputs=Sequence(window_RL[:, :-1].contiguous(), lengths_R),
            targets=Sequence(window_RL[:, 1:].contiguous(), lengths_R),
            numbers_B=torch.arange(rows),
            continues_B=goes_on_R,
        )
        loss, after = model(batch, after or None)
        nats += float(loss.sum)
        goes_on_R = torch.ones_like(goes_on_R)
    return nats, after


def _starts(guessed: Carry, carry: Carry | None, count: int) -> Rows:
    """What ``count`` segments go on from: the first from ``carry``, if there is one, the others from a guess."""
    first = carry or {name: torch.zeros_like(state_RH[:1]) for name, state_RH in guessed.items()}
    rows = {name: torch.cat([first[name], state_RH]) for name, state_RH in guessed.items()}
    goes_on_R = torch.ones(count, dtype=torch.bool)
    goes_on_R[0] = carry is not None
    return rows, goes_on_R


def _agree(guessed: Carry, reached: Carry) -> bool:
    """Whether each segment but the last ended where the one behind it was begun."""
    return all(
        bool(((reached[name][:-1] - state_RH).abs() <= TOLERANCE * (1 + state_RH.abs())).all())
        for name, state_RH in guessed.items()
    )


def _blocks(units: Iterable[int]) -> Iterator[list[int]]:
    """The units as many at a time as are read side by side."""
    rest = iter(units)
    while block := list(islice(rest, ROWS * SEGMENT)):
        yield block
