"""Steering a search: what is forbidden is not written, what is kept scores as before."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, inf

from anaphora.errors import ConfigError
from anaphora.search.scoring import score
from anaphora.search.selection import Diversity
from anaphora.search.steering import Edits, Entries, Steering
from anaphora.search.suffixes import Suffixes
from tests.searches import beam, greedy, sample

from .naive import SOURCES, Make, MakeBatch, n_best, written


class NotAfterItself(Steering):
    """No token twice in a row, from the tokens alone."""

    def edits(self, ids_NT: Tensor, state: Any) -> Edits:
        rows_N = torch.arange(len(ids_NT))
        return Edits(forbidden=Entries(rows_N, ids_NT[:, -1])) if ids_NT.shape[1] else Edits()


class Own(Steering):
    """Sentence b is written with the tokens ``allowed[b]`` alone: from a state, which is the sentence of each row."""

    def __init__(self, allowed: list[list[int]]) -> None:
        self.allowed = allowed

    def start(self, sentences_B: Tensor) -> Tensor:
        return sentences_B

    def edits(self, ids_NT: Tensor, state: Tensor) -> Edits:
        places = [(row, token) for row, b in enumerate(state.tolist()) for token in self.allowed[b]]
        rows, ids = zip(*places, strict=True)
        return Edits(only=Entries(torch.tensor(rows), torch.tensor(ids)))

    def extended(self, state: Tensor, rows_N: Tensor, ids_N: Tensor) -> Tensor:
        return state[rows_N]


@settings(max_examples=12)
@given(size=st.integers(1, 5), n=st.integers(1, 6), seed=st.integers(0, 20))
def test_a_masked_beam_is_a_beam_that_never_had_what_is_masked(
    automaton: Make, batch: MakeBatch, size: int, n: int, seed: int
) -> None:
    stepper = automaton(size=5, seed=seed, sharpness=3.0)
    together = beam(stepper, batch(SOURCES), beam=size, n=n, max_length=8, steering=[NotAfterItself()])
    for source, found in zip(SOURCES, together, strict=True):
        best = n_best(stepper, batch([source]), size, n, 8, allowed=lambda before, token: before[-1:] != (token,))
        assert [(one.score, one.ids) for one in found if one.finished] == [one[1:] for one in best]
        outputs = written(found, stepper.eos)
        forced = score(stepper, batch([source] * len(found), outputs))
        assert [one.score for one in found] == [one.score for one in forced]


@pytest.mark.parametrize("search", [beam, greedy, sample])
def test_every_search_is_steered_and_a_state_stays_with_its_sentence(
    automaton: Make, batch: MakeBatch, search: Callable[..., list[Any]]
) -> None:
    stepper, allowed = automaton(size=8), [[1, 2 + b % 5, 3 + b % 5] for b in range(len(SOURCES))]
    steering = [Own(allowed), NotAfterItself()]
    together = search(stepper, batch(SOURCES), max_length=9, steering=steering)
    for b, (source, found) in enumerate(zip(SOURCES, together, strict=True)):
        [best] = found if search is beam else [found]
        assert set(best.ids) <= set(allowed[b])
        assert all(one != other for one, other in zip(best.ids, best.ids[1:], strict=False))
        one = batch([source], example_ids=[b])
        [alone] = search(stepper, one, max_length=9, steering=[Own([allowed[b]]), NotAfterItself()])
        assert alone == found


def test_a_prefix_goes_before_what_is_forbidden(automaton: Make, batch: MakeBatch) -> None:
    stepper = automaton(size=7)
    for search in (greedy, sample, beam):
        found = search(  # type: ignore[operator]
            stepper, batch([[4]], prefixes=[[3, 3]]), max_length=9, steering=[NotAfterItself()]
        )
        best = found[0][0] if search is beam else found[0]
        assert best.ids[:2] == (3, 3) and best.score > -inf


def test_groups_and_banks_are_refused_together(automaton: Make, batch: MakeBatch) -> None:
    steering = [Suffixes([(2,)], torch.tensor([4]), 1)]
    with pytest.raises(ConfigError, match="divide a beam"):
        beam(automaton(), batch([[4]]), beam=4, max_length=4, steering=steering, diversity=Diversity(2))
