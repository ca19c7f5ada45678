"""What running text costs in one pass, its state carried from first unit to last; read in parallel segments.

Unit by unit, every product has one row, and what takes time is fetching the matrices. So a block of text is cut into
segments that are read side by side. Each must start from the state that the one before it ends in, and that is guessed
first, from what stands in front of it: a trained network forgets where it began. Then all segments are run through, and
every guess is compared with the state that was really reached. Where one differs, because the network remembers for
longer, the states that were reached are the next guess: they know of a whole segment more. Where all agree to the
rounding of single precision, the segments are read, and the probabilities are those of one pass. A block whose guesses
do not come to agree is read unit by unit. Of a mixture, each member reads a block in its own way.
"""

from collections.abc import Iterable, Iterator
from typing import cast

import torch
from torch import Tensor

from anaphora.evaluation.windows import blocks, rows_of_text
from anaphora.models.interpolation.cache import ComponentPredictions
from anaphora.models.interpolation.model import Interpolation
from anaphora.protocols import Batch, Carry, TextModel

ROWS = 32
"""Segments side by side, at most."""

SEGMENT = 2048
"""Predictions of a segment, at least."""

WARM_UP = 512
"""Predictions in front of a segment that its first state is guessed from."""

GUESSES = 6
"""How often the first states of segments are guessed, at most."""

WINDOW = 128
"""Predictions of a segment between two calls of the model, which bounds memory."""

TOLERANCE = 1e-5
"""How far a guess may be from the state that was reached, over one plus its size."""

Rows = tuple[Carry, Tensor] | None
"""What the rows of a batch go on from, and which of them do; None at the start of a text."""


def stream_log_probs(model: TextModel, units: Iterable[int], before: int) -> Iterator[tuple[Tensor, Tensor]]:
    """The units of a text and ln p of each, some thousands at a time; ``before`` stands in front of them.

    ``model`` is in evaluation mode; no gradients are made.
    """
    carry = None
    for ids_N in blocks(units, before, ROWS * SEGMENT):
        with torch.no_grad():
            log_probs_N, carry = _block(model, ids_N, carry)
        yield ids_N[1:], log_probs_N


def stream_loss(model: TextModel, units: Iterable[int], before: int) -> tuple[float, int]:
    """The summed -ln p of every unit of a text, in nats, and the number of units: see ``stream_log_probs``."""
    nats, tokens = 0.0, 0
    for ids_N, log_probs_N in stream_log_probs(model, units, before):
        nats, tokens = nats - float(log_probs_N.sum()), tokens + len(ids_N)
    return nats, tokens


def stream_sources(mixture: Interpolation, units: Iterable[int], before: int) -> Iterator[ComponentPredictions]:
    """What each source of a mixture says of every unit of a text, K x N at a time: see ``stream_log_probs``."""
    carry = None
    for ids_N in blocks(units, before, ROWS * SEGMENT):
        with torch.no_grad():
            sources, carry = _sources(mixture, ids_N, carry)
        yield ComponentPredictions(sources.log_probs[:, 0], sources.known[:, 0])


def _block(model: TextModel, ids_N: Tensor, carry: Carry | None) -> tuple[Tensor, Carry]:
    """ln p of the units of a block after its first id, and the state at its end."""
    if isinstance(model, Interpolation):
        sources, end = _sources(model, ids_N, carry)
        return model.mix(sources, rows_of_text(ids_N.unsqueeze(0), torch.tensor([True])))[0], end
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


def _sources(mixture: Interpolation, ids_N: Tensor, carry: Carry | None) -> tuple[ComponentPredictions, Carry]:
    """What the sources of a mixture say of a block, each member having read it in its own way."""
    read = []
    for member, own in zip(mixture.members, mixture.apart(carry), strict=True):
        log_probs_N, after = _block(cast(TextModel, member), ids_N, own)
        read.append((log_probs_N.unsqueeze(0), after))
    return mixture.sources(read, rows_of_text(ids_N.unsqueeze(0), torch.tensor([carry is not None])), carry)


def _alone(model: TextModel, ids_N: Tensor, start: Rows) -> tuple[Tensor, Carry]:
    """As ``_read``, of one row."""
    log_probs_RT, after = _read(model, ids_N.unsqueeze(0), start)
    return log_probs_RT[0], after


def _read(model: TextModel, ids_RL: Tensor, start: Rows) -> tuple[Tensor, Carry]:
    """ln p of rows of one length, each after its first id, and their states at the end."""
    carry, goes_on_R = start or (None, torch.zeros(len(ids_RL), dtype=torch.bool))
    after: Carry = carry or {}
    found = []
    for window in _windows(ids_RL, goes_on_R):
        log_probs_RT, after = model.target_log_probs(window, after or None)
        found.append(log_probs_RT)
    return torch.cat(found, dim=1), after


def _run_through(model: TextModel, ids_RL: Tensor, start: Rows) -> Carry:
    """The states at the end of rows of one length."""
    carry, goes_on_R = start or (None, torch.zeros(len(ids_RL), dtype=torch.bool))
    after: Carry = carry or {}
    for window in _windows(ids_RL, goes_on_R):
        after = model.carry_after(window, after or None)
    return after


def _windows(ids_RL: Tensor, goes_on_R: Tensor) -> Iterator[Batch]:
    """Rows of one length a window at a time; those that do not go on start the first from nothing."""
    for place in range(0, ids_RL.shape[1] - 1, WINDOW):
        yield rows_of_text(ids_RL[:, place : place + WINDOW + 1], goes_on_R | (place > 0))


def _starts(model: TextModel, segments_RL: Tensor, carry: Carry | None) -> Rows:
    """What segments go on from, the first from ``carry``; None where guesses never agree with what they lead to."""
    goes_on_R = torch.ones(len(segments_RL), dtype=torch.bool)
    goes_on_R[0] = carry is not None
    guessed = _run_through(model, segments_RL[:-1, -WARM_UP - 1 :], None)
    first = carry or {name: torch.zeros_like(state_RH[:1]) for name, state_RH in guessed.items()}
    for _ in range(GUESSES):
        starts = {name: torch.cat([first[name], state_RH]) for name, state_RH in guessed.items()}
        before = {name: state_RH[:-1] for name, state_RH in starts.items()}
        reached = _run_through(model, segments_RL[:-1], (before, goes_on_R[:-1]))
        if _agree(guessed, reached):
            return starts, goes_on_R
        guessed = reached
    return None


def _agree(guessed: Carry, reached: Carry) -> bool:
    """Whether each segment ended where the one after it was begun."""
    return all(
        bool(((reached[name] - state_RH).abs() <= TOLERANCE * (1 + state_RH.abs())).all())
        for name, state_RH in guessed.items()
    )
