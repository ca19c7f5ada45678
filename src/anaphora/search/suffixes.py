"""Outputs that end with a given suffix, for all rows of a search at once.

``</s>`` waits until the last tokens of a row are its suffix, which an automaton follows. Near the maximum length only
tokens may be written that leave room for the rest of it: so every output has its suffix. A beam gives places to
hypotheses that have written any part of it (Post and Vilar 2018).
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from anaphora.batch import pad
from anaphora.search.automaton import Automaton, Form
from anaphora.search.steering import Edits, Entries, Steering


class _State(NamedTuple):
    sentences_N: Tensor
    nodes_N: Tensor
    step: int


class Suffixes(Steering):
    """Steers a search to the suffixes of one batch."""

    allocates_beam = True

    def __init__(self, suffixes: Sequence[Form], lengths_B: Tensor, eos: int) -> None:
        """``suffixes`` of the sentences, empty for none.

        ``lengths_B``: int64, the maximum number of tokens of each output, ``</s>`` included.
        """
        distinct = list(dict.fromkeys(suffixes))
        self._automaton = Automaton([[suffix] for suffix in distinct], ())
        self._own_B = torch.tensor([distinct.index(suffix) for suffix in suffixes])
        self._sizes_B = torch.tensor(list(map(len, suffixes)))
        self._tokens_BT = pad([sorted(set(suffix)) for suffix in suffixes], value=-1).ids_BT
        self._lengths_B, self._eos = lengths_B, eos

    def start(self, sentences_B: Tensor) -> _State:
        return _State(sentences_B, torch.zeros_like(sentences_B), 0)

    def edits(self, ids_NT: Tensor, state: _State) -> Edits:
        """Ban ``</s>`` before the suffix, and near the end all that leaves no room for the rest of it."""
        sizes_N, lengths_N = self._of(self._sizes_B, state), self._of(self._lengths_B, state)
        complete_N = self._count_written(state.sentences_N, state.nodes_N) == sizes_N
        early_X = (~complete_N).nonzero().squeeze(1)
        forbidden = Entries.one_each(early_X, self._eos)
        least_N = sizes_N + 2 - (lengths_N - state.step)  # of the suffix that has to be written after the next token
        tight_N = (sizes_N > 0) & (least_N > 0)
        if not tight_N.any():
            return Edits(forbidden=forbidden)
        rows_X, ids_X, written_X = self._continuations(state)
        kept_X = tight_N[rows_X] & (written_X >= least_N[rows_X])
        ending = Entries.one_each((tight_N & complete_N).nonzero().squeeze(1), self._eos)
        return Edits(only=Entries.concatenate(Entries(rows_X[kept_X], ids_X[kept_X]), ending), forbidden=forbidden)

    def proposals(self, ids_NT: Tensor, state: _State) -> Entries:
        """Return tokens that begin or continue the suffix, and the end behind it."""
        rows_X, ids_X, _ = self._continuations(state)
        sizes_N = self._of(self._sizes_B, state)
        complete_N = (sizes_N > 0) & (self._count_written(state.sentences_N, state.nodes_N) == sizes_N)
        return Entries.concatenate(Entries(rows_X, ids_X), Entries.one_each(complete_N.nonzero().squeeze(1), self._eos))

    def extend(self, state: _State, rows_N: Tensor, ids_N: Tensor) -> _State:
        nodes_N = self._automaton.after(state.nodes_N[rows_N], ids_N)
        return _State(state.sentences_N[rows_N], nodes_N, state.step + 1)

    def constraints_met(self, state: _State, rows_X: Tensor, ids_X: Tensor) -> Tensor:
        """Return the number of tokens of its suffix that a row ends with."""
        return self._count_written(state.sentences_N[rows_X], self._automaton.after(state.nodes_N[rows_X], ids_X))

    def _of(self, values_B: Tensor, state: _State) -> Tensor:
        return values_B.to(state.sentences_N.device)[state.sentences_N]

    def _count_written(self, sentences_N: Tensor, nodes_N: Tensor) -> Tensor:
        """Return the number of tokens of its suffix that each row ends with."""
        own_N = self._own_B.to(sentences_N.device)[sentences_N]
        return self._automaton.progress(nodes_N).gather(1, own_N[:, None]).squeeze(1)

    def _continuations(self, state: _State) -> tuple[Tensor, Tensor, Tensor]:
        """Rows, tokens of their suffixes after which they end with a part of it, and how much of it."""
        tokens_NT = self._of(self._tokens_BT, state)
        rows_X, places_X = (tokens_NT >= 0).nonzero(as_tuple=True)
        ids_X = tokens_NT[rows_X, places_X]
        written_X = self.constraints_met(state, rows_X, ids_X)
        begun_X = written_X > 0
        return rows_X[begun_X], ids_X[begun_X], written_X[begun_X]
