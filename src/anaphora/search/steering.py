"""Steering: tokens that a hypothesis must not, must or should write next, decided from what it has written so far.

What is decided is data (``Edits``) and not a change of the model, so that every search applies it in the same way,
and a compiled one can: before each step a search asks for the edits of its rows, and after it for the states of the
rows that it kept. ``Steering`` is the base of everything that steers; several steer one search side by side.
"""

from collections.abc import Sequence
from math import inf
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from anaphora.protocols import Array, DeviceArray

Form = tuple[int, ...]
"""Tokens of one form of a term."""


class Entries(NamedTuple):
    """Places in the log-probabilities of a step."""

    rows_X: Array
    """int64: rows of the step."""
    ids_X: Array
    """int64: a token of each."""

    @classmethod
    def one_each(cls, rows_X: Array, token: int) -> Self:
        """Return one token of each of the rows."""
        return cls(rows_X, np.full_like(rows_X, token))

    @classmethod
    def concatenate(cls, *entries: "Entries") -> Self:
        """Return several one after the other."""
        return cls(*map(np.concatenate, zip(*entries, strict=True)))


class Edits(NamedTuple):
    """Changes of the log-probabilities of one step; the default changes nothing."""

    only: Entries | None = None
    """A row that is named here may be continued with the tokens named for it alone."""
    forbidden: Entries | None = None
    """Tokens that cannot be written."""

    def apply(self, log_probs_NV: DeviceArray) -> None:
        """Change the log-probabilities in place."""
        if self.only is not None:
            rows_X, ids_X = self.only
            allowed_X = log_probs_NV[rows_X, ids_X]
            log_probs_NV[rows_X] = -inf
            log_probs_NV[rows_X, ids_X] = allowed_X
        if self.forbidden is not None:
            log_probs_NV[self.forbidden.rows_X, self.forbidden.ids_X] = -inf


NO_EDITS = Edits()


class Steering:
    """The base: it changes nothing. A search has its rows in the order of its sentences, several for each in a beam.

    Its state is anything with a part for each row; what belongs to a sentence is repeated there, or its number is.
    """

    allocates_beam: ClassVar[bool] = False
    """True if a beam divides its places among hypotheses of different ``constraints_met``."""

    def start(self, sentences_B: Array) -> Any:
        """The state of one row a sentence, before any token was written; sentences are numbered within the batch."""
        return None

    def edits(self, ids_NT: Array, state: Any) -> Edits:
        """Return the edits of the next step, for rows that have written ``ids_NT``, any prefix included."""
        return NO_EDITS

    def extend(self, state: Any, rows_N: Array, ids_N: Array) -> Any:
        """Return the state of the given rows, repeated or left out, each after one more token; by default as it was."""
        return None if state is None else state[rows_N]

    def proposals(self, ids_NT: Array, state: Any) -> Entries | None:
        """Tokens, each once, that a beam considers however improbable they are; None for none."""
        return None

    def constraints_met(self, state: Any, rows_X: Array, ids_X: Array) -> Array:
        """int64, at least 0: what each row has met after its token, such as the number of terms it has written.

        For those that ``allocates_beam``: in a beam of k, of all hypotheses of a sentence that have met as much the
        best is kept, then the second best of each, until there are k (Post and Vilar 2018, dynamic beam allocation).
        """
        raise NotImplementedError


class SteeredRows(NamedTuple):
    """All that steers a search, with the states of its rows."""

    by: Sequence[Steering]
    states: Sequence[Any]
    ids_NT: Array
    """The tokens that every row has written."""

    @classmethod
    def start(cls, by: Sequence[Steering], sentences_B: Array) -> Self:
        """Return one row a sentence, with nothing written."""
        return cls(by, [one.start(sentences_B) for one in by], np.zeros((len(sentences_B), 0), dtype=np.int64))

    @property
    def allocates_beam(self) -> bool:
        return any(one.allocates_beam for one in self.by)

    def edit(self, log_probs_NV: DeviceArray) -> None:
        """Change the log-probabilities of the next step in place."""
        for one, state in zip(self.by, self.states, strict=True):
            one.edits(self.ids_NT, state).apply(log_probs_NV)

    def proposals(self) -> list[Entries]:
        """Return the tokens that are to be considered."""
        found = (one.proposals(self.ids_NT, state) for one, state in zip(self.by, self.states, strict=True))
        return [entries for entries in found if entries is not None]

    def constraints_met(self, rows_X: Array, ids_X: Array) -> Array:
        """Return what each row has met after its token."""
        allocating = ((one, state) for one, state in zip(self.by, self.states, strict=True) if one.allocates_beam)
        return sum((one.constraints_met(state, rows_X, ids_X) for one, state in allocating), np.zeros_like(rows_X))

    def extend(self, rows_N: Array, ids_N: Array) -> Self:
        """Return the same for the given rows, each after one more token."""
        if not self.by:
            return self
        states = [one.extend(state, rows_N, ids_N) for one, state in zip(self.by, self.states, strict=True)]
        return self._replace(states=states, ids_NT=np.concatenate([self.ids_NT[rows_N], ids_N[:, None]], axis=1))
