"""Steering a search: what is forbidden is not written, what is kept scores as before."""

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.protocols import Array
from anaphora.search.constraints import MinimumLength, NoRepeatedNgrams, WholeWords
from anaphora.search.scoring import score
from anaphora.search.steering import Edits, Entries, Steering
from tests.searches import beam, greedy, sample

from .naive import FEW_SOURCES, SOURCES, automaton, batch, n_best, written

EOS = 1

Ids = tuple[int, ...]
Allowed = Callable[[int, Ids, int], bool]
"""Whether a token may follow others in the output of a sentence."""


class Own(Steering):
    """Sentence b is written with the tokens ``allowed[b]`` alone: from a state, which is the sentence of each row."""

    def __init__(self, allowed: list[list[int]]) -> None:
        self.allowed = allowed

    def start(self, sentences_B: Array) -> Array:
        return sentences_B

    def edits(self, ids_NT: Array, state: Array) -> Edits:
        places = [(row, token) for row, b in enumerate(state.tolist()) for token in self.allowed[b]]
        rows, ids = zip(*places, strict=True)
        return Edits(only=Entries(np.array(rows), np.array(ids)))

    def extend(self, state: Array, rows_N: Array, ids_N: Array) -> Array:
        return state[rows_N]


def are_new(ids: Sequence[int], n: int) -> bool:
    """True if no n-gram is there twice."""
    ngrams = [tuple(ids[place : place + n]) for place in range(len(ids) - n + 1)]
    return len(ngrams) == len(set(ngrams))


def of_length(least: int) -> tuple[Steering, Allowed]:
    return MinimumLength(least, EOS), lambda b, ids, token: token != EOS or len(ids) >= least


def without_ngrams(n: int) -> tuple[Steering, Allowed]:
    return NoRepeatedNgrams(n), lambda b, ids, token: token == EOS or are_new((*ids, token), n)


MASKS = {"length": st.builds(of_length, st.integers(0, 6)), "ngrams": st.builds(without_ngrams, st.integers(1, 4))}


@pytest.mark.parametrize("kind", MASKS)
@settings(max_examples=12)
@given(size=st.integers(1, 5), n=st.integers(1, 6), seed=st.integers(0, 20), data=st.data())
def test_a_masked_beam_is_a_beam_that_never_had_what_is_masked(
    kind: str, size: int, n: int, seed: int, data: st.DataObject
) -> None:
    stepper, (steering, allowed) = automaton(size=10, seed=seed, sharpness=3.0), data.draw(MASKS[kind])
    together = beam(stepper, batch(FEW_SOURCES), beam=size, n=n, max_length=8, steering=[steering])
    for b, (source, found) in enumerate(zip(FEW_SOURCES, together, strict=True)):
        best = n_best(stepper, batch([source]), size, n, 8, allowed=partial(allowed, b))
        assert [(one.score, one.ids) for one in found if one.finished] == [one[1:] for one in best]
        assert all(allowed(b, one.ids[:place], token) for one in found for place, token in enumerate(one.ids))
        forced = score(stepper, batch([source] * len(found), written(found, stepper.eos)))
        assert [one.score for one in found] == [one.score for one in forced]


@settings(max_examples=12)
@given(
    prefixes=st.lists(st.lists(st.integers(2, 3), max_size=3), min_size=4, max_size=4),
    after=st.lists(st.booleans(), min_size=4, max_size=4),
    closed=st.lists(st.booleans(), min_size=4, max_size=4),
    seed=st.integers(0, 20),
)
def test_a_full_width_search_with_a_prefix_is_exhaustive_search_among_what_begins_with_it(
    prefixes: list[list[int]], after: list[bool], closed: list[bool], seed: int
) -> None:
    stepper, asked = automaton(size=4, seed=seed), {"beam": 4**4, "n": 4**4, "max_length": 5}
    lengths = [len(prefix) * ends for prefix, ends in zip(prefixes, closed, strict=True)]
    steering = [WholeWords(np.array(lengths), np.array([True, True, *after[2:]]))]
    found = beam(stepper, batch(FEW_SOURCES, prefixes=prefixes), steering=steering, **asked)
    for source, prefix, length, hypotheses in zip(FEW_SOURCES, prefixes, lengths, found, strict=True):

        def begins(ids: Ids, token: int, prefix: list[int] = prefix, length: int = length) -> bool:
            if len(ids) < len(prefix):
                return token == prefix[len(ids)]
            return not length or len(ids) != length or token < 2 or after[token]

        best = n_best(stepper, batch([source]), 4**4, 4**4, 5, allowed=begins)
        assert [(one.score, one.ids) for one in hypotheses] == [(score, ids) for _, score, ids in best]


@pytest.mark.parametrize("search", [beam, greedy, sample])
def test_every_search_is_steered_and_a_state_stays_with_its_sentence(search: Callable[..., list[Any]]) -> None:
    stepper, allowed = automaton(size=8), [[1, 2 + b % 5, 3 + b % 5] for b in range(len(SOURCES))]
    together = search(stepper, batch(SOURCES), max_length=9, steering=[Own(allowed), NoRepeatedNgrams(2)])
    for b, (source, found) in enumerate(zip(SOURCES, together, strict=True)):
        [best] = found if search is beam else [found]
        assert set(best.ids) <= set(allowed[b]) and are_new(best.ids, 2)
        one, steering = batch([source], example_ids=[b]), [Own([allowed[b]]), NoRepeatedNgrams(2)]
        assert search(stepper, one, max_length=9, steering=steering) == [found]


@pytest.mark.parametrize("search", [beam, greedy, sample])
def test_a_prefix_goes_before_what_is_forbidden(search: Callable[..., list[Any]]) -> None:
    begun = batch([[4]], prefixes=[[3, 3]])
    [found] = search(automaton(size=7), begun, max_length=9, steering=[NoRepeatedNgrams(1)])
    [best] = found if search is beam else [found]
    assert best.ids[:2] == (3, 3) and best.score > -inf
