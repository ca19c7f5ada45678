"""A Stepper around another Stepper."""

from typing import Any

from anaphora.batch import Batch
from anaphora.protocols import Array, SearchStart, Step, Stepper


class Wrapper:
    """The Stepper that it wraps, unchanged; subclasses change what a step gives. Its steps are never narrow."""

    def __init__(self, model: Stepper) -> None:
        """Memory and state are those of ``model``."""
        self._model = model
        self.size, self.bos, self.eos, self.unk = model.size, model.bos, model.eos, model.unk

    def start(self, batch: Batch) -> SearchStart:
        return self._model.start(batch)

    def advance(self, memory: Any, state: Any, ids_N: Array) -> Step:
        return self._model.advance(memory, state, ids_N)

    def select(self, state: Any, rows_N: Array) -> Any:
        return self._model.select(state, rows_N)

    def keep(self, memory: Any, sentences_B: Array) -> Any:
        return self._model.keep(memory, sentences_B)
