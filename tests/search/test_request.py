"""Fields of a request that every search has: checks, banned tokens, attention, reports; and the inputs, never read."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from anaphora.errors import ConfigError
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.ranking import LengthModel, Ranking
from anaphora.search.sampling import Sampling
from anaphora.search.scoring import score
from anaphora.search.selection import Diversity
from anaphora.search.suffixes import Suffixes
from tests.searches import beam, greedy, sample

from .naive import SOURCES, automaton, batch, written

SEARCHES: dict[str, Callable[..., Any]] = {
    "beam": partial(beam, beam=3, max_length=9),
    "greedy": partial(greedy, max_length=9),
    "sample": partial(sample, max_length=9, seed=2),
    "score": score,
}


def bests(found: list[Any]) -> list[Hypothesis]:
    """The best output of every sentence."""
    return [one[0] if isinstance(one, list) else one for one in found]


class Untouchable:
    """Inputs that nobody may read."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"the inputs were asked for {name}")


@pytest.mark.parametrize("search", SEARCHES)
def test_a_search_reads_no_inputs_and_attention_has_the_length_of_the_memory(search: str) -> None:
    stepper, pairs = automaton(scale=0.02), batch([[3, 4], [2], [5, 4, 3, 3]], [[3, 2, 4, 1], [4, 1], [2, 1]])
    start = stepper.start(pairs)
    stepper.start = lambda _: start  # type: ignore[method-assign, assignment]
    found = SEARCHES[search](stepper, replace(pairs, inputs=Untouchable()))  # type: ignore[arg-type]
    for positions, one in zip((2, 1, 4), bests(found), strict=True):
        assert one.weights is not None and one.weights.shape == (len(one.ids) + one.finished, positions)
        assert np.isfinite(one.weights).all()


@pytest.mark.parametrize("search", ["beam", "greedy", "sample"])
def test_what_is_written_without_some_tokens_has_the_score_that_forced_decoding_gives_it(search: str) -> None:
    stepper, sentences, banned = automaton(size=7), batch(SOURCES), {3, 4}
    assert any(banned & {*one.ids} for one in bests(SEARCHES[search](stepper, sentences)))
    found = bests(SEARCHES[search](stepper, sentences, banned_tokens=(*banned,)))
    assert not any(banned & {*one.ids} for one in found)
    forced = score(stepper, batch(SOURCES, written(found, stepper.eos)))
    assert [one.score for one in forced] == [one.score for one in found]


@pytest.mark.parametrize("search", SEARCHES)
def test_a_search_is_checked_at_every_step_and_stopped_at_any(search: str) -> None:
    pairs, check = batch([[3, 4], [2]], [[3, 2, 4, 1], [4, 1]]), Mock()
    assert SEARCHES[search](automaton(), pairs, check=check) == SEARCHES[search](automaton(), pairs)
    assert check.call_count >= 2  # its start is one
    for before in range(check.call_count):
        stop = Mock(side_effect=[*[None] * before, InterruptedError])
        with pytest.raises(InterruptedError):
            SEARCHES[search](automaton(), pairs, check=stop)
        assert stop.call_count == before + 1


@pytest.mark.parametrize("search", ["beam", "score"])
def test_hypotheses_without_attention_are_the_same_but_for_their_weights(search: str) -> None:
    pairs = batch([[3, 4], [2]], [[3, 2, 4, 1], [4, 1]])
    found, light = (SEARCHES[search](automaton(), pairs, attention=asked) for asked in (True, False))
    assert light == found
    assert all(one.weights is None for row in light for one in (row if search == "beam" else [row]))


@pytest.mark.parametrize("search", [greedy, sample])
def test_what_is_written_is_reported_and_what_is_forced_is_not(search: Any) -> None:
    stepper, heard = automaton(size=9), list[tuple[int, int]]()
    begun = batch([[4], [5]], prefixes=[[7, 8], [6]], example_ids=[3, 5])
    found = search(stepper, begun, max_length=6, on_token=lambda number, symbol: heard.append((number, symbol)))
    for number, forced, whole in zip((3, 5), (2, 1), written(found, stepper.eos), strict=True):
        assert [symbol for n, symbol in heard if n == number] == whole[forced:]


@pytest.mark.parametrize("search", [greedy, sample, beam])
def test_an_output_without_an_end_is_cut_at_its_own_greatest_length(search: Any) -> None:
    stepper, lengths = automaton(size=6), list(range(1, 8))
    stepper.log_probs_QV[:, stepper.eos] = -np.inf
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
def test_what_no_search_can_do_is_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        beam(automaton(), batch(SOURCES), **{"beam": 6, "max_length": 5, **asked})
