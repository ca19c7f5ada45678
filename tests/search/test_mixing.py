"""Mixing with known translations: the formula, what is known is written, and nothing depends on the batch."""

from typing import Any

import numpy as np
import pytest

from anaphora.errors import ConfigError
from anaphora.models.translator import Translator
from anaphora.protocols import Array, VocabularyInfo
from anaphora.search.ensemble import Ensemble
from anaphora.search.mixing import MixedStepper, Neighbours
from tests.networks import made
from tests.searches import beam, greedy

from ..batches import pair_batch

SYMBOLS = VocabularyInfo(11, 0, 1, 2, 3)
SMALL = {"embedding": {"size": 8}, "encoder": {"size": 8}, "decoder": {"size": 8}}
SOURCES = [[4, 5, 6, 3], [8, 4, 7, 3], [5, 5, 5, 3]]


@pytest.fixture(scope="module")
def stepper() -> Any:
    return made(Translator, "translate", SMALL, SYMBOLS, seed=1, factor=3).stepper()


def states(stepper: Any, source: list[int], target: list[int]) -> Array:
    found: Array = stepper.target_states(pair_batch([source], [target]))
    return found[:, 0]


def neighbours(stepper: Any, source: list[int], target: list[int], weight: float = 0.9) -> Neighbours:
    return Neighbours(states(stepper, source, target), np.array(target), weight)


def first_step(stepper: Any) -> Any:
    start = stepper.start(pair_batch(SOURCES[:1]))
    return stepper.advance(start.memory, start.state, np.array([SYMBOLS.bos]))


def test_a_prediction_is_the_weighted_sum_of_the_models_and_that_of_the_keys(stepper: Any) -> None:
    near, temperature = neighbours(stepper, [4, 5, 7, 3], [9, 5, 9, 3], 0.4), 0.2
    alone, mixed = first_step(stepper), first_step(MixedStepper(stepper, [near], temperature))
    scale = sum(float(np.square(key).sum()) for key in near.keys_MH) / len(near.keys_MH)
    nearness = [
        float(np.exp(-np.square(alone.states_NH[0] - key).sum() / (temperature * scale))) for key in near.keys_MH
    ]
    expected = 0.6 * np.exp(alone.log_probs_NV[0])
    for token, value in zip([9, 5, 9, 3], nearness, strict=True):
        expected[token] += 0.4 * value / sum(nearness)
    assert np.exp(mixed.log_probs_NV[0]).tolist() == pytest.approx(expected.tolist(), rel=1e-4)
    assert float(np.exp(mixed.log_probs_NV[0]).sum()) == pytest.approx(1, rel=1e-5)


def test_states_of_given_targets_are_those_that_a_search_goes_through(stepper: Any) -> None:
    assert np.allclose(states(stepper, SOURCES[0], [7, 3])[0], first_step(stepper).states_NH[0], atol=1e-6)


@pytest.mark.parametrize("target", [[9, 10, 4, 3], [6, 6, 7, 8, 3]])
def test_a_known_translation_of_the_same_sentence_is_written(stepper: Any, target: list[int]) -> None:
    near = neighbours(stepper, SOURCES[0], target)
    batch = pair_batch(SOURCES[:1])
    assert list(greedy(stepper, batch, max_length=8)[0].ids) != target[:-1]
    mixed = MixedStepper(stepper, [near], 0.001)
    assert list(greedy(mixed, batch, max_length=8)[0].ids) == target[:-1]
    assert list(beam(mixed, batch, beam=3, max_length=8)[0][0].ids) == target[:-1]


def test_a_sentence_without_neighbours_is_left_to_the_model_and_nothing_depends_on_the_batch(stepper: Any) -> None:
    near = [neighbours(stepper, [4, 5, 7, 3], [9, 3]), None, neighbours(stepper, [5, 5, 3], [10, 9, 10, 3], 0.5)]
    together = beam(MixedStepper(stepper, near, 0.3), pair_batch(SOURCES), beam=4, max_length=8)
    for source, own, found in zip(SOURCES, near, together, strict=True):
        batch = pair_batch([source])
        alone = stepper if own is None else MixedStepper(stepper, [own], 0.3)
        assert beam(alone, batch, beam=4, max_length=8) == [found]


def test_a_model_without_states_is_refused(stepper: Any) -> None:
    both = MixedStepper(Ensemble([stepper, stepper]), [neighbours(stepper, SOURCES[0], [9, 3])], 0.3)
    with pytest.raises(ConfigError, match="one network"):
        beam(both, pair_batch(SOURCES[:1]), max_length=4)
