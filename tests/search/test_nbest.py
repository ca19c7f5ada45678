"""The n best hypotheses of a beam: an early stop changes none of them."""

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.protocols import Array, Step
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.ranking import LengthModel, Ranking
from anaphora.search.wrapper import Wrapper
from tests.searches import beam

from .naive import SOURCES, Finished, automaton, batch, n_best


def rank(ranking: Ranking, inputs: int) -> Callable[[float, int], float]:
    def ranked(total: float, tokens: int) -> float:
        if model := ranking.length_model:
            lengths = NormalDist(model.ratio * inputs, math.sqrt(model.variance * inputs))
            total += math.log(lengths.pdf(tokens) / lengths.pdf(lengths.mean))
        return total / (tokens if ranking.per_token else ((5 + tokens) / 6) ** ranking.length_penalty)

    return ranked


def read(found: list[Hypothesis]) -> list[Finished]:
    return [(one.rank, one.score, one.ids) for one in found if one.finished]


LENGTHS = st.none() | st.builds(LengthModel, ratio=st.floats(0.5, 2), variance=st.floats(0.5, 3))
RANKINGS = st.builds(Ranking, st.floats(0, 3), length_model=LENGTHS) | st.just(Ranking(per_token=True))


@settings(max_examples=30)
@given(
    asked=st.fixed_dictionaries({"beam": st.integers(1, 6), "n": st.integers(1, 12), "max_length": st.integers(1, 14)}),
    ranking=RANKINGS,
    model=st.fixed_dictionaries({"seed": st.integers(0, 50), "sharpness": st.floats(0.5, 5)}),
)
def test_the_n_best_are_those_of_a_beam_that_never_stops_early(
    asked: dict[str, int], ranking: Ranking, model: dict[str, Any]
) -> None:
    stepper = automaton(size=6, **model)
    together = beam(stepper, batch(SOURCES), ranking=ranking, **asked)
    for source, found in zip(SOURCES, together, strict=True):
        size, n, longest = asked["beam"], asked["n"], asked["max_length"]
        best = n_best(stepper, batch([source]), size, n, longest, rank(ranking, len(source)))
        assert [one[1:] for one in read(found)] == [one[1:] for one in best]
        assert [one[0] for one in read(found)] == pytest.approx([one[0] for one in best])
        assert len(found) == max(1, len(best)) or not found[0].finished


class Counted(Wrapper):
    """A Stepper that counts the rows it reads."""

    rows = 0

    def advance(self, memory: Array, state: Array, ids_N: Array) -> Step:
        self.rows += len(ids_N)
        return super().advance(memory, state, ids_N)


def test_hopeless_hypotheses_are_not_computed() -> None:
    """A single sentence, step by step: of the live rows only those that can still lead to a result are read."""
    some, every = (Counted(automaton(size=30, sharpness=4.0)) for _ in range(2))
    for source in SOURCES:
        [[best]] = beam(some, batch([source]), beam=8, max_length=20)
        [[first, *_]] = beam(every, batch([source]), beam=8, n=1000, max_length=20)
        assert best == first
    assert some.rows < 0.5 * every.rows


def test_coverage_is_counted_by_hand_alone_as_in_a_batch() -> None:
    stepper, ranking = automaton(size=7), Ranking(length_penalty=0.6, coverage_penalty=0.3)
    stepper.scale = 0.01
    differ = 0
    together = beam(stepper, batch(SOURCES), beam=5, n=5, max_length=8, ranking=ranking)
    for source, found in zip(SOURCES, together, strict=True):
        for one in found:
            assert one.weights is not None
            covered = float(np.log(one.weights.sum(0, np.float64).clip(1e-6, 1)).sum())
            tokens = len(one.ids) + one.finished
            assert one.rank == pytest.approx(one.score / ((5 + tokens) / 6) ** 0.6 + 0.3 * covered)
            assert covered < 0
        assert [one.rank for one in found] == sorted((one.rank for one in found), reverse=True)
        [alone] = beam(stepper, batch([source]), beam=5, n=5, max_length=8, ranking=ranking)
        assert [(one.ids, one.rank) for one in alone] == [(one.ids, one.rank) for one in found]
        plain = beam(stepper, batch([source]), beam=5, n=50, max_length=8)[0]
        assert {one.ids for one in found} <= {one.ids for one in plain}
        differ += [one.ids for one in found] != [one.ids for one in plain[: len(found)]]
    assert differ
