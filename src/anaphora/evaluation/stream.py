"""Log-probabilities of running text in one pass, the state carried from first token to last, in parallel segments.

Token by token, every matrix product has one row, and most of the time goes into fetching the matrices. So a block of
text is split into segments that are read side by side, all but the first from the initial state. The state at the end
of each segment is then what the next one should have started from: that one is read again from there, until its state
agrees with that of the first reading to the rounding of matrix products. A trained network forgets where it began, so
this soon happens, and the rest of the segment stays as it was read. Where the states do not meet within the segment,
its end has changed, and the next one is read again too. A block whose segments go on changing is read token by token.
In an interpolation, each member reads a block in its own way.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, cast

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from anaphora.batch import Batch, Ids
from anaphora.inference.interpolation.cache import ComponentPredictions
from anaphora.inference.interpolation.mixture import Mixture
from anaphora.kernels.backends import precision_of
from anaphora.kernels.compiled.gemm import PackedPrecision
from anaphora.kernels.log_probs import to_host
from anaphora.kernels.runtime import current
from anaphora.protocols import Array, Carry, TextModel

ROWS = 32
"""Maximum number of segments side by side."""

SEGMENT = 2048
"""Minimum number of predictions of a segment, where a block has more than ``FEW``."""

FEW = 4
"""Maximum number of shorter segments."""

SHORT = 512
"""Minimum number of predictions of these."""

READINGS = 6
"""Maximum number of times that segments are read again."""

WINDOW = 128
"""Predictions of a segment between two calls of the model, which bounds memory."""

TOLERANCE: dict[PackedPrecision, float] = {"fp32": 1e-5, "bf16": 1e-2, "int8": 1e-2}
"""Maximum difference between the states of two readings that agree, over one plus their size.

