"""Outputs end with their suffixes, and are the best that do."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.search.suffixes import Suffixes
from tests.searches import beam

from .naive import FEW_SOURCES, automaton, batch, n_best, same

SUFFIXES = st.lists(st.lists(st.integers(2, 3), max_size=3).map(tuple), min_size=4, max_size=4)


def endings(suffixes: list[tuple[int, ...]], longest: int, eos: int) -> list[Suffixes]:
    return [Suffixes(suffixes, np.full(len(suffixes), longest), eos)] if any(suffixes) else []


@settings(max_examples=8)
@given(suffixes=SUFFIXES, seed=st.integers(0, 20))
def test_a_full_width_search_finds_all_that_ends_with_the_suffix(suffixes: list[tuple[int, ...]], seed: int) -> None:
    stepper, longest = automaton(size=4, seed=seed), 5
    most = 3**4 * 4
    steering = endings(suffixes, longest, stepper.eos)
    found = beam(stepper, batch(FEW_SOURCES), beam=most, n=most, max_length=longest, steering=steering)
    for source, suffix, hypotheses in zip(FEW_SOURCES, suffixes, found, strict=True):

        def ends(ids: tuple[int, ...], token: int, suffix: tuple[int, ...] = suffix) -> bool:
            return token != stepper.eos or ids[len(ids) - len(suffix) :] == suffix

        best = n_best(stepper, batch([source]), most, most, longest, allowed=ends)
        assert [(one.score, one.ids) for one in hypotheses] == [(score, ids) for _, score, ids in best]


@settings(max_examples=15)
@given(
    suffixes=SUFFIXES,
    prefix=st.lists(st.integers(2, 4), max_size=3),
    size=st.integers(1, 6),
    room=st.integers(0, 5),
    seed=st.integers(0, 20),
)
def test_every_hypothesis_ends_with_its_suffix_in_any_batch(
    suffixes: list[tuple[int, ...]], prefix: list[int], size: int, room: int, seed: int
) -> None:
    stepper = automaton(size=6, seed=seed)
    longest = len(prefix) + max(map(len, suffixes)) + 1 + room
    asked = {"beam": size, "n": size, "max_length": longest}
    sentences = batch(FEW_SOURCES, prefixes=[prefix] * 4)
    found = beam(stepper, sentences, steering=endings(suffixes, longest, stepper.eos), **asked)
    for source, suffix, hypotheses in zip(FEW_SOURCES, suffixes, found, strict=True):
        assert all(one.finished and one.ids[len(one.ids) - len(suffix) :] == suffix for one in hypotheses if suffix)
        assert all(one.ids[: len(prefix)] == tuple(prefix) for one in hypotheses)
        steering = endings([suffix], longest, stepper.eos)
        [alone] = beam(stepper, batch([source], prefixes=[prefix]), steering=steering, **asked)
        assert len(alone) == len(hypotheses) and all(map(same, alone, hypotheses))
