"""Parts of a training split are drawn in their proportions, evenly, and as a pure function of seed and epoch."""

from collections import Counter
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.corpora import PairCorpus, put_together
from anaphora.data.mixture import MOST_REPEATS, Mixture, Proportions
from anaphora.data.pairs import PairBatches
from anaphora.data.ragged import Ragged
from tests.data.stores import pairs_in_memory

COUNTS = st.lists(st.integers(1, 60), min_size=1, max_size=4)


def part(number: int, count: int, *, synthetic: bool = False) -> PairCorpus:
    pairs = tuple((f"s{number} {n}", f"t{number} {n}") for n in range(count))
    more: Any = {"languages": ("xx", f"y{number}"), "synthetic": synthetic, "pairs": pairs}
    return PairCorpus(f"part {number}", (), f"{number}", count, **more)


@given(COUNTS, st.floats(1, 20), st.floats(0.1, 5), st.integers(0, 99))
def test_directions_are_drawn_by_temperature_and_synthetic_pairs_in_a_ratio(
    counts: list[int], temperature: float, ratio: float, made: int
) -> None:
    parts = [*(part(number, count) for number, count in enumerate(counts)), part(0, made, synthetic=True)]
    *draws, synthetic = Proportions(temperature, ratio).draws(parts, [*counts, made])
    powers = [count ** (1 / temperature) for count in counts]
    for drawn, count, power in zip(draws, counts, powers, strict=True):
        assert drawn <= MOST_REPEATS * count + 1
        assert abs(drawn - sum(draws) * power / sum(powers)) <= len(counts) + 1
    assert synthetic == min(made, round(ratio * draws[0]))
    if temperature == 1 or len(counts) == 1:
        assert draws == counts


@given(COUNTS, st.integers(1, 9))
def test_an_epoch_draws_the_rows_of_a_part_equally_often(counts: list[int], seed: int) -> None:
    draws = [1 + (7 * count + seed) % (2 * count) for count in counts]
    mixture = Mixture(counts, draws, [()] * len(counts), seed)
    starts = np.cumsum([0, *counts])
    seen = Counter[int]()
    for epoch in range(1, 5):
        rows = mixture.epoch(epoch)
        assert (np.diff(rows) >= 0).all()
        assert np.histogram(rows, [*starts[:-1], starts[-1] - 0.5])[0].tolist() == draws
        seen.update(rows.tolist())
        again = Mixture(counts, draws, [()] * len(counts), seed)
        assert (again.epoch(epoch) == rows).all()
    for start, count in zip(starts.tolist(), counts, strict=False):
        times = [seen[row] for row in range(start, start + count)]
        assert max(times) - min(times) <= 1


def test_tags_stand_in_front_of_sources_and_links_pass_them_by() -> None:
    store = pairs_in_memory([([5, 6], [7]), ([8], [9, 10])], [0, 1])
    links = Ragged.of([[0, 0, 1, 0], [0, 1]])
    mixture = Mixture([1, 1], [1, 2], [(20,), (21, 22)], 1)
    rows = [
        (row[:length].tolist(), weights)
        for batch in PairBatches(store, batch_tokens=100, seed=1, alignments=links, mixture=mixture).epoch(1)
        for row, length, weights in zip(
            batch.input_ids.ids_BT, batch.input_ids.lengths_B, batch.supervision.alignments_BTS, strict=True
        )
    ]
    assert sorted(ids for ids, _ in rows) == [[20, 5, 6, 3], [21, 22, 8, 3], [21, 22, 8, 3]]
    for ids, weights in rows:
        tags = 1 if ids[0] == 20 else 2
        assert weights[:, :tags].sum() == 0 and weights[:, tags:].sum() > 0


def test_a_vocabulary_sees_small_parts_as_often_as_an_epoch_does() -> None:
    parts = [part(0, 100), part(1, 4)]
    draws = Proportions(5).draws(parts, [100, 4])
    drawn = list(Proportions(5).balance(put_together("train", parts)))
    assert [sum(source.startswith(f"s{number} ") for source, _ in drawn) for number in (0, 1)] == draws
    assert set(drawn) >= set(parts[1])
