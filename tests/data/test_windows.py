"""Windows walk the text once, in order, in parallel streams."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.store import TextStore
from anaphora.data.windows import TextWindows
from anaphora.errors import DataError


def store_of(count: int) -> TextStore:
    return TextStore(np.arange(count, dtype=np.uint16), lines=1, characters=count, bytes=count)


@given(st.integers(2, 300), st.integers(1, 8), st.integers(1, 40))
def test_every_id_but_the_first_is_predicted_once_but_for_the_remainder(count: int, rows: int, steps: int) -> None:
    if count - 1 < rows:
        return
    windows = TextWindows(store_of(count), rows=rows, steps=steps)
    predicted: list[int] = []
    before = None
    for place, batch in enumerate(windows.epoch(1)):
        assert batch.targets is not None
        inputs, targets = batch.inputs.ids_BT, batch.targets.ids_BT
        assert inputs.shape == targets.shape
        assert inputs.shape[0] == rows
        assert inputs.shape[1] <= steps
        assert (targets == inputs + 1).all()
        assert (batch.inputs.lengths_B == inputs.shape[1]).all()
        assert (batch.continues_B == (place > 0)).all()
        assert (batch.numbers_B == inputs[:, 0]).all()
        if before is not None:
            assert (inputs[:, 0] == before).all()
        before = targets[:, -1]
        predicted += targets.flatten().tolist()
    remainder = (count - 1) % rows
    assert sorted(predicted) == list(range(1, count - remainder))
    assert windows.predictions == len(predicted)


def test_every_epoch_is_the_text_in_order() -> None:
    windows = TextWindows(store_of(50), rows=3, steps=7)
    assert [batch.inputs.ids_BT.tolist() for batch in windows.epoch(1)] == [
        batch.inputs.ids_BT.tolist() for batch in windows.epoch(2)
    ]


def test_a_text_too_short_for_its_rows_is_refused() -> None:
    with pytest.raises(DataError, match=r"each of the 20 streams .* holds only 9 units"):
        TextWindows(store_of(10), rows=20, steps=5)
