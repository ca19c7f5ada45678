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
from anaphora.serving.translators import Served
from anaphora.tasks.translation import Translation


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
    return Search(Served("en", "fr", cast(Any, translator), False), SearchOptions(beam=beam))


@asynccontextmanager
async def started(limits: ServingLimits = ServingLimits()) -> AsyncIterator[Batching]:  # noqa: B008  (a frozen value)
    """A queue that works, and is stopped."""
    batching = Batching(limits)
    batching.start()
    yield batching
    await batching.stop()


async def given(translator: Upper, limits: ServingLimits, *requests: list[str]) -> list[Any]:
    async with started(limits) as batching:
        search = searching(translator)
        answers = await asyncio.gather(
            *(batching.translate(search, texts) for texts in requests), return_exceptions=True
        )
        return [one if isinstance(one, BaseException) else [answer.text for answer in one] for one in answers]


def test_requests_share_a_batch_and_each_gets_its_own_answers() -> None:
    translator = Upper()
    requests = [[f"{number} {place}" for place in range(number % 3 + 1)] for number in range(20)]
    answers = asyncio.run(given(translator, ServingLimits(), *requests))
    assert answers == [[text.upper() for text in texts] for texts in requests]
    assert len(translator.batches) < len(requests)


def test_a_long_request_does_not_fill_more_than_a_batch() -> None:
    translator = Upper()
    asyncio.run(given(translator, ServingLimits(), [f"{number}" for number in range(3 * TEXTS)], ["short"]))
    assert max(map(len, translator.batches)) == TEXTS


def test_a_text_that_cannot_be_translated_fails_alone() -> None:
    first, refused, last = asyncio.run(given(Upper(), ServingLimits(), ["a"], ["bad"], ["b"]))
    assert (first, last) == (["A"], ["B"])
    assert isinstance(refused, Refusal) and refused.status == 400


def test_a_fault_reaches_those_of_its_batch_and_the_next_batch_is_translated() -> None:
    async def twice() -> tuple[Any, Any]:
        batching, search = Batching(ServingLimits()), searching(Upper())
        batching.start()
        with pytest.raises(RuntimeError):
            await batching.translate(search, ["fault"])
        after = await batching.translate(search, ["a"])
        await batching.stop()
        return after, batching.waiting

    [answer], waiting = asyncio.run(twice())
    assert (answer.text, waiting) == ("A", 0)


def test_different_searches_do_not_share_a_batch() -> None:
    async def both() -> None:
        async with started() as batching:
            searches = [searching(translator, beam) for beam in (1, 5, 1, 5)]
            await asyncio.gather(*(batching.translate(search, [str(place)]) for place, search in enumerate(searches)))

    translator = Upper()
    asyncio.run(both())
    assert sorted(translator.batches) == [["0", "2"], ["1", "3"]]


def test_a_full_queue_refuses_after_its_patience_and_answers_the_others() -> None:
    async def crowd() -> list[Any]:
        async with started(ServingLimits(waiting=10, patience=0.2)) as batching:
            search = searching(translator)
            working = asyncio.create_task(batching.translate(search, ["first"]))
            await asyncio.sleep(0.1)
            waiting = asyncio.create_task(batching.translate(search, ["x" * 10]))
            await asyncio.sleep(0.05)
            refused = await asyncio.gather(batching.translate(search, ["late"]), return_exceptions=True)
            translator.goes.set()
            answers = await asyncio.gather(working, waiting)
            return [*refused, *(one.text for [one] in answers)]

    translator = Upper(goes=False)
    refused, *answers = asyncio.run(crowd())
    assert isinstance(refused, Refusal) and refused.status == 503 and "Retry-After" in refused.headers
    assert answers == ["FIRST", "X" * 10]


def test_the_search_of_a_request_that_is_given_up_ends() -> None:
    async def give_up() -> None:
        async with started() as batching:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(batching.translate(searching(Upper(goes=False)), ["a"]), 0.2)

    begin = time.monotonic()
    asyncio.run(give_up())
    assert time.monotonic() - begin < 5  # the search was cancelled: it would wait for ever


