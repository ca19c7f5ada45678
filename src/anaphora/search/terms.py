"""Terms that an output must contain and terms that it must not, for all rows of a search at once.

Each term has one form or several, each a row of tokens. All forms of a batch are one automaton (Aho and Corasick 1975)
whose state says which forms the last tokens of a row end or begin. A beam gives places to hypotheses with any number of
terms (Post and Vilar 2018), ``</s>`` waits for the last one, and near the maximum length only tokens that continue a
term may be written: so every output has its terms. After a term, no token may make another word of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anaphora.protocols import Array
from anaphora.search.automaton import STRIDE, Automaton, Form
from anaphora.search.steering import Edits, Entries, Steering


@dataclass(frozen=True)
class TermsOfBatch:
    """The terms of the sentences of a batch."""

    required: Sequence[Sequence[Form]]
    """G terms, each with the forms that are allowed."""
    forbidden: Sequence[Form]
    """F forms."""
    required_BG: Array
    """bool: whether the sentence needs the term."""
    forbidden_BF: Array
    """bool: whether the sentence must not have the form."""
    lengths_B: Array
    """int64: maximum number of tokens of each output, ``</s>`` included."""
    begin: int | None
    """The token that stands in front of a word, and is taken to stand in front of the output; None where none does."""


class _State(NamedTuple):
    sentences_N: Array
    nodes_N: Array
    done_NG: Array
    ended_N: Array
    """bool: whether the last token ended a term that was pending."""
    step: int


class Terms(Steering):
    """Steers a search to the terms of one batch."""

    allocates_beam = True

    def __init__(self, terms: TermsOfBatch, after_V: Array, eos: int) -> None:
        """``after_V``: the tokens that may stand behind a term."""
        self._terms, self._eos = terms, eos
        self._automaton = Automaton(terms.required, terms.forbidden)
        self._never_X = np.flatnonzero(~after_V)
        self._most_G = np.array([max(map(len, forms)) for forms in terms.required], dtype=np.int64)

    def start(self, sentences_B: Array) -> _State:
        begun = np.full_like(sentences_B, self._terms.begin if self._terms.begin is not None else self._eos)
        nodes_B = self._automaton.after(np.zeros_like(sentences_B), begun)
        done_BG = ~self._terms.required_BG[sentences_B]
        return _State(sentences_B, nodes_B, done_BG, np.zeros(len(sentences_B), dtype=np.bool_), 0)

    def edits(self, ids_NT: Array, state: _State) -> Edits:
        """Ban ``</s>`` before the last term, forbidden forms, and words that go on behind a term."""
        pending_NG = ~state.done_NG
        early_X = np.flatnonzero(pending_NG.any(axis=1))
        closed_X = np.flatnonzero(state.ended_N)
        barred_NF = self._terms.forbidden_BF[state.sentences_N]
        nodes_E, tokens_E, forms_E = self._automaton.ending_forbidden
        ending_X, edges_X = ((state.nodes_N[:, None] == nodes_E) & barred_NF[:, forms_E]).nonzero()
        early, closed = Entries.one_each(early_X, self._eos), Entries.every(closed_X, self._never_X)
        forbidden = Entries.concatenate(early, closed, Entries(ending_X, tokens_E[edges_X]))
        return Edits(only=self._due(state, pending_NG), forbidden=forbidden)

    def proposals(self, ids_NT: Array, state: _State) -> Entries:
        """Return the tokens that begin or continue a pending term."""
        return _unique(*self._going_on(state, ~state.done_NG)[:2])

    def extend(self, state: _State, rows_N: Array, ids_N: Array) -> _State:
        nodes_N = self._automaton.after(state.nodes_N[rows_N], ids_N)
        before_NG = state.done_NG[rows_N]
        done_NG = before_NG | self._automaton.ends(nodes_N)
        ended_N: Array = np.any(done_NG & ~before_NG, axis=1)
        return _State(state.sentences_N[rows_N], nodes_N, done_NG, ended_N, state.step + 1)

    def constraints_met(self, state: _State, rows_X: Array, ids_X: Array) -> Array:
        """The tokens of its terms that a row has; a term counts as its longest form, a begun one as far as it is."""
        nodes_X = self._automaton.after(state.nodes_N[rows_X], ids_X)
        done_XG = state.done_NG[rows_X] | self._automaton.ends(nodes_X)
        found: Array = np.where(done_XG, self._most_G, self._automaton.progress(nodes_X)).sum(axis=1)
        return found

    def _due(self, state: _State, pending_NG: Array) -> Entries | None:
        """Return the tokens that go furthest with a term, for rows with no time for anything else."""
        left_N = self._terms.lengths_B[state.sentences_N] - state.step
        needed_N = (pending_NG * self._most_G).sum(axis=1)
        due_N = pending_NG.any(axis=1) & (left_N <= needed_N + 1)
        if not due_N.any():
            return None
        rows_X, ids_X, depths_X = self._going_on(state, pending_NG & due_N[:, None])
        furthest_N = np.zeros_like(left_N)
        np.maximum.at(furthest_N, rows_X, depths_X)
        kept_X = depths_X == furthest_N[rows_X]
        return _unique(rows_X[kept_X], ids_X[kept_X])

    def _going_on(self, state: _State, pending_NG: Array) -> tuple[Array, Array, Array]:
        """Rows, tokens, and how many tokens of a pending term each row has in front of the token."""
        nodes_E, tokens_E, depths_E, terms_E = self._automaton.going_on
        rows_X, edges_X = ((state.nodes_N[:, None] == nodes_E) & pending_NG[:, terms_E]).nonzero()
        return rows_X, tokens_E[edges_X], depths_E[edges_X]


def _unique(rows_X: Array, ids_X: Array) -> Entries:
    keys_X = np.unique(rows_X * STRIDE + ids_X)
    return Entries(keys_X // STRIDE, keys_X % STRIDE)
