"""Log-probabilities of running text in one pass, the state carried from first token to last, in parallel segments.

Token by token, every matrix product has one row, and most of the time goes into fetching the matrices. So a block of
text is split into segments that are read side by side. Each must start from the state that the one before it ends in.
That state is guessed first, from the text just before the segment: a trained network forgets where it began. Then all
segments are read, and every guess is compared with the state that was reached. Where one differs, because the network
remembers for longer, the states that were reached are the next guess: they include one more segment of history. Where
all agree to the rounding of single precision, the probabilities are those of one pass. A block whose guesses do not
converge is read token by token. In an interpolation, each member reads a block in its own way.
"""

from collections.abc import Iterable, Iterator
from typing import cast

import torch
from torch import Tensor

from anaphora.batch import Batch
from anaphora.evaluation.windows import blocks, rows_of_text
from anaphora.models.interpolation.cache import ComponentPredictions
from anaphora.models.interpolation.model import Interpolation
from anaphora.nn.device import device_of
from anaphora.protocols import Carry, TextModel

ROWS = 32
"""Maximum number of segments side by side."""

SEGMENT = 2048
"""Minimum number of predictions of a segment."""

WARM_UP = 512
"""Predictions before a segment from which its initial state is guessed."""

GUESSES = 6
"""Maximum number of guesses of the initial states."""

WINDOW = 128
"""Predictions of a segment between two calls of the model, which bounds memory."""

TOLERANCE = 1e-5
"""Maximum difference between a guess and the state that was reached, over one plus its size."""

Rows = tuple[Carry, Tensor] | None
"""The carried state of the rows of a batch, and which rows start from it; None at the start of a text."""


def stream_log_probs(model: TextModel, ids: Iterable[int], before: int) -> Iterator[tuple[Tensor, Tensor]]:
    """The tokens of a text and ln p of each, some thousands at a time; ``before`` precedes them.

    ``model`` is in evaluation mode; no gradients are made.
    """
    carry = None
    for ids_N in blocks(ids, before, ROWS * SEGMENT):
        with torch.no_grad():
            log_probs_N, carry = _block(model, ids_N, carry)
        yield ids_N[1:], log_probs_N


def stream_loss(model: TextModel, ids: Iterable[int], before: int) -> tuple[float, int]:
    """The summed -ln p of every token of a text, in nats, and the number of tokens: see ``stream_log_probs``."""
    nats, tokens = 0.0, 0
    for ids_N, log_probs_N in stream_log_probs(model, ids, before):
        nats, tokens = nats - float(log_probs_N.sum()), tokens + len(ids_N)
    return nats, tokens


def stream_components(model: Interpolation, ids: Iterable[int], before: int) -> Iterator[ComponentPredictions]:
    """The predictions of every component for every token of a text, K x N at a time: see ``stream_log_probs``."""
    carry = None
    for ids_N in blocks(ids, before, ROWS * SEGMENT):
        with torch.no_grad():
            found, carry = _components(model, ids_N, carry)
        yield ComponentPredictions(found.log_probs[:, 0], found.known[:, 0])


def _block(model: TextModel, ids_N: Tensor, carry: Carry | None) -> tuple[Tensor, Carry]:
    """ln p of the tokens of a block after its first one, and the state at its end."""
    if isinstance(model, Interpolation):
        found, end = _components(model, ids_N, carry)
        return model.interpolate(found, rows_of_text(ids_N.unsqueeze(0), torch.tensor([True])))[0], end
    first = None if carry is None else (carry, torch.tensor([True]))
    rows = (len(ids_N) - 1) // SEGMENT
    if rows < 2:
        return _alone(model, ids_N, first)
    length = (len(ids_N) - 1) // rows
    segments_RL = ids_N.unfold(0, length + 1, length)[:rows]
    starts = _starts(model, segments_RL, carry)
    if starts is None:
        return _alone(model, ids_N, first)
    log_probs_RT, reached = _read(model, segments_RL, starts)
    end = {name: state_RH[-1:] for name, state_RH in reached.items()}
    log_probs_N, rest_N = log_probs_RT.flatten(), ids_N[rows * length :]
    if len(rest_N) > 1:
        more_N, end = _alone(model, rest_N, (end, torch.tensor([True])))
        log_probs_N = torch.cat([log_probs_N, more_N])
    return log_probs_N, end


