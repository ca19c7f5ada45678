"""Beam search against plain readings of what it should find."""

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.search.scoring import score
from tests.searches import beam, greedy

from .naive import SOURCES, automaton, batch, same, written

PREFIXES = [[3], [2, 4, 4], [5, 1], [6, 2, 3, 2], [4], [2, 2], [3]]


ROWS = st.lists(
    st.tuples(st.lists(st.integers(2, 9), min_size=1, max_size=6), st.integers(1, 8)), min_size=1, max_size=9
)


@settings(max_examples=20)
@given(
    rows=ROWS,
    asked=st.fixed_dictionaries({"beam": st.integers(1, 7), "n": st.integers(1, 9)}),
    model=st.fixed_dictionaries({"seed": st.integers(0, 3), "grain": st.sampled_from([0.0, 2.0])}),
    draw=st.randoms(use_true_random=False),
)
def test_what_is_found_for_a_sentence_does_not_depend_on_its_neighbours_or_their_order(
    rows: list[Any], asked: dict[str, int], model: dict[str, Any], draw: Random
) -> None:
    stepper = automaton(size=11, **model)
    alone = [(row, beam(stepper, batch([row[0]]), max_length=row[1], **asked)[0]) for row in rows]
    draw.shuffle(alone)
    sources, lengths = zip(*(row for row, _ in alone), strict=True)
    together = beam(stepper, batch(sources), max_length=lengths, **asked)
    for (_, one), found in zip(alone, together, strict=True):
        assert len(found) == len(one) and all(map(same, found, one))


@pytest.mark.parametrize("size", [1, 5, 40])
def test_the_score_and_attention_of_an_output_are_those_of_forced_decoding(size: int) -> None:
    stepper = automaton(size=7)
    for source, found in zip(SOURCES, beam(stepper, batch(SOURCES), beam=size, n=size, max_length=6), strict=True):
        outputs = written(found, stepper.eos)
        assert all(map(same, found, score(stepper, batch([source] * len(found), outputs))))


def test_a_forced_end_does_not_end_a_sentence() -> None:
    stepper = automaton(size=7)
    for [found] in beam(stepper, batch(SOURCES, prefixes=[[3, stepper.eos]] * len(SOURCES)), beam=1, max_length=9):
        assert found.ids[:2] == (3, stepper.eos)
        assert len(found.ids) + found.finished > 2


def test_a_prefix_longer_than_the_greatest_length_is_read_whole() -> None:
    [[found]] = beam(automaton(size=7), batch([[4]], prefixes=[[2, 3, 4, 5]]), beam=3, max_length=2)
    assert found.ids == (2, 3, 4, 5) and not found.finished


def test_ties_go_to_the_lower_row_then_to_the_lower_id() -> None:
    """With equal probabilities everywhere, sixteen rows of four symbols are told apart by their order alone."""
    stepper = automaton(size=4, sharpness=0.0, eos=3)
    [found] = beam(stepper, batch([[4]]), beam=4, max_length=2)
    # The first step takes 0, 1, 2 and </s>; the empty output is the best and nothing else can beat it.
    assert [h.ids for h in found] == [()]
    [found] = beam(stepper, batch([[4]], prefixes=[[2]]), beam=3, n=3, max_length=3)
    assert [h.ids for h in found] == [(2, 0, 0), (2, 0, 1), (2, 0, 2)]


def test_an_impossible_prefix_still_gives_a_hypothesis() -> None:
    stepper = automaton(size=6)
    stepper.log_probs_QV[:, 4] = -np.inf
    free, impossible = beam(stepper, batch(SOURCES[:2], prefixes=[[3], [4, 3]]), beam=3, max_length=9)
    assert free[0].ids[:1] == (3,)
    assert impossible[0].ids[:2] == (4, 3)
    assert impossible[0].score == -np.inf


@pytest.mark.parametrize("prefixes", [None, PREFIXES])
@pytest.mark.parametrize("grain", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(2))
def test_greedy_search_is_a_beam_of_one(seed: int, grain: float, prefixes: list[list[int]] | None) -> None:
    stepper, sentences = automaton(size=7, seed=seed, grain=grain), batch(SOURCES, prefixes=prefixes)
    expected = [found for [found] in beam(stepper, sentences, beam=1, max_length=9)]
    assert all(map(same, greedy(stepper, sentences, max_length=9), expected))
