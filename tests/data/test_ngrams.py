"""Counting n-grams: the fast count is the plain one, whatever the order and the block, in memory and on disk."""

import os
import signal
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.columns import Integers
from anaphora.data.ngrams import Grams, count
from anaphora.data.scratch import writing_scratch
from anaphora.errors import DataError
from anaphora.events import Event, Progress
from tests.faults.processes import forked

END, SIZE = 3, 8
TEXTS = st.lists(st.integers(END, SIZE - 1), min_size=1, max_size=40)

Gram = tuple[int, ...]


def store(units: list[int]) -> Integers:
    return np.array([END, *units], dtype=np.uint16)


def windows(units: list[int], order: int) -> list[Gram]:
    """Every unit after the ones that count: at most order - 1, back to the line's begin."""
    ids, found = [END, *units], []
    for place in range(1, len(ids)):
        first = place - 1
        while first > max(0, place - order + 1) and ids[first] != END:
            first -= 1
        found.append(tuple(ids[first : place + 1] if order > 1 else ids[place : place + 1]))
    return found


def plain(units: list[int], order: int) -> list[dict[Gram, int]]:
    """By order: raw counts of the highest and of what begins a line, different units before it of all others."""
    raw = [Counter(w[-n:] for w in windows(units, order) if len(w) >= n) for n in range(1, order + 1)]
    counts = []
    for n, of_order in enumerate(raw, 1):
        if n == order:
            counts.append(dict(of_order))
            continue
        before = Counter(gram[1:] for gram in raw[n])
        counts.append({g: c if n > 1 and g[0] == END else before[g] for g, c in of_order.items()})
    return counts


def tokens(grams: Sequence[Grams], size: int = SIZE) -> list[list[Gram]]:
    """The tokens of the n-grams of every order, from their keys."""
    rows: list[list[Gram]] = [[()]]
    for of_order in grams:
        rows.append([(*rows[-1][key // size], key % size) for key in of_order.keys.tolist()])
    return rows[1:]


@given(TEXTS, st.integers(1, 6), st.integers(1, 50))
def test_counts_are_those_of_plain_counting_in_blocks_of_any_size(units: list[int], order: int, block: int) -> None:
    grams = count(store(units), order=order, size=SIZE, end=END, block=block)
    found = [
        {row: n for row, n in zip(rows, of_order.counts.tolist(), strict=True) if n}
        for rows, of_order in zip(tokens(grams), grams, strict=True)
    ]
    assert found == plain(units, order)


@given(TEXTS, st.integers(2, 5), st.integers(1, 50))
def test_ngrams_are_sorted_and_know_their_context_and_their_suffix(units: list[int], order: int, block: int) -> None:
    grams = count(store(units), order=order, size=SIZE, end=END, block=block)
    found = tokens(grams)
    assert found[0] == [(unit,) for unit in range(SIZE)]
    for lower, rows, of_order in zip(found, found[1:], grams[1:], strict=False):
        assert rows == sorted(set(rows))
        assert [lower[place] for place in of_order.suffixes.tolist()] == [row[1:] for row in rows]


def test_ids_that_fill_two_bytes_are_told_apart() -> None:
    size = 1 << 16
    wide = np.array([END, size - 1, size - 2, size - 1, END])
    large = count(wide, order=5, size=size, end=END)[1:]
    small = count(store([6, 5, 6, END]), order=5, size=SIZE, end=END)[1:]
    assert [g.counts.tolist() for g in large] == [g.counts.tolist() for g in small]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are listed on Linux alone")
def test_a_process_killed_while_it_counts_on_disk_leaves_nothing(tmp_path: Path) -> None:
    def report(event: Event) -> None:
        if isinstance(event, Progress) and event.done > 200:
            files = map(os.path.realpath, Path("/proc/self/fd").iterdir())
            print(sum(str(tmp_path) in file and "deleted" in file for file in files), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    def work() -> int:
        count(np.arange(400) % 5 + 3, order=3, size=8, end=3, block=20, folder=tmp_path, report=report)
        return 0

    killed = forked(work)
    assert killed.killed and not killed.err
    assert int(killed.out) >= 2  # it had files
    assert not [*tmp_path.iterdir()]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(DataError, match=r"Temporary files in .*gone cannot be written: No such file"),
        writing_scratch(tmp_path / "gone"),
    ):
        count(store([4, 5, 6, END] * 9), order=3, size=SIZE, end=END, block=4, folder=tmp_path / "gone")
