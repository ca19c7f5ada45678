"""Log-probabilities that are tensors, as those of a GPU, are searched as arrays are."""

from typing import Any

import numpy as np
import pytest
import torch

from anaphora.protocols import Step, Stepper
from anaphora.search.constraints import MinimumLength, NoRepeatedNgrams
from anaphora.search.ensemble import Ensemble
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.sampling import Sampling
from anaphora.search.scoring import score
from anaphora.search.selection import Diversity
from anaphora.search.suffixes import Suffixes
from anaphora.search.wrapper import Wrapper
from tests.searches import beam, greedy

from .naive import SOURCES, automaton, batch, written

EOS = 1
SUFFIXES = Suffixes([(5, 4)] * len(SOURCES), np.full(len(SOURCES), 8), EOS)
SEARCHES: dict[str, dict[str, Any]] = {
    "beam": {"n": 3, "banned_tokens": (2,)},
    "a wide beam": {"beam": 90, "max_length": 5},
    "groups": {"diversity": Diversity(2)},
    "steered": {"steering": [MinimumLength(4, EOS), NoRepeatedNgrams(2)]},
    "suffixes": {"steering": [SUFFIXES]},
    "greedy": {"beam": 1, "steering": [NoRepeatedNgrams(2)], "on_token": lambda *_: None},
    "sample": {"sampling": Sampling(top_k=4)},
    "ensemble": {},
}


class OfTensors(Wrapper):
    """The same steps, with tensors for what may be on a GPU."""

    def advance(self, memory: Any, state: Any, ids_N: Any) -> Step:
        step = self._model.advance(memory, state, ids_N)
        return step._replace(log_probs_NV=torch.from_numpy(step.log_probs_NV))


@pytest.mark.parametrize("grain", [0.0, 2.0])
@pytest.mark.parametrize("prefixes", [None, [[3]] * 3 + [[]] * 4])
@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_finds_the_same(name: str, prefixes: Any, grain: float) -> None:
    stepper, asked = automaton(size=100 if name == "a wide beam" else 9, grain=grain), {"beam": 4, "max_length": 8}
    steppers: list[Any] = [OfTensors(stepper), stepper]
    if name == "ensemble":
        steppers = [Ensemble([one, one]) for one in steppers]
    found, expected = (beam(one, batch(SOURCES, prefixes=prefixes), **asked | SEARCHES[name]) for one in steppers)
    assert found == expected


def test_a_score_is_the_same() -> None:
    stepper: Stepper = automaton(size=9)
    found: list[Hypothesis] = greedy(stepper, batch(SOURCES), max_length=8)
    given = batch(SOURCES, written(found, stepper.eos))
    assert score(OfTensors(stepper), given) == score(stepper, given) == found
