"""Windows cover the text once, in order, in parallel streams."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.columns import Integers
from anaphora.data.running_text import TextWindows
from anaphora.errors import DataError


def store_of(count: int) -> Integers:
    return np.arange(count, dtype=np.uint16)


@given(st.integers(2, 300), st.integers(1, 8), st.integers(1, 40))
def test_every_id_but_the_first_is_predicted_once_but_for_the_remainder(count: int, rows: int, steps: int) -> None:
    if count - 1 < rows:
        return
    windows = TextWindows(store_of(count), rows=rows, steps=steps)
    predicted: list[int] = []
    before = None
    for place, batch in enumerate(windows.epoch(1)):
        inputs, targets = batch.input_ids.ids_BT, batch.target_ids.ids_BT
        assert inputs.shape == targets.shape
        assert inputs.shape[0] == rows
        assert inputs.shape[1] <= steps
        assert (targets == inputs + 1).all()
        assert (batch.input_ids.lengths_B == inputs.shape[1]).all()
        assert (batch.carry_mask_B == (place > 0)).all()
        assert (batch.example_ids_B == inputs[:, 0]).all()
        assert batch.supervision.learning_rate_factor == 1.0
        if before is not None:
            assert (inputs[:, 0] == before).all()
        before = targets[:, -1]
        predicted += targets.flatten().tolist()
    remainder = (count - 1) % rows
    assert sorted(predicted) == list(range(1, count - remainder))


@given(st.integers(60, 300), st.integers(1, 4), st.integers(1, 4), st.integers(1, 40))
def test_micro_batches_read_the_streams_of_one_batch_in_turns(count: int, rows: int, parts: int, steps: int) -> None:
    whole = TextWindows(store_of(count), rows=parts * rows, steps=steps).epoch(2)
    turns = TextWindows(store_of(count), rows=rows, steps=steps, micro_batches=parts).epoch(2)
    assert len(turns) == parts * len(whole)
    for place, batch in enumerate(whole):
        for part, own in enumerate(np.split(batch.target_ids.ids_BT, parts)):
            turn = turns[place * parts + part]
            assert turn.target_ids.ids_BT.tolist() == own.tolist()
            assert (turn.carry_mask_B == (place > 0)).all()


@given(st.integers(10, 600), st.integers(1, 4), st.integers(1, 40), st.integers(0, 9))
def test_windows_of_random_lengths_predict_the_same_in_order(count: int, rows: int, steps: int, seed: int) -> None:
    equal = TextWindows(store_of(count), rows=rows, steps=steps)
    random = TextWindows(store_of(count), rows=rows, steps=steps, seed=seed)
    for epoch in 1, 2:
        expected, batches = list(equal.epoch(epoch)), list(random.epoch(epoch))
        for place, batch in enumerate(batches):
            width = batch.input_ids.ids_BT.shape[1]
            assert width >= min(5, steps) or place == len(batches) - 1
            assert batch.supervision.learning_rate_factor == width / steps
            assert (batch.carry_mask_B == (place > 0)).all()
        for side in "inputs", "targets":
            walked, plain = (
                np.concatenate([getattr(batch, side).ids_BT for batch in found], axis=1)
                for found in (batches, expected)
            )
            assert (walked == plain).all()


def test_random_lengths_depend_on_seed_and_epoch_alone_and_lie_about_what_was_asked_for() -> None:
    def lengths(seed: int, epoch: int) -> list[int]:
        windows = TextWindows(store_of(100_000), rows=1, steps=70, seed=seed)
        return [batch.input_ids.ids_BT.shape[1] for batch in windows.epoch(epoch)][:-1]

    drawn = lengths(1, 1)
    assert drawn == lengths(1, 1) and drawn != lengths(1, 2) and drawn != lengths(2, 1)
    short = [length for length in drawn if length < 52]
    assert 0.02 < len(short) / len(drawn) < 0.09
    assert np.mean(short) == pytest.approx(35, abs=2) and np.std(short) == pytest.approx(5, abs=1.5)
    usual = [length for length in drawn if length >= 52]
    assert np.mean(usual) == pytest.approx(70, abs=1) and np.std(usual) == pytest.approx(5, abs=0.5)


def test_a_text_too_short_for_its_rows_is_refused() -> None:
    with pytest.raises(DataError, match=r"each of the 20 streams .* has 9 tokens"):
        TextWindows(store_of(10), rows=20, steps=5)
