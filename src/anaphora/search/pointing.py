"""A model that writes placeholders of its source, each exactly once: a pointer network that needs no training.

A placeholder is a word of the source that must come back as it is. In the source, a token of the vocabulary stands for
it; to the output it is a token of its own, behind the vocabulary, which is scored by attention as pointer networks copy
(See, Liu and Manning 2017), but without a gate that would have to be trained:

    p(placeholder k) = a_k + p(stand-in of k) s_k, at most 1

a_k is the attention on placeholder k, and s_k the part that it has of its stand-in, 1 unless others share it. A model
without attention has a_k = 0 and goes by the stand-ins alone, which are no words of the output; so does one that was
trained on stand-ins, which writes them where they go. What was written is
pending no longer; ``</s>`` has no probability while a placeholder is pending, and near the maximum length nothing else
has any. So every output has all of them, each once, whatever the model. Beams keep hypotheses that have written few of
them beside others that have written many (``Pointing.steering``).
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, inf

from anaphora.batch import Batch
from anaphora.protocols import SearchStart, Step, Stepper
from anaphora.search.steering import Entries, Steering
from anaphora.search.wrapper import Wrapper

_FLOOR = -1e4
"""ln p of a placeholder that is due, at least."""


class Placeholders(NamedTuple):
    """Those of the sentences of a batch, K at most; token V + k writes placeholder k."""

    positions_BKS: Tensor
    """bool: the positions of the memory that stand for placeholder k; none where a sentence has fewer."""
    stand_ins_BK: Tensor
    """int64: what the model reads in its place once it was written."""
    alone_BK: Tensor
    """bool: whether the output has no other use for that token, so that it is not written."""
    joined_BK: Tensor
    """bool: whether a word may be joined to it by a sign."""
    attended_BK: Tensor
    """bool: whether attention on it is a probability of it; not for a stand-in that the model was trained on."""
    lengths_B: Tensor
    """int64: maximum number of tokens of each output, ``</s>`` included."""

    def to(self, device: torch.device) -> "Placeholders":
        return Placeholders(*(tensor.to(device) for tensor in self))

    def of(self, sentences_B: Tensor) -> "Placeholders":
        """Return those of some of the sentences."""
        return Placeholders(*(tensor[sentences_B] for tensor in self))


class Adjacency(NamedTuple):
    """Tokens that may stand directly beside a placeholder: a letter would make it part of a word."""

    before_V: Tensor
    """bool: whether a placeholder may follow the token."""
    after_V: Tensor
    """bool: whether the token may follow a placeholder."""
    joins_V: Tensor
    """bool: whether the token begins with a sign that joins words."""

    def to(self, device: torch.device) -> "Adjacency":
        return Adjacency(*(tensor.to(device) for tensor in self))


class _Memory(NamedTuple):
    model: Any
    placeholders: Placeholders


class _State(NamedTuple):
    model: Any
    pending_NK: Tensor
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
        return _Banks(self._placeholders.positions_BKS.any(dim=2), self._known)

    def start(self, batch: Batch) -> SearchStart:
        start = self._model.start(batch)
        device = start.memory_lengths_B.device
        own = self._placeholders.to(device)
        self._adjacency = self._adjacency.to(device)
        pending_NK = own.positions_BKS.any(dim=2)
        memory, state = _Memory(start.memory, own), _State(start.state, pending_NK, 0)
        return SearchStart(memory, state, start.memory_lengths_B)

    def advance(self, memory: _Memory, state: _State, ids_N: Tensor) -> Step:
        """Return one token of every row; after a placeholder, the model reads its stand-in."""
        own = memory.placeholders
        beam = len(ids_N) // len(own.lengths_B)
        rows = own.of(torch.arange(len(own.lengths_B), device=ids_N.device).repeat_interleave(beam))
        written_N = ids_N >= self._known
        which_N = (ids_N - self._known).clamp(min=0)
        pending_NK = _remove_written(state.pending_NK, ids_N - self._known)
        read_N = torch.where(written_N, rows.stand_ins_BK.gather(1, which_N[:, None]).squeeze(1), ids_N)
        step = self._model.advance(memory.model, state.model, read_N)
        with torch.inference_mode():
            log_probs_NU = self._mix(step, rows, pending_NK)
            known = self._known
            joined_N1 = rows.joined_BK.gather(1, which_N[:, None])
            mutilating_NV = ~self._adjacency.after_V | (self._adjacency.joins_V & ~joined_N1)
            log_probs_NU[:, :known].masked_fill_(written_N[:, None] & mutilating_NV, -inf)
            after_N = written_N | self._adjacency.before_V[read_N]
            log_probs_NU[:, known:].masked_fill_(~after_N[:, None], -inf)
            left_N = rows.lengths_B - state.step
            due_N = pending_NK.any(dim=1) & (left_N <= pending_NK.sum(dim=1) + 1)
            if due_N.any():
                pointed_NK = log_probs_NU[due_N, known:].clamp(min=_FLOOR).masked_fill(~pending_NK[due_N], -inf)
                log_probs_NU[due_N] = torch.cat([torch.full_like(log_probs_NU[due_N, :known], -inf), pointed_NK], dim=1)
        return Step(log_probs_NU, step.weights_NS, _State(step.state, pending_NK, state.step + 1))

    def _mix(self, step: Step, rows: Placeholders, pending_NK: Tensor) -> Tensor:
        """ln p of every token and every placeholder."""
        log_probs_NV = step.log_probs_NV
        attention_NK = torch.zeros_like(pending_NK, dtype=log_probs_NV.dtype)
        if step.weights_NS is not None:
            weights_NKS = step.weights_NS[:, None, :].where(rows.positions_BKS, 0.0)
            attention_NK = weights_NKS.sum(dim=2).to(log_probs_NV.dtype).clamp(max=1.0) * pending_NK
        stand_in_NK = log_probs_NV.gather(1, rows.stand_ins_BK)
        pointed_NK = attention_NK * rows.attended_BK + stand_in_NK.exp() * _parts(rows, attention_NK, pending_NK)
        log_probs_NV.scatter_(1, rows.stand_ins_BK, stand_in_NK.masked_fill(rows.alone_BK, -inf))
        log_probs_NV[:, self.eos].masked_fill_(pending_NK.any(dim=1), -inf)
        return torch.cat([log_probs_NV, pointed_NK.clamp(max=1.0).log().masked_fill(~pending_NK, -inf)], dim=1)

    def select(self, state: _State, rows_N: Tensor) -> _State:
        return _State(self._model.select(state.model, rows_N), state.pending_NK[rows_N], state.step)

    def keep(self, memory: _Memory, sentences_B: Tensor) -> _Memory:
        return _Memory(self._model.keep(memory.model, sentences_B), memory.placeholders.of(sentences_B))


class _Banks(Steering):
    """Its state is which placeholders of each row are pending; what it has met is the number of the others."""

    allocates_beam = True

    def __init__(self, given_BK: Tensor, known: int) -> None:
        """``known`` is the size of the vocabulary."""
        self._given_BK, self._known = given_BK, known

    def start(self, sentences_B: Tensor) -> Tensor:
        return self._given_BK.to(sentences_B.device)[sentences_B]

    def extend(self, state: Tensor, rows_N: Tensor, ids_N: Tensor) -> Tensor:
        return _remove_written(state[rows_N], ids_N - self._known)

    def proposals(self, ids_NT: Tensor, state: Tensor) -> Entries:
        rows_X, which_X = state.nonzero(as_tuple=True)
        return Entries(rows_X, which_X + self._known)

    def constraints_met(self, state: Tensor, rows_X: Tensor, ids_X: Tensor) -> Tensor:
        return (~_remove_written(state[rows_X], ids_X - self._known)).sum(dim=1)


def _remove_written(pending_NK: Tensor, written_N: Tensor) -> Tensor:
    """Return the placeholders that are pending after one was written; a negative number is none."""
    return pending_NK & (torch.arange(pending_NK.shape[1], device=written_N.device) != written_N[:, None])


def _parts(rows: Placeholders, attention_NK: Tensor, pending_NK: Tensor) -> Tensor:
    """Return the part that each pending placeholder has of the probability of its stand-in.

    Of several with one stand-in, as much as it has of their attention, and all of it the first where they have none;
    where another word of the sentence is that token, as much as its attention.
    """
    alike_NKK = (rows.stand_ins_BK[:, :, None] == rows.stand_ins_BK[:, None, :]) & pending_NK[:, None, :]
    all_NK = (alike_NKK * attention_NK[:, None, :]).sum(dim=2)
    first_NK = ~alike_NKK.tril(diagonal=-1).any(dim=2)
    of_all_NK = torch.where(all_NK > 0, attention_NK / all_NK.clamp(min=1e-30), first_NK.to(attention_NK.dtype))
    return torch.where(rows.alone_BK | (all_NK == 0), of_all_NK, attention_NK) * pending_NK
