"""Partitions: few target words each, all targets among them, the same however the batches are looked up."""

from collections.abc import Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anaphora.batch import Batch, Ids
from anaphora.data.partitions import Partitions


def one_row_batches(targets: Sequence[Sequence[int]]) -> Any:
    """Epochs of batches with the given targets; after each stands padding."""
    rows = [Ids(np.array([[*ids, 99]]), np.array([len(ids)])) for ids in targets]
    batches = [Batch(row, row, np.array([place]), np.array([False])) for place, row in enumerate(rows)]
    return SimpleNamespace(epoch=lambda number: batches)


def words(batch: Batch) -> list[int]:
    partition_C = batch.supervision.partition_C
    assert partition_C is not None
    found: list[int] = partition_C.tolist()
    return found


TARGETS = st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=6), min_size=1, max_size=20)


@given(TARGETS, st.integers(1, 9), st.data())
def test_a_partition_holds_all_targets_of_its_batches_and_no_more_words_than_it_may_in_any_order_of_reading(
    targets: list[list[int]], most: int, data: st.DataObject
) -> None:
    partitions = Partitions(one_row_batches(targets), most)
    partitioned = partitions.epoch(1)
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
    in_order, again = [words(batch) for batch in partitioned], partitions.epoch(1)
    places = data.draw(st.permutations(range(len(targets))))
    assert [words(again[place]) for place in places] == [in_order[place] for place in places]
    assert [words(batch) for batch in again[1:]] == in_order[1:]
    assert words(again[-1]) == in_order[-1]
