"""Terms that an output must contain and terms that it must not, for all rows of a search at once.

Each term has one form or several, each a row of tokens. All forms of a batch are one automaton (Aho and Corasick 1975)
whose state says which forms the last tokens of a row end or begin. A beam gives places to hypotheses with any number of
terms (Post and Vilar 2018), ``</s>`` waits for the last one, and near the maximum length only tokens that continue a
term may be written: so every output has its terms. After a term, no token may make another word of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from anaphora.search.automaton import STRIDE, Automaton, Form
from anaphora.search.steering import Edits, Entries, Steering


@dataclass(frozen=True)
class TermsOfBatch:
    """The terms of the sentences of a batch."""

    required: Sequence[Sequence[Form]]
    """G terms, each with the forms that are allowed."""
    forbidden: Sequence[Form]
    """F forms."""
    required_BG: Tensor
    """bool: whether the sentence needs the term."""
    forbidden_BF: Tensor
    """bool: whether the sentence must not have the form."""
    lengths_B: Tensor
    """int64: maximum number of tokens of each output, ``</s>`` included."""
    begin: int | None
    """The token that stands in front of a word, and is taken to stand in front of the output; None where none does."""


class _State(NamedTuple):
    sentences_N: Tensor
    nodes_N: Tensor
    done_NG: Tensor
    ended_N: Tensor
    """bool: whether the last token ended a term that was pending."""
    step: int


class Terms(Steering):
    """Steers a search to the terms of one batch."""

    allocates_beam = True

    def __init__(self, terms: TermsOfBatch, after_V: Tensor, eos: int) -> None:
        """``after_V``: the tokens that may stand behind a term."""
        self._terms, self._eos = terms, eos
        self._automaton = Automaton(terms.required, terms.forbidden)
        self._never_X = (~after_V).nonzero().squeeze(1)
        self._most_G = torch.tensor([max(map(len, forms)) for forms in terms.required], dtype=torch.int64)

    def start(self, sentences_B: Tensor) -> _State:
        begun = torch.full_like(sentences_B, self._terms.begin if self._terms.begin is not None else self._eos)
        nodes_B = self._automaton.after(torch.zeros_like(sentences_B), begun)
        done_BG = ~self._terms.required_BG.to(sentences_B.device)[sentences_B]
        return _State(sentences_B, nodes_B, done_BG, torch.zeros_like(sentences_B, dtype=torch.bool), 0)

    def edits(self, ids_NT: Tensor, state: _State) -> Edits:
        """Ban ``</s>`` before the last term, forbidden forms, and words that go on behind a term."""
        pending_NG = ~state.done_NG
        device = state.nodes_N.device
        early_X = pending_NG.any(dim=1).nonzero().squeeze(1)
        closed_X = state.ended_N.nonzero().squeeze(1)
        barred_NF = self._terms.forbidden_BF.to(device)[state.sentences_N]
        nodes_E, tokens_E, forms_E = self._automaton.ending_forbidden(device)
        ending_X, edges_X = ((state.nodes_N[:, None] == nodes_E) & barred_NF[:, forms_E]).nonzero(as_tuple=True)
        early, closed = Entries.one_each(early_X, self._eos), Entries.every(closed_X, self._never_X.to(device))
        forbidden = Entries.concatenate(early, closed, Entries(ending_X, tokens_E[edges_X]))
        return Edits(only=self._due(state, pending_NG), forbidden=forbidden)

    def proposals(self, ids_NT: Tensor, state: _State) -> Entries:
        """Return tokens that begin or continue a pending term."""
        return _unique(*self._going_on(state, ~state.done_NG)[:2])

    def extend(self, state: _State, rows_N: Tensor, ids_N: Tensor) -> _State:
        nodes_N = self._automaton.after(state.nodes_N[rows_N], ids_N)
        before_NG = state.done_NG[rows_N]
        done_NG = before_NG | self._automaton.ends(nodes_N)
        return _State(state.sentences_N[rows_N], nodes_N, done_NG, (done_NG & ~before_NG).any(dim=1), state.step + 1)

    def constraints_met(self, state: _State, rows_X: Tensor, ids_X: Tensor) -> Tensor:
        """The tokens of its terms that a row has; a term counts as its longest form, a begun one as far as it is."""
        nodes_X = self._automaton.after(state.nodes_N[rows_X], ids_X)
        done_XG = state.done_NG[rows_X] | self._automaton.ends(nodes_X)
        tokens_XG = torch.where(done_XG, self._most_G.to(done_XG.device), self._automaton.progress(nodes_X))
        return tokens_XG.sum(dim=1)

    def _due(self, state: _State, pending_NG: Tensor) -> Entries | None:
        """Return the tokens that go furthest with a term, for rows with no time for anything else."""
        left_N = self._terms.lengths_B.to(state.nodes_N.device)[state.sentences_N] - state.step
        needed_N = (pending_NG * self._most_G.to(left_N.device)).sum(dim=1)
        due_N = pending_NG.any(dim=1) & (left_N <= needed_N + 1)
        if not due_N.any():
            return None
        rows_X, ids_X, depths_X = self._going_on(state, pending_NG & due_N[:, None])
        furthest_N = torch.zeros_like(left_N).scatter_reduce(0, rows_X, depths_X, "amax", include_self=True)
        kept_X = depths_X == furthest_N[rows_X]
        return _unique(rows_X[kept_X], ids_X[kept_X])

    def _going_on(self, state: _State, pending_NG: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Rows, tokens, and how many tokens of a pending term each row has in front of the token."""
        nodes_E, tokens_E, depths_E, terms_E = self._automaton.going_on(state.nodes_N.device)
        rows_X, edges_X = ((state.nodes_N[:, None] == nodes_E) & pending_NG[:, terms_E]).nonzero(as_tuple=True)
        return rows_X, tokens_E[edges_X], depths_E[edges_X]


def _unique(rows_X: Tensor, ids_X: Tensor) -> Entries:
    keys_X: Tensor = torch.unique(rows_X * STRIDE + ids_X)
    return Entries(keys_X // STRIDE, keys_X % STRIDE)
