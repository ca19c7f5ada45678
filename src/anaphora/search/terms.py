"""Forms that an output must not have, and outputs that are one of a few, for all rows of a search at once."""

from collections.abc import Sequence

import numpy as np

from anaphora.protocols import Array
from anaphora.search.steering import Edits, Entries, Form, Steering


class ForbiddenForms(Steering):
    """Keeps forms out of the outputs of one batch. Its state is the sentence of each row."""

    def __init__(self, forms_B: Sequence[Sequence[Form]], begin: int) -> None:
        """``forms_B``: those of each sentence. ``begin``: the token that is taken to stand in front of the output."""
        self._forms_B, self._begin = forms_B, begin

    def start(self, sentences_B: Array) -> Array:
        return sentences_B

    def edits(self, ids_NT: Array, state: Array) -> Edits:
        """Ban the tokens that end a form."""
        rows = zip(state.tolist(), ids_NT.tolist(), strict=True)
        written = [(self._forms_B[sentence], (self._begin, *ids)) for sentence, ids in rows]
        banned = [
            (row, form[-1])
            for row, (forms, ids) in enumerate(written)
            for form in forms
            if ids[len(ids) - len(form) + 1 :] == form[:-1]
        ]
        return Edits(forbidden=Entries(*np.array(banned, np.int64).reshape(-1, 2).T))


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
