"""The aligner: what expectation and maximisation promise, and links that it finds by itself."""

import tracemalloc
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.ragged import Ragged
from anaphora.events import Event, Note, Progress, Skipped
from anaphora.inference.alignment.groups import LONGEST
from anaphora.models.alignment.aligner import Aligner, AlignerConfig, AlignerModelConfig, Direction
from anaphora.protocols import VocabularyInfo
from anaphora.run.weights import fill, tensors_of

SIZE = 12
SYMBOLS = VocabularyInfo(SIZE, 0, 1, 2, 3)
words = st.lists(st.integers(4, SIZE - 1), max_size=5)


def aligner(**options: object) -> Aligner:
    return Aligner(AlignerModelConfig.parse({"aligner": options}, "test"), SYMBOLS, SYMBOLS)


def sides(pairs: Sequence[tuple[list[int], list[int]]]) -> tuple[Ragged, Ragged]:
    return Ragged.of([source for source, _ in pairs]), Ragged.of([target for _, target in pairs])


RANDOM = np.random.default_rng(5)
BACKWARDS = [(row, [SIZE + 3 - word for word in row]) for row in RANDOM.integers(4, SIZE, (60, 4)).tolist()]


@pytest.fixture(scope="module")
def learnt() -> Aligner:
    found = aligner()
    found.fit(*sides(BACKWARDS))
    return found


def assert_the_same(one: Aligner, other: Aligner) -> None:
    torch.testing.assert_close(dict(tensors_of(one)), dict(tensors_of(other)), rtol=0, atol=0)


@given(st.lists(st.tuples(words, words), min_size=1, max_size=6))
def test_every_round_of_model_1_makes_the_text_likelier(pairs: list[tuple[list[int], list[int]]]) -> None:
    sources, targets = sides(pairs)
    likelihoods = []
    for rounds in range(1, 5):
        direction = Direction(AlignerConfig(model1_iterations=rounds, hmm_iterations=0), SIZE)
        direction.fit(sources, targets, "test")
        likelihoods.append(direction.best(sources, targets).log_prob)
    assert all(after >= before - 1e-4 for before, after in pairwise(likelihoods))


def test_the_jumps_make_the_text_likelier() -> None:
    sources, targets = sides(BACKWARDS)
    found = []
    for rounds in range(5):
        direction = Direction(AlignerConfig(hmm_iterations=rounds), SIZE)
        direction.fit(sources, targets, "test")
        found.append(direction.best(sources, targets).log_prob)
    assert found[1:] == sorted(found[1:]) and found[-1] > found[0]


def test_words_that_always_come_together_are_linked_in_every_way() -> None:
    learnt = aligner(null_probability=0.05)
    learnt.fit(*sides(BACKWARDS))
    for source, _ in BACKWARDS[:10]:
        target = [SIZE + 3 - word for word in reversed(source)]
        [links] = learnt.links(*sides([(source, target)]), "intersection")
        assert all(source[i] + target[j] == SIZE + 3 for i, j in links)
        assert len(links) >= len(set(source))


@given(st.lists(st.tuples(words, words), max_size=5), st.integers(0, 2))
def test_any_pairs_have_links_within_them(pairs: list[tuple[list[int], list[int]]], hmm: int) -> None:
    learnt = aligner(model1_iterations=1, hmm_iterations=hmm)
    learnt.fit(*sides(BACKWARDS[:5]))
    found = learnt.links(*sides(pairs), "union")
    assert len(found) == len(pairs)
    for (source, target), links in zip(pairs, found, strict=True):
        assert all(i < len(source) and j < len(target) for i, j in links)


def test_pairs_of_single_words_are_learnt_without_a_jump() -> None:
    learnt = aligner()
    learnt.fit(*sides([([3], [4]), ([5], [6])] * 3))
    [links] = learnt.links(*sides([([3, 5], [4, 6])]), "intersection")
    assert links == {(0, 0), (1, 1)}


def test_learning_says_how_far_it_is() -> None:
    events: list[Event] = []
    aligner(model1_iterations=1, hmm_iterations=2).fit(*sides(BACKWARDS), events.append)
    heard = [(event.task, event.done, event.total) for event in events if isinstance(event, Progress)]
    assert heard == [(f"linking {way}", n, 3) for way in ("source to target", "target to source") for n in range(4)]


def test_what_was_learnt_is_saved_and_comes_back_the_same(learnt: Aligner) -> None:
    other, tensors = aligner(), {name: tensor.clone() for name, tensor in tensors_of(learnt).items()}
    other.allocate({name: tensor.shape for name, tensor in tensors.items()})
    fill(other, tensors, Path("test"))
    assert_the_same(other, learnt)
    assert other.links(*sides(BACKWARDS), "union") == learnt.links(*sides(BACKWARDS), "union")


def test_a_pair_that_is_too_long_is_left_out_of_learning_and_has_no_links(learnt: Aligner) -> None:
    events, other = list[Event](), aligner()
    endless = [([4] * (LONGEST + 1), [5]), ([6], [7] * (LONGEST + 1))]
    other.fit(*sides([endless[0], *BACKWARDS, endless[1]]), events.append)
    assert [event.count for event in events if isinstance(event, Skipped)] == [2]
    assert_the_same(other, learnt)
    [none, some, nor_any] = other.links(*sides([endless[0], BACKWARDS[0], endless[1]]), "union")
    assert not none and not nor_any and [some] == learnt.links(*sides(BACKWARDS[:1]), "union")


def test_links_are_learnt_from_a_sample_where_pairs_have_more_of_them_than_memory_is_to_hold(learnt: Aligner) -> None:
    events = list[Event]()
    bounded, sampled = (aligner(max_word_pairs=pairs * 25) for pairs in (60, 30))
    for one in bounded, sampled:
        one.fit(*sides(BACKWARDS), events.append)
    assert_the_same(bounded, learnt)
    assert not torch.equal(sampled.to_target.jumps, learnt.to_target.jumps)
    [said] = [event.text for event in events if isinstance(event, Note)]
    assert "an even sample of 30 of 60 pairs, since memory is to hold 750 possible links" in said


def test_links_of_any_number_of_pairs_are_those_of_its_blocks(learnt: Aligner, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = learnt.links(*sides(BACKWARDS), "union")
    for block in 7, 60, 1000:
        monkeypatch.setattr("anaphora.inference.alignment.links.BLOCK", block)
        assert list(learnt.align_each(*sides(BACKWARDS), "union")) == at_once


def test_the_memory_that_linking_takes_does_not_grow_with_the_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anaphora.inference.alignment.links.BLOCK", 250)

    def peak(count: int) -> int:
        rows = np.random.default_rng(1).integers(4, SIZE, (count, 12)).tolist()
        pairs = sides([(row, row[::-1]) for row in rows])
        learnt = aligner(max_word_pairs=250 * 13 * 13, model1_iterations=1, hmm_iterations=1)
        tracemalloc.start()
        try:
            learnt.fit(*pairs)
            assert sum(1 for _ in learnt.align_each(*pairs, "intersection")) == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(2000) < 1.2 * peak(500)
