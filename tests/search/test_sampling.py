import math
from collections import Counter
from itertools import takewhile

import numpy as np
import pytest

from anaphora.protocols import Array
from anaphora.search.scoring import score
from tests.searches import greedy, sample

from .naive import SOURCES, automaton, batch, written


def chi_square_limit(freedom: int) -> float:
    """What a chi-square statistic exceeds once in about 100,000 times (Wilson and Hilferty 1931)."""
    return freedom * (1 - 2 / (9 * freedom) + 4.265 * math.sqrt(2 / (9 * freedom))) ** 3


def test_a_sample_does_not_depend_on_its_neighbours() -> None:
    stepper = automaton(size=9)
    together = sample(stepper, batch(SOURCES), max_length=12, seed=3)
    order = [5, 2, 6, 0, 3, 1, 4]
    assert sample(stepper, batch([SOURCES[b] for b in order], example_ids=order), max_length=12, seed=3) == [
        together[b] for b in order
    ]
    for b, source in enumerate(SOURCES):
        assert sample(stepper, batch([source], example_ids=[b]), max_length=12, seed=3) == [together[b]]


def test_seeds_and_sentence_numbers_give_different_samples() -> None:
    stepper = automaton(size=9, sharpness=0.5)
    by_number = sample(stepper, batch([[4]] * 50), max_length=20)
    by_seed = [sample(stepper, batch([[4]]), max_length=20, seed=seed)[0] for seed in range(50)]
    assert len({h.ids for h in by_number}) > 30
    assert len({h.ids for h in by_seed}) > 30
    assert sum(a == b for a, b in zip(by_number, by_seed, strict=True)) < 10


def test_the_score_of_a_sample_is_the_models_own() -> None:
    stepper = automaton(size=6)
    found = sample(stepper, batch(SOURCES), max_length=6, temperature=3.0)
    outputs = written(found, stepper.eos)
    assert score(stepper, batch(SOURCES, outputs)) == found


@pytest.mark.parametrize("temperature", [1e-200, 1e-300, 5e-324])
def test_at_the_lowest_temperatures_the_most_probable_token_is_drawn(temperature: float) -> None:
    stepper = automaton(size=9)
    found = sample(stepper, batch(SOURCES), max_length=8, temperature=temperature)
    assert found == greedy(stepper, batch(SOURCES), max_length=8)
    assert all(one.score > -math.inf for one in found)


@pytest.mark.parametrize("options", [{}, {"top_k": 2}, {"top_p": 0.5}])
def test_where_nothing_is_possible_a_sample_is_as_unlikely_as_can_be(options: dict[str, float]) -> None:
    stepper = automaton(size=6)
    stepper.log_probs_QV[:] = -np.inf
    assert all(one.score == -math.inf for one in sample(stepper, batch(SOURCES), max_length=4, **options))


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"),
    [
        (0.5, 0, 1.0),
        (1.0, 0, 1.0),
        (2.0, 0, 1.0),
        (1.0, 3, 1.0),
        (1.0, 0, 0.6),
        (1.0, 4, 0.6),
        (1.0, 1, 1.0),
        (1.0, 0, 1e-9),
    ],
)
def test_the_likeliest_are_drawn_as_often_as_their_shares_say(temperature: float, top_k: int, top_p: float) -> None:
    stepper, draws, asked = automaton(size=8, sharpness=1.0), 4_000, {"top_k": top_k, "top_p": top_p}
    drawn = Counter(
        one.ids for one in sample(stepper, batch([[4]] * draws), max_length=2, temperature=temperature, **asked)
    )

    def shares(log_probs_V: Array) -> dict[int, float]:
        p = np.exp(log_probs_V.astype(np.float64) / temperature)
        by_rank = sorted(range(8), key=lambda symbol: (-float(p[symbol]), symbol))[: top_k or 8]
        within, kept = float(p[by_rank].sum()), list[int]()
        while not kept or (float(p[kept].sum()) / within < top_p and len(kept) < len(by_rank)):
            kept.append(by_rank[len(kept)])
        return {symbol: float(p[symbol] / p[kept].sum()) for symbol in kept}

    memory, start, _ = stepper.start(batch([[4]]))
    first = stepper.advance(memory, start, np.array([stepper.bos]))
    expected = Counter[tuple[int, ...]]()
    for symbol, p in shares(first.log_probs_NV[0]).items():
        second = stepper.advance(memory, first.state, np.array([symbol])).log_probs_NV[0]
        for then, q in shares(second).items():
            expected[tuple(takewhile(lambda one: one != stepper.eos, (symbol, then)))] += p * q  # type: ignore[assignment]
    assert set(drawn) <= set(expected) and math.isclose(sum(expected.values()), 1.0)
    if len(expected) > 1:
        statistic = sum((drawn[ids] - draws * p) ** 2 / (draws * p) for ids, p in expected.items())
        assert statistic < chi_square_limit(len(expected) - 1)
