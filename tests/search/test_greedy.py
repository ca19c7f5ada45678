from collections.abc import Callable

import pytest
import torch

from anaphora.batch import Batch
from anaphora.errors import ConfigError
from anaphora.protocols import Stepper
from tests.searches import beam, greedy

Make = Callable[..., Stepper]
MakeBatch = Callable[..., Batch]
SOURCES = [[4, 7], [5], [3, 3, 9, 2], [8, 1, 1], [6, 6], [2], [9, 9, 9, 9, 4]]
PREFIXES = [[3], [2, 4, 4], [5, 1], [6, 2, 3, 2], [4], [2, 2], [3]]


@pytest.mark.parametrize("prefixes", [None, PREFIXES])
@pytest.mark.parametrize("grain", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_greedy_search_is_a_beam_of_one(
    automaton: Make, batch: MakeBatch, seed: int, grain: float, prefixes: list[list[int]] | None
) -> None:
    stepper, sentences = automaton(size=7, seed=seed, grain=grain), batch(SOURCES, prefixes=prefixes)
    expected = [found for [found] in beam(stepper, sentences, beam=1, max_length=9)]
    found = greedy(stepper, sentences, max_length=9)
    assert found == expected
    for one, other in zip(found, expected, strict=True):
        assert one.weights is not None and other.weights is not None and torch.equal(one.weights, other.weights)


def test_of_equally_likely_symbols_the_lower_id_is_taken(automaton: Make, batch: MakeBatch) -> None:
    stepper = automaton(size=5)
    stepper.log_probs_QV[:, 2:] = 0.0  # type: ignore[attr-defined]
    [found] = greedy(stepper, batch([[4]]), max_length=6)
    assert found.ids == (2,) * 6 and not found.finished


def test_what_is_taken_is_told_and_what_is_forced_is_not(automaton: Make, batch: MakeBatch) -> None:
    stepper, heard = automaton(size=9), list[tuple[int, int]]()
    begun = batch([[4], [5]], prefixes=[[7, 8], [6]], example_ids=[3, 5])
    found = greedy(stepper, begun, max_length=6, on_token=lambda number, symbol: heard.append((number, symbol)))
    for number, forced, hypothesis in zip((3, 5), (2, 1), found, strict=True):
        whole = [*hypothesis.ids, *([stepper.eos] if hypothesis.finished else [])]
        assert [symbol for n, symbol in heard if n == number] == whole[forced:]


def test_a_length_below_one_is_refused(automaton: Make, batch: MakeBatch) -> None:
    with pytest.raises(ConfigError, match="give one"):
        greedy(automaton(), batch(SOURCES), max_length=0)
