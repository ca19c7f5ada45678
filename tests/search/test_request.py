"""A search that is checked is the same search, and ends at the step where the check raises."""

from collections.abc import Callable
from typing import Any

import pytest

from anaphora.batch import Batch
from anaphora.protocols import Stepper
from anaphora.search.request import no_check
from anaphora.search.scoring import score
from tests.searches import beam, greedy, sample

SEARCHES: dict[str, Callable[[Stepper, Batch, Callable[[], None]], Any]] = {
    "beam": lambda stepper, batch, check: beam(stepper, batch, beam=3, max_length=9, check=check),
    "greedy": lambda stepper, batch, check: greedy(stepper, batch, max_length=9, check=check),
    "sample": lambda stepper, batch, check: sample(stepper, batch, max_length=9, seed=2, check=check),
    "score": lambda stepper, batch, check: score(stepper, batch, check=check),
}


class StopError(Exception):
    pass


@pytest.mark.parametrize("search", SEARCHES)
def test_a_search_is_checked_at_every_step_and_stopped_at_any(
    automaton: Callable[..., Stepper], batch: Callable[..., Batch], search: str
) -> None:
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
    automaton: Callable[..., Stepper], batch: Callable[..., Batch], search: str
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
