"""Streams: answers in order, a window at a time, whatever reads, answers or stops them."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import CancelledError, ConfigError, DataError, StoppedError
from anaphora.events import Event, Progress, silent
from anaphora.prediction.limits import UNLIMITED, Limits, Watch
from anaphora.prediction.stream import PATIENCE, WINDOW, answers, windows


def doubled(
    items: list[int] | Iterator[int],
    *,
    refused: int = 0,
    limits: Limits = UNLIMITED,
    report: Callable[[Event], None] = silent,
) -> Iterator[int]:
    """Twice every item; number ``refused`` of them is refused."""

    def read(item: int, number: int) -> tuple[int, int]:
        if number == refused:
            raise DataError(f"Line {number} is refused.")
        return item, number

    def answer(rows: Sequence[tuple[int, int]], watch: Watch, answered: Callable[[int], None]) -> Iterator[int]:
        assert [number for _, number in rows] == list(range(watch.line, watch.line + len(rows)))
        return (2 * item for item, _ in rows)

    return answers(items, read, answer, task="double", unit="lines", limits=limits, report=report)


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 7))
def test_windows_are_the_items_in_their_order_and_never_empty(items: list[int], size: int) -> None:
    for found in list(windows(items, size)), list(windows(iter(items), size)):
        assert [item for window in found for item in window] == items
        assert all(0 < len(window) <= size for window in found)


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(0, 25))
def test_items_before_a_refused_one_are_answered_and_none_after_it(items: list[int], refused: int) -> None:
    for given_as in (list, iter):
        found: list[int] = []
        stream = doubled(given_as(items), refused=refused)  # type: ignore[operator]
        if 0 < refused <= len(items):
            with pytest.raises(DataError, match=f"Line {refused} is refused"):
                found.extend(stream)
        else:
            found.extend(stream)
        assert found == [2 * item for item in items[: refused - 1 if refused else None]]


def test_what_reading_raises_is_raised_after_the_items_before_it() -> None:
    def reading() -> Iterator[int]:
        yield from range(5)
        raise DataError("The disk is gone.")

    found: list[int] = []
    with pytest.raises(DataError, match="The disk is gone"):
        found.extend(doubled(reading()))
    assert found == [0, 2, 4, 6, 8]


def test_numbers_and_progress_count_from_the_start_of_the_stream() -> None:
    events: list[Event] = []
    assert len(list(doubled(list(range(2 * WINDOW + 1)), report=events.append))) == 2 * WINDOW + 1
    counts = WINDOW, 2 * WINDOW, 2 * WINDOW + 1
    assert events == [Progress("double", done, 2 * WINDOW + 1, "lines") for done in counts]


def test_no_more_than_two_windows_are_read_ahead() -> None:
    read = 0

    def reading() -> Iterator[int]:
        nonlocal read
        for number in range(10 * WINDOW):
            read = number + 1
            yield number

    stream = doubled(reading())
    next(stream)
    time.sleep(3 * PATIENCE)
    assert read <= 2 * WINDOW + 2
    stream.close()  # type: ignore[attr-defined]


def test_one_text_in_place_of_several_is_refused() -> None:
    with pytest.raises(TypeError, match="put it into a list"):
        next(windows("a text"))


@pytest.mark.parametrize("deadline", [-1.0, float("nan")])
def test_a_deadline_before_the_call_is_refused(deadline: float) -> None:
    with pytest.raises(ConfigError, match="at least 0"):
        Limits(deadline)


def test_a_stream_stops_with_the_first_line_that_has_no_answer() -> None:
    found: list[int] = []
    with pytest.raises(CancelledError, match=f"at line {WINDOW + 1}") as cancelled:
        for one in doubled(list(range(3 * WINDOW)), limits=Limits(cancelled=lambda: len(found) >= WINDOW)):
            found.append(one)
    assert cancelled.value.line == len(found) + 1 == WINDOW + 1


@pytest.mark.parametrize("by", ["deadline", "client"])
def test_a_stream_that_waits_for_a_client_can_be_stopped(by: str) -> None:
    asked, gone = threading.Event(), threading.Event()

    def client() -> Iterator[int]:
        yield 1
        asked.wait(30)

    limits = Limits(deadline=3 * PATIENCE) if by == "deadline" else Limits(cancelled=gone.is_set)
    stream = doubled(client(), limits=limits)
    try:
        assert next(stream) == 2
        gone.set()
        with pytest.raises(StoppedError) as raised:
            next(stream)
    finally:
        asked.set()
    assert raised.value.line == 2
