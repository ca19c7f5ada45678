"""A search that is checked is the same search, and ends at the step where the check raises."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from anaphora.batch import Batch
from anaphora.protocols import Stepper
from anaphora.search.request import no_check
from anaphora.search.scoring import score
from tests.searches import beam, greedy, sample

from .naive import SOURCES, Make, MakeBatch, written

SEARCHES: dict[str, Callable[[Stepper, Batch, Callable[[], None]], Any]] = {
    "beam": lambda stepper, batch, check: beam(stepper, batch, beam=3, max_length=9, check=check),
    "greedy": lambda stepper, batch, check: greedy(stepper, batch, max_length=9, check=check),
    "sample": lambda stepper, batch, check: sample(stepper, batch, max_length=9, seed=2, check=check),
    "score": lambda stepper, batch, check: score(stepper, batch, check=check),
}


class StopError(Exception):
    pass


@pytest.mark.parametrize("search", SEARCHES)
def test_a_search_is_checked_at_every_step_and_stopped_at_any(automaton: Make, batch: MakeBatch, search: str) -> None:
    pairs, asked = batch([[3, 4], [2]], [[3, 2, 4, 1], [4, 1]]), 0

    def ask() -> None:
        nonlocal asked
        asked += 1
        if asked == last:
            raise StopError

    last = 0
    expected = SEARCHES[search](automaton(), pairs, no_check)
    assert SEARCHES[search](automaton(), pairs, ask) == expected
    steps = asked
    assert steps >= 2  # its start is one
    for last in range(1, steps + 1):
        asked = 0
        with pytest.raises(StopError):
            SEARCHES[search](automaton(), pairs, ask)
        assert asked == last


@pytest.mark.parametrize("search", ["beam", "score"])
def test_hypotheses_without_attention_are_the_same_but_for_their_weights(
    automaton: Make, batch: MakeBatch, search: str
) -> None:
    pairs = batch([[3, 4], [2]], [[3, 2, 4, 1], [4, 1]])
    options: dict[str, Any] = {"beam": 3, "max_length": 9} if search == "beam" else {}
    found, light = (
        {"beam": beam, "score": score}[search](automaton(), pairs, attention=asked, **options)  # type: ignore[operator]
        for asked in (True, False)
    )
    assert light == found
    flat = [one for row in light for one in row] if search == "beam" else light
    assert all(one.weights is None for one in flat)


@pytest.mark.parametrize("search", [greedy, sample])
def test_what_is_written_is_reported_and_what_is_forced_is_not(automaton: Make, batch: MakeBatch, search: Any) -> None:
    stepper, heard = automaton(size=9), list[tuple[int, int]]()
    begun = batch([[4], [5]], prefixes=[[7, 8], [6]], example_ids=[3, 5])
    found = search(stepper, begun, max_length=6, on_token=lambda number, symbol: heard.append((number, symbol)))
    for number, forced, whole in zip((3, 5), (2, 1), written(found, stepper.eos), strict=True):
        assert [symbol for n, symbol in heard if n == number] == whole[forced:]


@pytest.mark.parametrize("search", [greedy, sample])
def test_an_output_without_an_end_is_cut_at_its_own_greatest_length(
    automaton: Make, batch: MakeBatch, search: Any
) -> None:
    stepper, lengths = automaton(size=6), list(range(1, 8))
    stepper.log_probs_QV[:, stepper.eos] = -torch.inf  # type: ignore[attr-defined]
    found = search(stepper, batch(SOURCES), max_length=lengths)
    assert [(len(one.ids), one.finished) for one in found] == [(length, False) for length in lengths]
