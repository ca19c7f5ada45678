"""The queue: texts of many requests share batches, and none changes the answer of another."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from anaphora.errors import DataError
from anaphora.prediction.limits import Limits
from anaphora.prediction.options import SearchOptions
from anaphora.serving.batching import CHARACTERS, TEXTS, Batching, Search
from anaphora.serving.limits import ServingLimits
from anaphora.serving.refusal import Refusal
from anaphora.serving.translators import ServedRun
from anaphora.tasks.translation.translation import Translation

pytestmark = pytest.mark.anyio


class Upper:
    """A translator to capitals; it waits for ``goes`` before every batch, and keeps what it was given."""

    def __init__(self, goes: bool = True) -> None:
        self.goes, self.batches = threading.Event(), list[list[str]]()
        if goes:
            self.goes.set()

    def translate_text(self, texts: Sequence[str], options: SearchOptions, *, limits: Limits) -> list[Translation]:
        self.batches.append(list(texts))
        watch = limits.start()
        while not self.goes.wait(0.01):
            watch.check()
        if "bad" in texts:
            raise DataError("'bad' cannot be translated.")
        if "fault" in texts:
            raise RuntimeError
        return [Translation(text.upper(), 0.0, True) for text in texts]


def searching(translator: Upper, beam: int = 5) -> Search:
    return Search(ServedRun("en", "fr", cast(Any, translator), False), SearchOptions(beam=beam))


@asynccontextmanager
async def started(limits: ServingLimits = ServingLimits()) -> AsyncIterator[Batching]:  # noqa: B008  (a frozen value)
    """A queue that works, and is stopped."""
    batching = Batching(limits)
    batching.start()
    yield batching
    await batching.stop()


Request = tuple[list[str], str, int]
"""Texts, the client, and the beam."""


async def answered(
    translator: Upper,
    *waves: list[Request],
    limits: ServingLimits = ServingLimits(),  # noqa: B008  (a frozen value)
) -> list[Any]:
    """The answers to requests; those of a wave come at once, and the translator works once all have come."""
    async with started(limits) as batching:
        tasks = []
        for wave in waves:
            for texts, client, beam in wave:
                tasks.append(asyncio.create_task(batching.translate(searching(translator, beam), texts, client)))
            await asyncio.sleep(0.1)
        translator.goes.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
    return [one if isinstance(one, BaseException) else [answer.text for answer in one] for one in found]


def at_once(*requests: list[str]) -> list[Request]:
    return [(texts, "", 5) for texts in requests]


async def test_requests_share_a_batch_and_each_gets_its_own_answers() -> None:
    translator = Upper()
    requests = [[f"{number} {place}" for place in range(number % 3 + 1)] for number in range(20)]
    answers = await answered(translator, at_once(*requests))
    assert answers == [[text.upper() for text in texts] for texts in requests]
    assert len(translator.batches) < len(requests)


async def test_a_text_that_cannot_be_translated_fails_alone() -> None:
    first, refused, last = await answered(Upper(), at_once(["a"], ["bad"], ["b"]))
    assert (first, last) == (["A"], ["B"])
    assert isinstance(refused, Refusal) and refused.status == 400


async def test_a_fault_reaches_those_of_its_batch_and_the_next_batch_is_translated() -> None:
    fault, after = await answered(Upper(), at_once(["fault"]), at_once(["a"]))
    assert isinstance(fault, RuntimeError) and after == ["A"]


async def test_different_searches_do_not_share_a_batch() -> None:
    translator = Upper()
    await answered(translator, [([str(place)], "", beam) for place, beam in enumerate((1, 5, 1, 5))])
    assert sorted(translator.batches) == [["0", "2"], ["1", "3"]]


async def test_a_full_queue_refuses_after_its_patience_and_answers_the_others() -> None:
    limits = ServingLimits(waiting=10, patience=0.08)
    waves = at_once(["first"]), at_once(["x" * 10]), at_once(["late"])
    *answers, refused = await answered(Upper(goes=False), *waves, limits=limits)
    assert isinstance(refused, Refusal) and refused.status == 503 and "Retry-After" in refused.headers
    assert answers == [["FIRST"], ["X" * 10]]


async def test_the_search_of_a_request_that_is_given_up_ends() -> None:
    begin = time.monotonic()
    async with started() as batching:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(batching.translate(searching(Upper(goes=False)), ["a"]), 0.2)
    assert time.monotonic() - begin < 5  # the search was cancelled: it would wait for ever


@pytest.mark.parametrize("beams", [[5, 5], [5, 1]], ids=["same-search", "other-search"])
@pytest.mark.parametrize("size", [5, 3 * TEXTS])
async def test_each_client_has_its_turn_however_much_others_ask_for(beams: list[int], size: int) -> None:
    count, translator = 6 * TEXTS // size + 1, Upper(goes=False)
    greedy = [([f"{number} {place}" for place in range(size)], "greedy", beams[0]) for number in range(count)]
    await answered(translator, greedy, [(["modest"], "modest", beams[1])])
    assert "modest" in [text for batch in translator.batches[:3] for text in batch]


async def test_each_request_of_a_client_has_its_turn_and_none_more_than_a_batch() -> None:
    translator = Upper(goes=False)
    await answered(translator, at_once([str(place) for place in range(5 * TEXTS)]), at_once(["short"]))
    assert max(map(len, translator.batches)) == TEXTS
    assert "short" in translator.batches[1]


async def test_a_client_with_a_full_queue_leaves_room_for_others() -> None:
    waves = [(["first"], "greedy", 5)], [(["x" * 10], "greedy", 5), (["modest"], "modest", 5)]
    answers = await answered(Upper(goes=False), *waves, limits=ServingLimits(waiting=10, patience=0.2))
    assert answers == [["FIRST"], ["X" * 10], ["MODEST"]]


@pytest.mark.parametrize("texts", [["x" * 5_000] * 5, ["x" * 20_000] * 3], ids=["several-fit", "none-fits"])
async def test_a_batch_of_several_texts_has_bounded_characters(texts: list[str]) -> None:
    translator = Upper()
    await answered(translator, at_once(texts))
    assert all(len(batch) == 1 or sum(map(len, batch)) <= CHARACTERS for batch in translator.batches)


async def test_a_queue_that_stands_still_says_so_until_it_goes_on() -> None:
    translator = Upper(goes=False)
    async with started(ServingLimits(patience=0.1)) as batching:
        assert not batching.is_stuck
        task = asyncio.create_task(batching.translate(searching(translator), ["a"]))
        await asyncio.sleep(0.3)
        assert batching.is_stuck
        translator.goes.set()
        await asyncio.sleep(0.3)
        assert not batching.is_stuck
        await task


async def test_a_cancelled_request_leaves_the_queue() -> None:
    translator = Upper(goes=False)
    search = searching(translator)
    async with started() as batching:
        working = asyncio.create_task(batching.translate(search, ["first"]))
        await asyncio.sleep(0.1)
        gone = asyncio.create_task(batching.translate(search, ["gone"]))
        await asyncio.sleep(0.05)
        gone.cancel()
        await asyncio.sleep(0)
        translator.goes.set()
        await working
        await batching.translate(search, ["last"])
    assert translator.batches == [["first"], ["last"]]