def _components(model: Interpolation, ids_N: Tensor, carry: Carry | None) -> tuple[ComponentPredictions, Carry]:
    """The predictions of all components for a block, which each member reads in its own way."""
    read = []
    for member, own in zip(model.members, model.split_carry(carry), strict=True):
        log_probs_N, after = _block(cast(TextModel, member), ids_N, own)
        read.append((log_probs_N.unsqueeze(0), after))
    return model.components(read, rows_of_text(ids_N.unsqueeze(0), torch.tensor([carry is not None])), carry)


def _alone(model: TextModel, ids_N: Tensor, start: Rows) -> tuple[Tensor, Carry]:
    """As ``_read``, of one row."""
    log_probs_RT, after = _read(model, ids_N.unsqueeze(0), start)
    return log_probs_RT[0], after


def _read(model: TextModel, ids_RL: Tensor, start: Rows) -> tuple[Tensor, Carry]:
    """ln p of rows of one length, each after its first token, and their states at the end."""
    carry, carry_mask_R = start or (None, torch.zeros(len(ids_RL), dtype=torch.bool))
    after: Carry = carry or {}
    found, device = [], device_of(model)
    for window in _windows(ids_RL, carry_mask_R):
        log_probs_RT, after = model.target_log_probs(window.to(device), after or None)
        found.append(log_probs_RT.cpu())
    return torch.cat(found, dim=1), after


def _run_through(model: TextModel, ids_RL: Tensor, start: Rows) -> Carry:
    """The states at the end of rows of one length."""
    carry, carry_mask_R = start or (None, torch.zeros(len(ids_RL), dtype=torch.bool))
    after: Carry = carry or {}
    device = device_of(model)
    for window in _windows(ids_RL, carry_mask_R):
        after = model.carry_after(window.to(device), after or None)
    return after


def _windows(ids_RL: Tensor, carry_mask_R: Tensor) -> Iterator[Batch]:
    """Rows of one length a window at a time; those outside the mask start the first without a carried state."""
    for place in range(0, ids_RL.shape[1] - 1, WINDOW):
        yield rows_of_text(ids_RL[:, place : place + WINDOW + 1], carry_mask_R | (place > 0))


def _starts(model: TextModel, segments_RL: Tensor, carry: Carry | None) -> Rows:
    """The initial states of the segments, ``carry`` for the first; None where the guesses do not converge."""
    carry_mask_R = torch.ones(len(segments_RL), dtype=torch.bool)
    carry_mask_R[0] = carry is not None
    guessed = _run_through(model, segments_RL[:-1, -WARM_UP - 1 :], None)
    first = carry or {name: torch.zeros_like(state_RH[:1]) for name, state_RH in guessed.items()}
    for _ in range(GUESSES):
        starts = {name: torch.cat([first[name], state_RH]) for name, state_RH in guessed.items()}
        before = {name: state_RH[:-1] for name, state_RH in starts.items()}
        reached = _run_through(model, segments_RL[:-1], (before, carry_mask_R[:-1]))
        if _agree(guessed, reached):
            return starts, carry_mask_R
        guessed = reached
    return None


def _agree(guessed: Carry, reached: Carry) -> bool:
    """Whether the state at the end of each segment is the one that the next segment started from."""
    return all(
        bool(((reached[name] - state_RH).abs() <= TOLERANCE * (1 + state_RH.abs())).all())
        for name, state_RH in guessed.items()
    )