Where operands are rounded, two readings stay apart by what one more rounded number changes: 2e-3 to 5e-3 in an LSTM of
2 x 650 units, however long they read the same text.
"""

LogProbs = Iterator[tuple[Array, Array]]
"""Tokens of a text and ln p of each, some at a time."""

Rows = tuple[Carry, Array] | None
"""The carried state of the rows of a batch, and which rows start from it; None at the start of a text."""


def stream_log_probs(model: TextModel, ids: Iterable[int], before: int) -> LogProbs:
    """Yield the tokens of a text and ln p of each, some thousands at a time; ``before`` precedes them.

    ``model`` is in evaluation mode.
    """
    carry = None
    for ids_N in blocks(ids, before, ROWS * SEGMENT):
        log_probs_N, carry = _block(model, ids_N, carry)
        yield ids_N[1:], log_probs_N


def stream_loss(model: TextModel, ids: Iterable[int], before: int) -> tuple[float, int]:
    """Return the summed -ln p of every token of a text, in nats, and the number of tokens: see ``stream_log_probs``."""
    nats, tokens = 0.0, 0
    for ids_N, log_probs_N in stream_log_probs(model, ids, before):
        nats, tokens = nats - float(log_probs_N.sum()), tokens + len(ids_N)
    return nats, tokens


def stream_components(model: Mixture, ids: Iterable[int], before: int) -> Iterator[ComponentPredictions]:
    """Yield the predictions of every component for every token of a text, K x N at a time: see ``stream_log_probs``."""
    carry = None
    for ids_N in blocks(ids, before, ROWS * SEGMENT):
        found, carry = _components(model, ids_N, carry)
        yield ComponentPredictions(found.log_probs[:, 0], found.known[:, 0])


def _block(model: TextModel, ids_N: Array, carry: Carry | None) -> tuple[Array, Carry]:
    """ln p of the tokens of a block after its first one, and the state at its end."""
    if isinstance(model, Mixture):
        found, end = _components(model, ids_N, carry)
        return model.interpolate(found, rows_of_text(ids_N[np.newaxis], np.array([True])))[0], end
    first = None if carry is None else (carry, np.array([True]))
    rows = max((len(ids_N) - 1) // SEGMENT, min(FEW, (len(ids_N) - 1) // SHORT))
    if rows < 2:
        return _score_row(model, ids_N, first)
    length = (len(ids_N) - 1) // rows
    read = _side_by_side(model, sliding_window_view(ids_N, length + 1)[::length][:rows], carry)
    if read is None:
        return _score_row(model, ids_N, first)
    log_probs_N, end = read
    rest_N = ids_N[rows * length :]
    if len(rest_N) > 1:
        more_N, end = _score_row(model, rest_N, (end, np.array([True])))
        log_probs_N = np.concatenate([log_probs_N, more_N])
    return log_probs_N, end


def _components(model: Mixture, ids_N: Array, carry: Carry | None) -> tuple[ComponentPredictions, Carry]:
    """Return the predictions of all components for a block, which each member reads in its own way."""
    read = []
    for member, own in zip(model.members, model.split_carry(carry), strict=True):
        log_probs_N, after = _block(cast(TextModel, member), ids_N, own)
        read.append((log_probs_N[np.newaxis], after))
    return model.components(read, rows_of_text(ids_N[np.newaxis], np.array([carry is not None])), carry)


def _score_row(model: TextModel, ids_N: Array, start: Rows) -> tuple[Array, Carry]:
    """ln p of the tokens of one row after its first one, and the state at its end."""
    read = _read(model, ids_N[np.newaxis], start)
    return np.concatenate([log_probs_1T[0] for log_probs_1T, _ in read]), read[-1].after


class _Window(NamedTuple):
    """Predictions and states of a window of rows."""

    log_probs_RT: Array
    after: Carry
    """The states at its end."""


def _side_by_side(model: TextModel, segments_RL: Array, carry: Carry | None) -> tuple[Array, Carry] | None:
    """ln p of the tokens of consecutive segments, each after its first, and the state at the end of the last.

    ``carry`` is that in front of the first. None where the segments go on changing.
    """
    rows = len(segments_RL)
    # the others do not start from it, but each row of a batch has a state
    first = _of_rows(carry, np.zeros(rows, np.int64)) if carry else {}
    read = _read(model, segments_RL, (first, np.arange(rows) < 1) if carry else None)
    changed_R = np.arange(rows - 1)
    for _ in range(READINGS):
        changed_R = _read_again(model, segments_RL, read, changed_R + 1)
        changed_R = changed_R[changed_R < rows - 1]
        if not len(changed_R):
            end = {name: state_RH[-1:] for name, state_RH in read[-1].after.items()}
            return np.concatenate([window.log_probs_RT for window in read], axis=1).ravel(), end
    return None


def _read_again(model: TextModel, segments_RL: Array, read: Sequence[_Window], rows_M: Array) -> Array:
    """Read some segments from where those before them end, and put it in place of what was ``read``.

    Each is read until it meets the states of the earlier reading; returns those that have not at their end.
    """
    state = _of_rows(read[-1].after, rows_M - 1)
    for number, (log_probs_RT, after) in enumerate(read):
        window = _window(segments_RL[rows_M], number * WINDOW, np.ones(len(rows_M), np.bool_))
        log_probs_RT[rows_M], state = model.target_log_probs(window, state)
        apart_M = ~_agree(_of_rows(after, rows_M), state)
        for name, state_RH in after.items():
            state_RH[rows_M] = state[name]
        rows_M, state = rows_M[apart_M], _of_rows(state, apart_M)
        if not len(rows_M):
            break
    return rows_M


def _read(model: TextModel, ids_RL: Array, start: Rows) -> list[_Window]:
    """Return the windows of rows of one length, each token read after the first of its row."""
    carry, carry_mask_R = start or (None, np.zeros(len(ids_RL), np.bool_))
    read = list[_Window]()
    for place in range(0, ids_RL.shape[1] - 1, WINDOW):
        window = _window(ids_RL, place, carry_mask_R | (place > 0))
        log_probs_RT, carry = model.target_log_probs(window, carry or None)
        read.append(_Window(log_probs_RT, carry))
    return read


def _window(ids_RL: Array, place: int, carry_mask_R: Array) -> Batch:
    return rows_of_text(ids_RL[:, place : place + WINDOW + 1], carry_mask_R)


def _of_rows(carry: Carry, rows: Array) -> Carry:
    """Return the states of some rows."""
    return {name: state_RH[rows] for name, state_RH in carry.items()}


def _agree(before: Carry, after: Carry) -> Array:
    """Return a mask of the rows that have the same state in both."""
    tolerance = TOLERANCE[precision_of(current().inference_backend)]
    apart = [abs(after[name] - state_MH) > tolerance * (1 + abs(state_MH)) for name, state_MH in before.items()]
    agree_M: Array = ~np.any([to_host(of_one).reshape(len(of_one), -1).any(axis=1) for of_one in apart], axis=0)
    return agree_M


def windows(ids: Iterable[int], before: int, steps: int) -> Iterator[Batch]:
    """Yield the tokens of a text, ``steps`` predictions at a time; ``before`` precedes the first."""
    first = True
    for ids_N in blocks(ids, before, steps):
        yield rows_of_text(ids_N[np.newaxis], np.array([not first]))
        first = False


def blocks(ids: Iterable[int], before: int, count: int) -> Iterator[Array]:
    """Yield the tokens ``count`` at a time, each block with the token before it in front."""
    rest = iter(ids)
    while block := list(islice(rest, count)):
        yield np.array([before, *block], np.int64)
        before = block[-1]


def rows_of_text(ids_BL: Array, carry_mask_B: Array) -> Batch:
    """Return rows of running text as a batch: the inputs, and the same one position later as targets."""
    lengths_B = np.full(len(ids_BL), ids_BL.shape[1] - 1)
    return Batch(
        inputs=Ids(ids_BL[:, :-1].copy(), lengths_B),
        targets=Ids(ids_BL[:, 1:].copy(), lengths_B),
        example_ids_B=np.arange(len(ids_BL)),
        carry_mask_B=carry_mask_B,
    )
