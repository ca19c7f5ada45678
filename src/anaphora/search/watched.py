"""A model whose searches can be stopped between two steps, whatever the search."""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from anaphora.batch import Batch
from anaphora.protocols import Narrows, SearchStart, Step, Stepper


class Watched:
    """A Stepper that calls ``check`` before it starts and before each step; an error that it raises ends the search."""

    def __init__(self, model: Stepper, check: Callable[[], None]) -> None:
        """Memory and state are those of ``model``."""
        self._model, self._check = model, check
        self.size, self.bos, self.eos, self.unk = model.size, model.bos, model.eos, model.unk
        self.narrows = isinstance(model, Narrows) and model.narrows

    def start(self, batch: Batch) -> SearchStart:
        self._check()
        return self._model.start(batch)

    def advance(self, memory: Any, state: Any, ids_N: Tensor) -> Step:
        """One token of every row."""
        self._check()
        return self._model.advance(memory, state, ids_N)

    def select(self, state: Any, rows_N: Tensor) -> Any:
        return self._model.select(state, rows_N)

    def keep(self, memory: Any, sentences_B: Tensor) -> Any:
        return self._model.keep(memory, sentences_B)
