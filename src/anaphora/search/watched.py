"""A model whose searches can be stopped between two steps, whatever the search."""

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from anaphora.batch import Batch
from anaphora.protocols import (
    BeamSearch,
    BeamStep,
    BeamSteps,
    GreedySearch,
    GreedySteps,
    Narrows,
    SearchStart,
    Step,
    Stepper,
    TakesBeamSteps,
    TakesGreedySteps,
)


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

    def greedy_steps(self, start: SearchStart, search: GreedySearch) -> GreedySteps | None:
        model = self._model
        steps = model.greedy_steps(start, search) if isinstance(model, TakesGreedySteps) else None
        return steps and _WatchedSteps(steps, self._check)

    def beam_steps(self, start: SearchStart, search: BeamSearch) -> BeamSteps | None:
        model = self._model
        steps = model.beam_steps(start, search) if isinstance(model, TakesBeamSteps) else None
        return steps and _WatchedBeamSteps(steps, self._check)

    def select(self, state: Any, rows_N: Tensor) -> Any:
        return self._model.select(state, rows_N)

    def keep(self, memory: Any, sentences_B: Tensor) -> Any:
        return self._model.keep(memory, sentences_B)


class _WatchedSteps:
    """Greedy steps with a ``check`` before each call."""

    def __init__(self, steps: GreedySteps, check: Callable[[], None]) -> None:
        self._steps, self._check = steps, check
        self.tokens_BT, self.weights_BTS = steps.tokens_BT, steps.weights_BTS

    def take(self, steps: int) -> int:
        self._check()
        return self._steps.take(steps)

    @property
    def lengths_B(self) -> Tensor:
        return self._steps.lengths_B

    @property
    def scores_B(self) -> Tensor:
        return self._steps.scores_B


class _WatchedBeamSteps:
    """Beam steps with a ``check`` before each call."""

    def __init__(self, steps: BeamSteps, check: Callable[[], None]) -> None:
        self._steps, self._check = steps, check

    def take(self, steps: int) -> Sequence[BeamStep]:
        self._check()
        return self._steps.take(steps)
