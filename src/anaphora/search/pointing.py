"""A model that writes placeholders of its source, each exactly once: a pointer network that needs no training.

A placeholder is a word of the source that must come back as it is. In the source, a token of the vocabulary stands for
it; to the output it is its own token, behind the vocabulary, which is scored by attention as pointer networks copy
(See, Liu and Manning 2017), but without a gate that would have to be trained:

    p(placeholder k) = a_k^2 + p(stand-in of k) s_k, at most 1

a_k is the attention on placeholder k, squared so that a glance does not write it, and s_k the part that it has of its
stand-in, 1 unless others share it. A model without attention has a_k = 0 and goes by the stand-ins alone, which are no
words of the output; so does one that was trained on stand-ins, which writes them where they go. What was written is
pending no longer; ``</s>`` has no probability while a placeholder is pending, and near the maximum length nothing else
has any. So every output has all of them, each once, whatever the model. Beams keep hypotheses that have written few of
them beside others that have written many (``Pointing.steering``).
"""

from math import inf
from typing import Any, NamedTuple

import numpy as np

from anaphora.batch import Batch
from anaphora.kernels.log_probs import to_host
from anaphora.protocols import Array, SearchStart, Step, Stepper
from anaphora.search.steering import Entries, Steering
from anaphora.search.wrapper import Wrapper

_FLOOR = -1e4
"""ln p of a placeholder that is due, at least."""


class Placeholders(NamedTuple):
    """The placeholders of the sentences of a batch, K at most; token V + k writes placeholder k."""

    positions_BKS: Array
    """bool: the positions of the memory that stand for placeholder k; none where a sentence has fewer."""
    stand_ins_BK: Array
    """int64: what the model reads in its place once it was written."""
    alone_BK: Array
    """bool: whether the output has no other use for that token, so that it is not written."""
    joined_BK: Array
    """bool: whether a word may be joined to it by a sign."""
    attended_BK: Array
    """bool: whether attention on it is a probability of it; not for a stand-in that the model was trained on."""
    lengths_B: Array
    """int64: maximum number of tokens of each output, ``</s>`` included."""

    @property
    def given_BK(self) -> Array:
        """bool: the placeholders that each sentence has."""
        found: Array = np.any(self.positions_BKS, axis=2)
        return found

    def of(self, sentences_B: Array) -> "Placeholders":
        """Return the placeholders of some of the sentences."""
        return Placeholders(*(column[sentences_B] for column in self))


class Adjacency(NamedTuple):
    """Tokens that may stand directly beside a placeholder: a letter would make it part of a word."""

    before_V: Array
    """bool: whether a placeholder may follow the token."""
    after_V: Array
    """bool: whether the token may follow a placeholder."""
    joins_V: Array
    """bool: whether the token begins with a sign that joins words."""


class _Memory(NamedTuple):
    model: Any
    placeholders: Placeholders


class _State(NamedTuple):
    model: Any
    pending_NK: Array
    """bool: the placeholders of each row that were not written yet."""
    step: int


