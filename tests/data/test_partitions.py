"""Partitions: few target words each, all targets among them, the same however the batches are looked up."""

import random
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.batch import Batch, Ids
from anaphora.data.buckets import LazySequence
from anaphora.data.partitions import Partitions


class Listed:
    """Epochs of one-row batches with the given targets; after each stands padding."""

    def __init__(self, targets: Sequence[Sequence[int]]) -> None:
        self.targets = targets

    def epoch(self, number: int) -> Sequence[Batch]:
        return LazySequence(range(len(self.targets)), self._batch)

    def _batch(self, position: int) -> Batch:
        ids = self.targets[position]
        targets = Ids(np.array([[*ids, 99]]), np.array([len(ids)]))
        return Batch(targets, targets, np.array([position]), np.array([False]))


def words(batch: Batch) -> list[int]:
    partition_C = batch.supervision.partition_C
    assert partition_C is not None
    found: list[int] = partition_C.tolist()
    return found


TARGETS = st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=6), min_size=1, max_size=20)


@settings(max_examples=30)
@given(TARGETS, st.integers(1, 9))
def test_a_partition_holds_all_targets_of_its_batches_and_no_more_words_than_it_may(
    targets: list[list[int]], most: int
) -> None:
    partitioned = Partitions(Listed(targets), most).epoch(1)
    assert len(partitioned) == len(targets)
    stretches: list[tuple[list[int], list[list[int]]]] = []
    for batch, ids in zip(partitioned, targets, strict=True):
        if not stretches or stretches[-1][0] != words(batch):
            stretches.append((words(batch), []))
        stretches[-1][1].append(ids)
    for held, inside in stretches:
        assert held == sorted({word for ids in inside for word in ids})
        assert len(held) <= most or len({frozenset(ids) for ids in inside}) == 1
    for (held, _), (_, after) in pairwise(stretches):
        assert len({*held, *after[0]}) > most  # the next batch would have been too much


@settings(max_examples=30)
@given(TARGETS, st.integers(1, 9), st.randoms(use_true_random=False))
def test_a_batch_is_the_same_whichever_was_looked_up_before(
    targets: list[list[int]], most: int, chance: random.Random
) -> None:
    batches = Partitions(Listed(targets), most)
    in_order = [words(batch) for batch in batches.epoch(1)]
    places = list(range(len(targets)))
    chance.shuffle(places)
    again = batches.epoch(1)
    assert [words(again[place]) for place in places] == [in_order[place] for place in places]
    assert [words(batch) for batch in again[1:]] == in_order[1:]
    assert words(again[-1]) == in_order[-1]
