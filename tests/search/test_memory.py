"""A search takes its rows, their device and the lengths of their memory from the Stepper, and reads no inputs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from anaphora.batch import Batch, Constraints, pad
from anaphora.protocols import SearchStart, Step, Stepper
from anaphora.search.ensemble import Ensemble, Fused
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.scoring import score
from tests.searches import beam, greedy, sample

MEMORY = [2, 5, 1]
TARGETS = [[4, 5, 1], [3, 1], [2, 2, 4, 1]]
PREFIXES = [[4], [3, 3], [2]]


class Untouchable:
    """Inputs that nobody may read."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"the inputs were asked for {name}")


def batch() -> Batch:
    """A batch of which the Stepper below reads nothing but the number of rows."""
    return Batch(
        Untouchable(),  # type: ignore[arg-type]
        pad(TARGETS),
        torch.arange(3),
        torch.zeros(3, dtype=torch.bool),
        constraints=Constraints(prefixes=pad(PREFIXES)),
    )


@dataclass
class Remembering:
    """Its memory has other lengths than any source, and its log-probabilities depend on the step alone."""

    log_probs_TV: Tensor
    bos: int = 0
    eos: int = 1
    unk: int = 2

    @property
    def size(self) -> int:
        return self.log_probs_TV.shape[1]

    def start(self, batch: Batch) -> SearchStart:
        return SearchStart(torch.tensor(MEMORY), torch.zeros(batch.size, dtype=torch.int64), torch.tensor(MEMORY))

    def advance(self, memory: Tensor, state: Tensor, ids_N: Tensor) -> Step:
        lengths_N = memory.repeat_interleave(len(ids_N) // len(memory))
        within_NS = torch.arange(max(MEMORY)) < lengths_N[:, None]
        return Step(self.log_probs_TV[state], within_NS / lengths_N[:, None], state + 1)

    def select(self, state: Tensor, rows_N: Tensor) -> Tensor:
        return state[rows_N]

    def keep(self, memory: Tensor, sentences_B: Tensor) -> Tensor:
        return memory[sentences_B]


def remembering() -> Remembering:
    return Remembering(torch.log_softmax(torch.randn(8, 6, generator=torch.Generator().manual_seed(2)), 1))


STEPPERS: dict[str, Callable[[], Stepper]] = {
    "alone": remembering,
    "ensemble": lambda: Ensemble([remembering(), remembering()]),
    "fused": lambda: Fused(remembering(), remembering(), 0.3),
}
SEARCHES: dict[str, Callable[[Stepper], list[Hypothesis]]] = {
    "beam": lambda stepper: [found for found, *_ in beam(stepper, batch(), beam=3, max_length=6)],
    "greedy": lambda stepper: greedy(stepper, batch(), max_length=6),
    "sample": lambda stepper: sample(stepper, batch(), max_length=6, seed=4),
    "score": lambda stepper: score(stepper, batch()),
}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("stepper", STEPPERS)
def test_a_search_reads_no_inputs_and_attention_has_the_length_of_the_memory(stepper: str, search: str) -> None:
    found = SEARCHES[search](STEPPERS[stepper]())
    assert len(found) == len(MEMORY)
    for positions, hypothesis in zip(MEMORY, found, strict=True):
        assert hypothesis.weights is not None
        assert hypothesis.weights.shape == (len(hypothesis.ids) + hypothesis.finished, positions)
        torch.testing.assert_close(hypothesis.weights.sum(1), torch.ones(len(hypothesis.weights)))


@pytest.mark.parametrize("search", ["beam", "greedy", "sample"])
def test_targets_never_constrain_a_search(search: str) -> None:
    for prefix, hypothesis in zip(PREFIXES, SEARCHES[search](remembering()), strict=True):
        assert list(hypothesis.ids[: len(prefix)]) == prefix
