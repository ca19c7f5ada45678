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
from anaphora.search.wrapper import Wrapper


class Watched(Wrapper):
    """A Stepper that calls ``check`` before it starts and before each step; an error that it raises ends the search."""

    def __init__(self, model: Stepper, check: Callable[[], None]) -> None:
        super().__init__(model)
        self._check = check
        self.narrows = isinstance(model, Narrows) and model.narrows

    def start(self, batch: Batch) -> SearchStart:
        self._check()
        return super().start(batch)

    def advance(self, memory: Any, state: Any, ids_N: Tensor) -> Step:
        self._check()
        return super().advance(memory, state, ids_N)

    def greedy_steps(self, start: SearchStart, search: GreedySearch) -> GreedySteps | None:
        model = self._model
        steps = model.greedy_steps(start, search) if isinstance(model, TakesGreedySteps) else None
        return steps and _WatchedSteps(steps, self._check)

    def beam_steps(self, start: SearchStart, search: BeamSearch) -> BeamSteps | None:
        model = self._model
        steps = model.beam_steps(start, search) if isinstance(model, TakesBeamSteps) else None
        return steps and _WatchedBeamSteps(steps, self._check)


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
