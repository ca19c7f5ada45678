"""Batches keep to their budget, and their order is a pure function, shuffled as a whole or in windows."""

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.buckets import WindowedBuckets, buckets, shuffle
from anaphora.data.columns import Integers

LENGTHS = st.lists(st.integers(1, 60), max_size=400).map(lambda lengths: np.array(lengths, dtype=np.int64))
Make = Callable[[Integers, int, int, int], Sequence[Integers]]


def windowed(
    lengths_R: Integers, budget: int = 120, seed: int = 1, epoch: int = 1, window: int = 128
) -> WindowedBuckets:
    def lengths(start: int, stop: int) -> tuple[Integers, Integers]:
        return lengths_R[start:stop], lengths_R[start:stop] // 2

    return WindowedBuckets(lengths, len(lengths_R), budget, seed, epoch, window)


BOTH = pytest.mark.parametrize("make", [buckets, windowed])


def check(lengths: Integers, budget: int, batches: Sequence[Integers]) -> None:
    """Every row comes once, and no batch is over budget."""
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    assert all(len(batch) * lengths[batch].max() <= budget or len(batch) == 1 for batch in batches)


@given(LENGTHS, st.integers(1, 200), st.integers(-5, 5), st.integers(1, 5), st.integers(1, 500))
def test_every_row_comes_once_and_no_batch_is_over_budget(
    lengths: Integers, budget: int, seed: int, epoch: int, window: int
) -> None:
    check(lengths, budget, buckets(lengths, budget, seed, epoch))
    check(lengths, budget, windowed(lengths, budget, seed, epoch, window))


@BOTH
def test_seed_and_epoch_change_the_order_evenly(make: Make) -> None:
    lengths = np.arange(3000) % 50 + 1
    firsts = {tuple(np.concatenate(make(lengths, 500, seed, epoch)[:20])) for seed in (1, 2) for epoch in (1, 2, 3)}
    assert len({tuple(sorted(first)) for first in firsts}) == 6
    places = np.bincount([int(shuffle(10, 1, epoch)[0]) for epoch in range(2000)], minlength=10)
    assert abs(places - 200).max() < 60


@BOTH
def test_little_of_a_batch_is_padding_and_short_and_long_batches_are_mixed(make: Make) -> None:
    lengths = np.array([5 + (number * 7919) % 40 for number in range(20_000)])
    more = {} if make is buckets else {"window": 10_000}
    batches = make(lengths, 4000, 1, 1, **more)
    longest = [int(lengths[batch].max()) for batch in batches]
    assert lengths.sum() / sum(len(batch) * most for batch, most in zip(batches, longest, strict=True)) > 0.97
    rising = sum(one < two for one, two in itertools.pairwise(longest))
    assert 0.3 < rising / len(longest) < 0.7


def test_the_order_never_changes_between_versions() -> None:
    assert shuffle(8, 1, 1, 0).tolist() == [1, 7, 2, 6, 5, 4, 0, 3]
    batches = [batch.tolist() for batch in windowed(np.arange(100) % 4 + 1, budget=8, window=64)]
    assert batches[:3] + batches[-1:] == [[22, 6], [17, 89, 45, 37], [82, 26], [19, 35]]


@given(LENGTHS.filter(len), st.integers(1, 300), st.data())
def test_any_position_is_the_same_whatever_was_read_before(lengths: Integers, window: int, data: st.DataObject) -> None:
    whole = [batch.tolist() for batch in windowed(lengths, window=window)]
    places = data.draw(st.lists(st.integers(-len(whole), len(whole) - 1), max_size=8))
    asked = windowed(lengths, window=window)
    assert [asked[place].tolist() for place in places] == [whole[place] for place in places]
    assert [batch.tolist() for batch in asked[1:-1]] == whole[1:-1]
    with pytest.raises(IndexError):
        asked[len(whole)]