@pytest.mark.parametrize("beams", [[5, 5], [5, 1]], ids=["same-search", "other-search"])
@pytest.mark.parametrize("size", [1, 5, 3 * TEXTS])
def test_each_client_has_its_turn_however_much_others_ask_for(beams: list[int], size: int) -> None:
    async def crowd() -> list[str]:
        async with started() as batching:
            greedy, modest = (searching(translator, beam) for beam in beams)
            tasks = [
                asyncio.create_task(
                    batching.translate(greedy, [f"{number} {place}" for place in range(size)], "greedy")
                )
                for number in range(6 * TEXTS // size + 1)
            ]
            await asyncio.sleep(0.05)
            tasks.append(asyncio.create_task(batching.translate(modest, ["modest"], "modest")))
            await asyncio.sleep(0.05)
            translator.goes.set()
            await asyncio.gather(*tasks)
            return [text for batch in translator.batches[:3] for text in batch]

    translator = Upper(goes=False)
    assert "modest" in asyncio.run(crowd())


def test_each_request_of_a_client_has_its_turn() -> None:
    async def crowd() -> None:
        async with started() as batching:
            search = searching(translator)
            long = asyncio.create_task(batching.translate(search, [str(place) for place in range(5 * TEXTS)]))
            await asyncio.sleep(0.05)
            short = asyncio.create_task(batching.translate(search, ["short"]))
            await asyncio.sleep(0.05)
            translator.goes.set()
            await asyncio.gather(long, short)

    translator = Upper(goes=False)
    asyncio.run(crowd())
    assert "short" in translator.batches[1]


def test_a_client_with_a_full_queue_leaves_room_for_others() -> None:
    async def crowd() -> list[Any]:
        async with started(ServingLimits(waiting=10, patience=0.2)) as batching:
            search = searching(translator)
            greedy = [asyncio.create_task(batching.translate(search, ["first"], "greedy"))]
            await asyncio.sleep(0.1)
            greedy.append(asyncio.create_task(batching.translate(search, ["x" * 10], "greedy")))
            modest = asyncio.create_task(batching.translate(search, ["modest"], "modest"))
            await asyncio.sleep(0.1)
            translator.goes.set()
            answers = await asyncio.gather(*greedy, modest)
            return [one.text for [one] in answers]

    translator = Upper(goes=False)
    assert asyncio.run(crowd()) == ["FIRST", "X" * 10, "MODEST"]


@pytest.mark.parametrize("texts", [["x" * 5_000] * 5, ["x" * 20_000] * 3], ids=["several-fit", "none-fits"])
def test_a_batch_of_several_texts_has_bounded_characters(texts: list[str]) -> None:
    translator = Upper()
    asyncio.run(given(translator, ServingLimits(), texts))
    assert all(len(batch) == 1 or sum(map(len, batch)) <= CHARACTERS for batch in translator.batches)


def test_a_queue_that_stands_still_says_so_until_it_goes_on() -> None:
    async def wait() -> list[bool]:
        async with started(ServingLimits(patience=0.1)) as batching:
            found = [batching.is_stuck]
            task = asyncio.create_task(batching.translate(searching(translator), ["a"]))
            for goes in (False, True):
                await asyncio.sleep(0.3)
                found.append(batching.is_stuck)
                if not goes:
                    translator.goes.set()
            await task
            return found

    translator = Upper(goes=False)
    assert asyncio.run(wait()) == [False, True, False]


def test_a_cancelled_request_leaves_the_queue() -> None:
    async def leave() -> None:
        async with started() as batching:
            search = searching(translator)
            working = asyncio.create_task(batching.translate(search, ["first"]))
            await asyncio.sleep(0.1)
            gone = asyncio.create_task(batching.translate(search, ["gone"]))
            await asyncio.sleep(0.05)
            gone.cancel()
            await asyncio.sleep(0)
            translator.goes.set()
            await working
            await batching.translate(search, ["last"])

    translator = Upper(goes=False)
    asyncio.run(leave())
    assert translator.batches == [["first"], ["last"]]
