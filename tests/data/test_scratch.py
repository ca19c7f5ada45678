"""Sorting beyond memory: what comes out is what sorting everything at once gives, whatever lies on disk."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.scratch import Growing, SortedRows, Sorter

ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=60)


@given(ROWS, st.integers(1, 70), st.integers(1, 9))
def test_rows_are_sorted_counted_and_kept_with_their_values(rows: list[tuple[int, int]], block: int, step: int) -> None:
    sorter = Sorter(2, 1, np.uint32, block)
    for begin in range(0, len(rows), step):
        first, second = np.array(rows[begin : begin + step]).T
        sorter.add(SortedRows([first, second], np.ones(len(first), np.uint32), [first * 10 + second]))
    found = [*sorter.blocks()]
    columns = [[*b.words, b.counts, *b.values] for b in found]
    flat = [tuple(map(int, row)) for block_ in columns for row in zip(*block_, strict=True)]
    assert flat == [(a, b, n, a * 10 + b) for (a, b), n in sorted(Counter(rows).items())]
    assert all(one.words[0][-1] < other.words[0][0] for one, other in pairwise(found))


def test_what_fits_in_memory_touches_no_disk(tmp_path: Path) -> None:
    grown = Growing(np.uint32, 3, tmp_path / "none")
    grown.append(np.arange(3))
    with pytest.raises(FileNotFoundError):
        grown.append(np.arange(1))
