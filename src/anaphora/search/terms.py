"""Forms that an output must not have, and outputs that are one of a few, for all rows of a search at once.

The forms are rows of tokens. All forms of a batch are one automaton (Aho and Corasick 1975), whose state says which
forms the last tokens of a row begin.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from anaphora.protocols import Array
from anaphora.search.automaton import Automaton, Form
from anaphora.search.steering import Edits, Entries, Steering


class _State(NamedTuple):
    sentences_N: Array
    nodes_N: Array


class ForbiddenForms(Steering):
    """Keeps forms out of the outputs of one batch."""

    def __init__(self, forms_B: Sequence[Sequence[Form]], begin: int) -> None:
        """``forms_B``: those of each sentence. ``begin``: the token that is taken to stand in front of the output."""
        forms = list(dict.fromkeys(form for own in forms_B for form in own))
        self._barred_BF = np.array([[form in own for form in forms] for own in map(set, forms_B)])
        self._automaton, self._begin = Automaton((), forms), begin

    def start(self, sentences_B: Array) -> _State:
        begun_B = np.full_like(sentences_B, self._begin)
        return _State(sentences_B, self._automaton.after(np.zeros_like(sentences_B), begun_B))

    def edits(self, ids_NT: Array, state: _State) -> Edits:
        """Ban the tokens that end a form."""
        nodes_E, tokens_E, forms_E = self._automaton.ending_forbidden
        barred_NE = self._barred_BF[state.sentences_N][:, forms_E]
        rows_X, edges_X = ((state.nodes_N[:, None] == nodes_E) & barred_NE).nonzero()
        return Edits(forbidden=Entries(rows_X, tokens_E[edges_X]))

    def extend(self, state: _State, rows_N: Array, ids_N: Array) -> _State:
        return _State(state.sentences_N[rows_N], self._automaton.after(state.nodes_N[rows_N], ids_N))


class OneOf(Steering):
    """Outputs that are one of a few for each sentence.

    Its state is what each row may still write [C, T], nothing for a row that cannot be continued.
    """

    def __init__(self, outputs_B: Sequence[Array]) -> None:
        """int64 [C, T] of each sentence, with one or more ``</s>`` at their ends."""
        self._outputs_B = outputs_B

    def start(self, sentences_B: Array) -> list[Array]:
        return [self._outputs_B[sentence] for sentence in sentences_B.tolist()]

    def edits(self, ids_NT: Array, state: list[Array]) -> Edits:
        """Allow the tokens alone that continue an output."""
        ids_N = [np.unique(own_CT[:, :1]) for own_CT in state]
        rows_X = np.arange(len(state)).repeat(list(map(len, ids_N)))
        return Edits(only=Entries(rows_X, np.concatenate(ids_N)))

    def extend(self, state: list[Array], rows_N: Array, ids_N: Array) -> list[Array]:
        pairs = zip(rows_N.tolist(), ids_N.tolist(), strict=True)
        return [state[row][(state[row][:, :1] == token).any(axis=1), 1:] for row, token in pairs]
