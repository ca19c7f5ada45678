import itertools
import math
from collections import Counter

import numpy as np
import pytest

from anaphora.errors import ConfigError
from anaphora.protocols import Array
from anaphora.search.scoring import score
from tests.searches import beam, sample

from .naive import SOURCES, Make, MakeBatch, written


def chi_square_limit(freedom: int) -> float:
    """What a chi-square statistic exceeds once in about 100,000 times (Wilson and Hilferty 1931)."""
    return freedom * (1 - 2 / (9 * freedom) + 4.265 * math.sqrt(2 / (9 * freedom))) ** 3


def softmax(log_probs_V: Array, temperature: float) -> list[float]:
    p_V = np.exp(log_probs_V.astype(np.float64) / temperature)
    found: list[float] = (p_V / p_V.sum()).tolist()
    return found


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_outputs_are_drawn_as_often_as_the_model_says(automaton: Make, batch: MakeBatch, temperature: float) -> None:
    stepper, draws = automaton(size=4, sharpness=1.0), 4_000
    drawn = Counter(h.ids for h in sample(stepper, batch([[4]] * draws), max_length=2, temperature=temperature))
    memory, start, _ = stepper.start(batch([[4]]))
    first = stepper.advance(memory, start, np.array([stepper.bos]))
    expected = {}
    for symbol, p in enumerate(softmax(first.log_probs_NV[0], temperature)):
        second = stepper.advance(memory, first.state, np.array([symbol])).log_probs_NV[0]
        for then, q in enumerate(softmax(second, temperature)):
            ids = tuple(itertools.takewhile(lambda i: i != stepper.eos, (symbol, then)))
            expected[ids] = expected.get(ids, 0.0) + p * q
    assert math.isclose(sum(expected.values()), 1.0)
    assert set(drawn) <= set(expected)
    statistic = sum((drawn[ids] - draws * p) ** 2 / (draws * p) for ids, p in expected.items())
    assert statistic < chi_square_limit(len(expected) - 1)


def test_a_sample_does_not_depend_on_its_neighbours(automaton: Make, batch: MakeBatch) -> None:
    stepper = automaton(size=9)
    together = sample(stepper, batch(SOURCES), max_length=12, seed=3)
    order = [5, 2, 6, 0, 3, 1, 4]
    assert sample(stepper, batch([SOURCES[b] for b in order], example_ids=order), max_length=12, seed=3) == [
        together[b] for b in order
    ]
    for b, source in enumerate(SOURCES):
        assert sample(stepper, batch([source], example_ids=[b]), max_length=12, seed=3) == [together[b]]


def test_seeds_and_sentence_numbers_give_different_samples(automaton: Make, batch: MakeBatch) -> None:
    stepper = automaton(size=9, sharpness=0.5)
    by_number = sample(stepper, batch([[4]] * 50), max_length=20)
    by_seed = [sample(stepper, batch([[4]]), max_length=20, seed=seed)[0] for seed in range(50)]
    assert len({h.ids for h in by_number}) > 30
    assert len({h.ids for h in by_seed}) > 30
    assert sum(a == b for a, b in zip(by_number, by_seed, strict=True)) < 10


def test_the_score_of_a_sample_is_the_models_own(automaton: Make, batch: MakeBatch) -> None:
    stepper = automaton(size=6)
    found = sample(stepper, batch(SOURCES), max_length=6, temperature=3.0)
    outputs = written(found, stepper.eos)
    assert score(stepper, batch(SOURCES, outputs)) == found


def test_a_cold_sample_is_greedy(automaton: Make, batch: MakeBatch) -> None:
    stepper = automaton(size=9)
    cold = sample(stepper, batch(SOURCES), max_length=12, temperature=1e-6)
    assert cold == [found[0] for found in beam(stepper, batch(SOURCES), beam=1, max_length=12)]


@pytest.mark.parametrize("options", [{}, {"top_k": 2}, {"top_p": 0.5}])
def test_where_nothing_is_possible_a_sample_is_as_unlikely_as_can_be(
    automaton: Make, batch: MakeBatch, options: dict[str, float]
) -> None:
    stepper = automaton(size=6)
    stepper.log_probs_QV[:] = -np.inf
    assert all(one.score == -math.inf for one in sample(stepper, batch(SOURCES), max_length=4, **options))


@pytest.mark.parametrize(
    "options",
    [
        {"temperature": 0.0},
        {"temperature": math.nan},
        {"temperature": math.inf},
        {"seed": -1},
        {"seed": 2**64},
        {"max_length": 0},
        {"top_k": -1},
        {"top_p": 0.0},
        {"top_p": 1.1},
        {"top_p": math.nan},
    ],
)
def test_impossible_options_are_refused(automaton: Make, batch: MakeBatch, options: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"change them|give one"):
        sample(automaton(), batch(SOURCES), **{"max_length": 5, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize(("top_k", "top_p"), [(3, 1.0), (0, 0.6), (4, 0.6), (1, 1.0), (0, 1e-9)])
def test_only_the_likeliest_are_drawn_and_as_often_as_their_shares_say(
    automaton: Make, batch: MakeBatch, top_k: int, top_p: float
) -> None:
    stepper, draws = automaton(size=8, sharpness=1.0), 4_000
    drawn = Counter(h.ids for h in sample(stepper, batch([[4]] * draws), max_length=1, top_k=top_k, top_p=top_p))
    memory, start, _ = stepper.start(batch([[4]]))
    p = np.exp(stepper.advance(memory, start, np.array([stepper.bos])).log_probs_NV[0].astype(np.float64))
    by_rank = sorted(range(8), key=lambda symbol: (-float(p[symbol]), symbol))[: top_k or 8]
    within, kept = float(p[by_rank].sum()), list[int]()
    while not kept or (float(p[kept].sum()) / within < top_p and len(kept) < len(by_rank)):
        kept.append(by_rank[len(kept)])
    expected = {() if symbol == stepper.eos else (symbol,): float(p[symbol] / p[kept].sum()) for symbol in kept}
    assert set(drawn) == set(expected)
    if len(kept) > 1:
        statistic = sum((drawn[ids] - draws * q) ** 2 / (draws * q) for ids, q in expected.items())
        assert statistic < chi_square_limit(len(expected) - 1)
