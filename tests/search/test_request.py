"""Fields of a request that every search has: checks, banned tokens, attention, reports; and the inputs, never read."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anaphora.batch import Batch
from anaphora.errors import ConfigError
from anaphora.protocols import Stepper
from anaphora.search.ranking import LengthModel, Ranking
from anaphora.search.request import no_check
from anaphora.search.sampling import Sampling
from anaphora.search.scoring import score
from anaphora.search.selection import Diversity
from anaphora.search.suffixes import Suffixes
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


class Untouchable:
    """Inputs that nobody may read."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"the inputs were asked for {name}")


@pytest.mark.parametrize("search", SEARCHES)
def test_a_search_reads_no_inputs_and_attention_has_the_length_of_the_memory(
    automaton: Make, batch: MakeBatch, search: str
) -> None:
    stepper, pairs = automaton(scale=0.02), batch([[3, 4], [2], [5, 4, 3, 3]], [[3, 2, 4, 1], [4, 1], [2, 1]])
    start = stepper.start(pairs)
    stepper.start = lambda _: start  # type: ignore[method-assign]
    found = SEARCHES[search](stepper, replace(pairs, inputs=Untouchable()), no_check)  # type: ignore[arg-type]
    for positions, one in zip((2, 1, 4), (one[0] if search == "beam" else one for one in found), strict=True):
        assert one.weights.shape == (len(one.ids) + one.finished, positions)
        assert np.isfinite(one.weights).all()


def test_what_is_written_without_some_tokens_has_the_score_that_forced_decoding_gives_it(
    automaton: Make, batch: MakeBatch
) -> None:
    stepper, banned, usual = automaton(size=7), (3, 4), 0
    for search in (
        lambda **asked: [one for one, *_ in beam(stepper, batch(SOURCES), beam=3, max_length=12, **asked)],
        lambda **asked: greedy(stepper, batch(SOURCES), max_length=12, **asked),
        lambda **asked: sample(stepper, batch(SOURCES), max_length=12, seed=1, **asked),
    ):
        usual += sum(len({*one.ids} & {*banned}) for one in search())
        found = search(banned_tokens=banned)
        assert not any({*one.ids} & {*banned} for one in found)
        forced = score(stepper, batch(SOURCES, written(found, stepper.eos)))
        assert [one.score for one in forced] == [one.score for one in found]
    assert usual


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


@pytest.mark.parametrize("search", [greedy, sample, beam])
def test_an_output_without_an_end_is_cut_at_its_own_greatest_length(
    automaton: Make, batch: MakeBatch, search: Any
) -> None:
    stepper, lengths = automaton(size=6), list(range(1, 8))
    stepper.log_probs_QV[:, stepper.eos] = -np.inf  # type: ignore[attr-defined]
    for length, found in zip(lengths, search(stepper, batch(SOURCES), n=5, max_length=lengths), strict=True):
        rows = found if search is beam else [found]
        assert len(rows) == (5 if search is beam else 1)
        assert all((len(one.ids), len(one.weights), one.finished) == (length, length, False) for one in rows)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        *[(asked, "should be at least") for asked in ({"beam": 0}, {"beam": 1001}, {"n": 0}, {"max_length": 0})],
        ({"max_length": [1, 2]}, "should be at least"),
        *[({"ranking": Ranking(penalty)}, "should be at least") for penalty in (-1.0, math.nan)],
        ({"ranking": Ranking(coverage_penalty=math.inf)}, "should be at least"),
        *[
            ({"ranking": Ranking(length_model=LengthModel(*numbers))}, "should be above 0")
            for numbers in [(1, 0), (-1, 1)]
        ],
        *[({"sampling": Sampling(temperature)}, "change them") for temperature in (0.0, math.nan, math.inf)],
        *[({"sampling": Sampling(seed=seed)}, "change them") for seed in (-1, 2**64)],
        *[({"sampling": Sampling(top_p=top_p)}, "change them") for top_p in (0.0, 1.1, math.nan)],
        ({"sampling": Sampling(top_k=-1)}, "change them"),
        ({"sampling": Sampling(), "max_length": 0}, "give one"),
        *[({"diversity": Diversity(groups)}, "diverse beam needs") for groups in (1, 4)],
        *[({"diversity": Diversity(3, strength)}, "diverse beam needs") for strength in (-1.0, math.nan)],
        ({"diversity": Diversity(3), "steering": [Suffixes([(2,)], np.array([4]), 1)]}, "divide a beam"),
    ],
)
def test_what_no_search_can_do_is_refused(
    automaton: Make, batch: MakeBatch, asked: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        beam(automaton(), batch(SOURCES), **{"beam": 6, "max_length": 5, **asked})
