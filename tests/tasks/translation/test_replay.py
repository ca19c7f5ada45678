"""New pairs with old ones in every batch."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.pairs import PairBatches
from anaphora.tasks.translation.incremental_training import ReplayedBatches, join, shares
from tests.data.stores import SYMBOLS, pairs_in_memory

lengths = st.lists(st.integers(1, 9), min_size=1, max_size=12)


def batches(of: list[int], token: int, first: int, budget: int) -> PairBatches:
    """Batches of pairs of so many tokens, all the same one."""
    rows = [[token] * length for length in of]
    store = pairs_in_memory([*zip(rows, rows, strict=True)], range(first, first + len(of)))
    return PairBatches(store, batch_tokens=budget, seed=1)


@given(st.integers(2, 10_000), st.floats(0.001, 0.999))
def test_shares_add_up_to_the_batch_and_neither_is_empty(tokens: int, replay: float) -> None:
    new, old = shares(tokens, replay)
    assert new + old == tokens and min(new, old) >= 1
    assert abs(old - tokens * replay) <= 1


@given(lengths, lengths, lengths, st.integers(1, 3))
def test_new_pairs_come_once_and_old_ones_always(new: list[int], old: list[int], older: list[int], number: int) -> None:
    joined = ReplayedBatches(batches(new, 10, 0, 20), [batches(old, 20, 100, 20), batches(older, 30, 200, 20)], seed=1)
    epoch = joined.epoch(number)
    seen = []
    for place in range(len(epoch)):
        batch = epoch[place]
        ids = batch.example_ids_B
        assert (ids < 100).any() and (ids >= 100).any()
        seen += ids[ids < 100].tolist()
        # each row is still a pair of its own corpus
        for of in (batch.input_ids, batch.target_ids):
            assert np.array_equal(of.ids_BT[:, 0], 10 * (1 + ids // 100))
            assert (of.ids_BT[np.arange(len(ids)), of.lengths_B - 1] == SYMBOLS.eos).all()
        assert (np.diff(batch.target_ids.lengths_B) <= 0).all()
        again = joined.epoch(number)[place]
        assert np.array_equal(again.input_ids.ids_BT, batch.input_ids.ids_BT)
    assert sorted(seen) == list(range(len(new)))


def test_other_old_pairs_are_drawn_in_every_epoch() -> None:
    joined = ReplayedBatches(batches([5] * 4, 10, 0, 12), [batches([5] * 400, 20, 100, 12)], seed=1)
    drawn = [
        {number for batch in joined.epoch(epoch) for number in batch.example_ids_B.tolist() if number >= 100}
        for epoch in (1, 2)
    ]
    assert drawn[0] and not drawn[0] & drawn[1]


def test_joined_batches_keep_the_rows_of_both_without_their_padding() -> None:
    short, long = batches([2, 1], 10, 0, 50).epoch(1)[0], batches([6], 20, 100, 50).epoch(1)[0]
    both = join(short, long)
    assert both.target_ids.lengths_B.tolist() == [7, 3, 2] and both.example_ids_B.tolist() == [100, 0, 1]
    assert both.predictions == short.predictions + long.predictions
