"""Training batches hold every pair once; search batches hold one width."""

import itertools
from collections.abc import Iterable
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.batch import Batch
from anaphora.data.example_batches import WIDTH, Side, prediction_batches
from anaphora.data.pairs import PairBatches, scored_batches
from anaphora.data.ragged import Ragged
from anaphora.text.resegmentation import MergeDropout
from tests.data.stores import FIELDS, pairs_in_memory

Pairs = list[tuple[list[int], list[int]]]
ROW = st.lists(st.integers(4, 99), max_size=40)
PAIRS = st.lists(st.tuples(ROW, ROW), min_size=1, max_size=40)


def batches_of(pairs: Pairs, budget: int = 100, seed: int = 1, **more: Any) -> PairBatches:
    """Batches of pairs whose numbers are 0, 10, 20 .."""
    store = pairs_in_memory(pairs, range(0, 10 * len(pairs), 10))
    return PairBatches(store, batch_tokens=budget, seed=seed, **more)


@given(PAIRS, st.integers(50, 400))
def test_every_pair_comes_once_an_epoch_closed_and_within_the_budget(pairs: Pairs, budget: int) -> None:
    seen = []
    for batch in batches_of(pairs, budget).epoch(1):
        assert batch.input_ids.ids_BT.size <= budget
        assert batch.target_ids.ids_BT.size <= budget
        assert not batch.carry_mask_B.any()
        assert (np.diff(batch.target_ids.lengths_B) <= 0).all()
        for row, number in enumerate(batch.example_ids_B.tolist()):
            source, target = pairs[number // 10]
            seen.append(number // 10)
            assert batch.input_ids.ids_BT[row, : batch.input_ids.lengths_B[row]].tolist() == [*source, 3]
            assert batch.target_ids.ids_BT[row, : batch.target_ids.lengths_B[row]].tolist() == [*target, 3]
    assert sorted(seen) == list(range(len(pairs)))


@given(PAIRS, st.randoms())
def test_the_links_of_a_pair_stand_in_its_row_of_the_batch(pairs: Pairs, draw: Random) -> None:
    links = [
        sorted({(draw.randrange(len(s)), draw.randrange(len(t))) for _ in range(draw.randrange(6))}) if s and t else []
        for s, t in pairs
    ]
    laid_out = Ragged.of([number for link in row for number in link] for row in links)
    for batch in batches_of(pairs, alignments=laid_out).epoch(1):
        assert batch.supervision.alignments_BTS is not None
        assert batch.supervision.alignments_BTS.shape == (
            *batch.target_ids.ids_BT.shape,
            batch.input_ids.ids_BT.shape[1],
        )
        for row, number in enumerate(batch.example_ids_B.tolist()):
            shares = batch.supervision.alignments_BTS[row]
            assert sorted((i, j) for j, i in np.argwhere(shares).tolist()) == links[number // 10]
            linked = {j for _, j in links[number // 10]}
            assert shares.sum(1).tolist() == pytest.approx([float(j in linked) for j in range(len(shares))])


def test_pairs_that_are_shuffled_in_windows_come_once_an_epoch_and_fewer_are_shuffled_as_a_whole() -> None:
    pairs = [([4] * (number % 17), [5] * (number % 13)) for number in range(200)]

    def epoch(window: int) -> list[list[int]]:
        return [batch.example_ids_B.tolist() for batch in batches_of(pairs, shuffle_window=window).epoch(1)]

    assert epoch(200) == epoch(0) != epoch(64)
    assert sorted(itertools.chain(*epoch(64))) == [10 * number for number in range(200)]


def cut_batches(seed: int = 1) -> PairBatches:
    """Units spell their id in letters, and are cut into single letters and pairs by chance."""
    units = {chr(number): number for number in range(97, 107)}
    units |= {a + b: 200 + 10 * i + j for i, a in enumerate(units) for j, b in enumerate(tuple(units)[:10])}
    cut = MergeDropout(units, 0.5)
    pairs = [([97 + number % 9] * (number % 7), [200 + number % 90] * (number % 5)) for number in range(150)]
    return batches_of(pairs, 60, seed, resegment=(cut, cut))


def rows_of(batches: Iterable[Batch]) -> dict[int, tuple[list[int], list[int]]]:
    """Source and target of every pair, by its number."""
    rows = {}
    for batch in batches:
        assert (np.diff(batch.target_ids.lengths_B) <= 0).all()
        for row, number in enumerate(batch.example_ids_B.tolist()):
            sides = (batch.inputs, batch.targets)
            source, target = (side.ids_BT[row, : side.lengths_B[row]].tolist() for side in sides)
            rows[number] = (source, target)
    return rows


def test_rows_are_cut_anew_in_every_epoch_and_for_every_seed_whatever_the_order_of_batches() -> None:
    first, second = rows_of(cut_batches().epoch(1)), rows_of(cut_batches().epoch(2))
    assert first.keys() == second.keys() == {10 * number for number in range(150)}
    assert first != second
    assert rows_of(cut_batches(seed=2).epoch(1)) != first
    epoch = cut_batches().epoch(2)
    assert rows_of(epoch[place] for place in reversed(range(len(epoch)))) == second
    later = rows_of(cut_batches().epoch(2)[4:])
    assert later == {number: second[number] for number in later}


@given(st.lists(ROW, max_size=60), st.integers(16, 300))
def test_the_width_of_a_source_in_search_depends_on_the_source_alone(rows: list[list[int]], budget: int) -> None:
    seen = []
    for batch in prediction_batches(Side(FIELDS[0], Ragged.of(rows)), budget):
        width = batch.input_ids.ids_BT.shape[1]
        assert batch.targets is None
        assert len(batch.example_ids_B) * width <= budget or len(batch.example_ids_B) == 1
        for row, number in enumerate(batch.example_ids_B.tolist()):
            seen.append(number)
            assert width == -(-(len(rows[number]) + 1) // WIDTH) * WIDTH
            assert batch.input_ids.ids_BT[row, : batch.input_ids.lengths_B[row]].tolist() == [*rows[number], 3]
    assert sorted(seen) == list(range(len(rows)))


def test_scoring_brings_the_targets_along() -> None:
    store = pairs_in_memory([([4], [7, 8]), ([5] * 20, [9]), ([6], [])])
    found = {}
    for batch in scored_batches(store, 100):
        for row, number in enumerate(batch.example_ids_B.tolist()):
            found[number] = batch.target_ids.ids_BT[row, : batch.target_ids.lengths_B[row]].tolist()
    assert found == {0: [7, 8, 3], 1: [9, 3], 2: [3]}
