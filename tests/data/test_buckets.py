"""Batches keep to their budget, and their order is a pure function."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.buckets import buckets, shuffled

LENGTHS = st.lists(st.integers(1, 60), max_size=300).map(lambda lengths: np.array(lengths, dtype=np.int64))


@given(LENGTHS, st.integers(1, 200), st.integers(-5, 5), st.integers(1, 5))
def test_every_row_comes_once_and_no_batch_is_over_budget(
    lengths: np.ndarray, budget: int, seed: int, epoch: int
) -> None:
    batches = buckets(lengths, budget, seed, epoch)
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    assert all(len(batch) * lengths[batch].max() <= budget or len(batch) == 1 for batch in batches)


@given(LENGTHS, st.integers(0, 5), st.integers(1, 5))
def test_the_same_question_has_the_same_answer(lengths: np.ndarray, seed: int, epoch: int) -> None:
    one, two = (buckets(lengths, 120, seed, epoch) for _ in range(2))
    assert [batch.tolist() for batch in one] == [batch.tolist() for batch in two]


def test_seed_and_epoch_change_the_order() -> None:
    lengths = np.arange(1000) % 50 + 1
    orders = {tuple(np.concatenate(buckets(lengths, 500, seed, epoch))) for seed in (1, 2) for epoch in (1, 2, 3)}
    assert len(orders) == 6


def test_little_of_a_batch_is_padding() -> None:
    lengths = np.array([5 + (number * 7919) % 40 for number in range(20_000)])
    batches = buckets(lengths, 4000, 1, 1)
    cells = sum(len(batch) * int(lengths[batch].max()) for batch in batches)
    assert lengths.sum() / cells > 0.97


def test_short_and_long_batches_are_mixed() -> None:
    lengths = np.arange(1, 2001) % 100 + 1
    longest = [int(lengths[batch].max()) for batch in buckets(lengths, 400, 1, 1)]
    rising = sum(one < two for one, two in itertools.pairwise(longest))
    assert 0.3 < rising / len(longest) < 0.7


@given(st.integers(0, 500), st.integers(), st.integers())
def test_a_shuffle_is_a_permutation(count: int, seed: int, epoch: int) -> None:
    assert sorted(shuffled(count, seed, epoch)) == list(range(count))


def test_the_order_never_changes_between_versions() -> None:
    assert shuffled(8, 1, 1, 0).tolist() == [1, 7, 2, 6, 5, 4, 0, 3]


def test_a_shuffle_is_even() -> None:
    firsts = np.bincount([int(shuffled(10, 1, epoch)[0]) for epoch in range(5000)], minlength=10)
    assert abs(firsts - 500).max() < 100