class Pointing(Wrapper):
    """A Stepper over the vocabulary of a model and the placeholders of one batch."""

    def __init__(self, model: Stepper, placeholders: Placeholders, adjacency: Adjacency) -> None:
        """``placeholders`` are those of the only batch that it can start with."""
        super().__init__(model)
        self._placeholders, self._adjacency = placeholders, adjacency
        self._known = model.size
        self.size += placeholders.stand_ins_BK.shape[1]

    @property
    def steering(self) -> Steering:
        """Return the steering that keeps places of a beam for each number of placeholders written."""
        return _Banks(self._placeholders.given_BK, self._known)

    def start(self, batch: Batch) -> SearchStart:
        start = self._model.start(batch)
        state = _State(start.state, self._placeholders.given_BK, 0)
        return SearchStart(_Memory(start.memory, self._placeholders), state, start.memory_lengths_B)

    def advance(self, memory: _Memory, state: _State, ids_N: Array) -> Step:
        """Return one token of every row; after a placeholder, the model reads its stand-in."""
        own = memory.placeholders
        beam = len(ids_N) // len(own.lengths_B)
        rows = own.of(np.arange(len(own.lengths_B)).repeat(beam))
        written_N = ids_N >= self._known
        rows_N, which_N = np.arange(len(ids_N)), np.maximum(ids_N - self._known, 0)
        pending_NK = _remove_written(state.pending_NK, ids_N - self._known)
        read_N = np.where(written_N, rows.stand_ins_BK[rows_N, which_N], ids_N)
        step = self._model.advance(memory.model, state.model, read_N)
        log_probs_NU, known = self._mix(step, rows, pending_NK), self._known
        for row in np.flatnonzero(written_N):
            joined = rows.joined_BK[row, which_N[row]]
            log_probs_NU[row, :known][~self._adjacency.after_V | (self._adjacency.joins_V & ~joined)] = -inf
        after_N = written_N | self._adjacency.before_V[read_N]
        log_probs_NU[~after_N, known:] = -inf
        left_N = rows.lengths_B - state.step
        due_N = pending_NK.any(axis=1) & (left_N <= pending_NK.sum(axis=1) + 1)
        log_probs_NU[due_N, :known] = -inf
        log_probs_NU[due_N, known:] = np.where(pending_NK, np.maximum(log_probs_NU[:, known:], _FLOOR), -inf)[due_N]
        return Step(log_probs_NU, step.weights_NS, _State(step.state, pending_NK, state.step + 1))

    def _mix(self, step: Step, rows: Placeholders, pending_NK: Array) -> Array:
        """ln p of every token and every placeholder."""
        log_probs_NV, rows_N1 = to_host(step.log_probs_NV), np.arange(len(pending_NK))[:, None]
        attention_NK = np.zeros(pending_NK.shape, dtype=log_probs_NV.dtype)
        if step.weights_NS is not None:
            weights_NKS = np.where(rows.positions_BKS, step.weights_NS[:, None, :], 0.0)
            attention_NK = np.minimum(weights_NKS.sum(axis=2), 1.0).astype(log_probs_NV.dtype) * pending_NK
        stand_in_NK = log_probs_NV[rows_N1, rows.stand_ins_BK]
        pointed_NK = attention_NK**2 * rows.attended_BK + np.exp(stand_in_NK) * _parts(rows, attention_NK, pending_NK)
        log_probs_NV[rows_N1, rows.stand_ins_BK] = np.where(rows.alone_BK, -inf, stand_in_NK)
        log_probs_NV[pending_NK.any(axis=1), self.eos] = -inf
        with np.errstate(divide="ignore"):
            pointed_NK = np.where(pending_NK, np.log(np.minimum(pointed_NK, 1.0)), -inf)
        return np.concatenate([log_probs_NV, pointed_NK], axis=1, dtype=log_probs_NV.dtype)

    def select(self, state: _State, rows_N: Array) -> _State:
        return _State(self._model.select(state.model, rows_N), state.pending_NK[rows_N], state.step)

    def keep(self, memory: _Memory, sentences_B: Array) -> _Memory:
        return _Memory(self._model.keep(memory.model, sentences_B), memory.placeholders.of(sentences_B))


class _Banks(Steering):
    """Steering by which placeholders of each row are pending; what it has met is the number of the others."""

    allocates_beam = True

    def __init__(self, given_BK: Array, known: int) -> None:
        """``known`` is the size of the vocabulary."""
        self._given_BK, self._known = given_BK, known

    def start(self, sentences_B: Array) -> Array:
        return self._given_BK[sentences_B]

    def extend(self, state: Array, rows_N: Array, ids_N: Array) -> Array:
        return _remove_written(state[rows_N], ids_N - self._known)

    def proposals(self, ids_NT: Array, state: Array) -> Entries:
        rows_X, which_X = state.nonzero()
        return Entries(rows_X, which_X + self._known)

    def constraints_met(self, state: Array, rows_X: Array, ids_X: Array) -> Array:
        found: Array = (~_remove_written(state[rows_X], ids_X - self._known)).sum(axis=1)
        return found


def _remove_written(pending_NK: Array, written_N: Array) -> Array:
    """Return the placeholders that are pending after one was written; a negative number is none."""
    found: Array = pending_NK & (np.arange(pending_NK.shape[1]) != written_N[:, None])
    return found


def _parts(rows: Placeholders, attention_NK: Array, pending_NK: Array) -> Array:
    """Return the part that each pending placeholder has of the probability of its stand-in.

    Of several with one stand-in, as much as it has of their attention, and all of it the first where they have none;
    where another word of the sentence is that token, as much as its attention.
    """
    alike_NKK = (rows.stand_ins_BK[:, :, None] == rows.stand_ins_BK[:, None, :]) & pending_NK[:, None, :]
    all_NK = (alike_NKK * attention_NK[:, None, :]).sum(axis=2)
    first_NK = ~np.tril(alike_NKK, -1).any(axis=2)
    of_all_NK = np.where(all_NK > 0, attention_NK / np.maximum(all_NK, 1e-30), first_NK.astype(attention_NK.dtype))
    return np.where(rows.alone_BK | (all_NK == 0), of_all_NK, attention_NK) * pending_NK
