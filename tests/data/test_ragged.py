"""Rows go into one array and come back as they were."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.ragged import Ragged

ROWS = st.lists(st.lists(st.integers(4, 99), max_size=20), min_size=1, max_size=12)


@given(ROWS)
def test_rows_come_back_with_their_lengths(rows: list[list[int]]) -> None:
    ragged = Ragged.of(rows)
    assert [ragged[place].tolist() for place in range(len(ragged))] == rows
    assert ragged.lengths.tolist() == [len(row) for row in rows]
    assert ragged.to_lists() == rows


@given(ROWS, st.data())
def test_rows_between_others_and_chosen_ones_come_back_as_they_were(rows: list[list[int]], data: st.DataObject) -> None:
    ragged = Ragged.of(rows)
    start, stop = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, len(rows) + 2))
    stop = max(start, stop)
    some = ragged.slice(start, stop)
    assert [some[place].tolist() for place in range(len(some))] == rows[start:stop]
    assert len(some.ids) == sum(map(len, rows[start:stop]))
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1)))
    assert [row.tolist() for row in ragged.split(np.array(chosen, dtype=np.int64))] == [rows[place] for place in chosen]
    taken = ragged.rows(np.array(chosen, dtype=np.int64))
    assert [taken[place].tolist() for place in range(len(taken))] == [rows[place] for place in chosen]
