"""Rows go into one array and come back as they were."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.ragged import Ragged

ROWS = st.lists(st.lists(st.integers(4, 99), max_size=20), min_size=1, max_size=12)


@given(ROWS, st.data())
def test_all_rows_slices_and_chosen_rows_come_back_as_they_were(rows: list[list[int]], data: st.DataObject) -> None:
    ragged = Ragged.of(rows)
    assert ragged.to_lists() == [ragged[place].tolist() for place in range(len(ragged))] == rows
    assert ragged.lengths.tolist() == [len(row) for row in rows]
    start = data.draw(st.integers(0, len(rows) - 1))
    stop = data.draw(st.integers(start, len(rows) + 2))
    some = ragged.slice(start, stop)
    assert some.to_lists() == rows[start:stop]
    assert len(some.ids) == sum(map(len, rows[start:stop]))
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1)))
    assert [row.tolist() for row in ragged.split(np.array(chosen, dtype=np.int64))] == [rows[place] for place in chosen]
    assert ragged.rows(np.array(chosen, dtype=np.int64)).to_lists() == [rows[place] for place in chosen]
