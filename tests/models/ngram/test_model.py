"""N-gram models: their probabilities are the equations' and sum to one behind every context."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.ngrams import BLOCK, count
from anaphora.models.ngram.kneser_ney import FALLBACK
from anaphora.models.ngram.model import NgramConfig, NgramModel, NgramModelConfig
from anaphora.protocols import VocabularyInfo

SYMBOLS = VocabularyInfo(9, 0, 1, 2, 3)
END = SYMBOLS.eos
RANDOM = np.random.default_rng(7)
TEXT = [int(unit) for unit in RANDOM.choice([3, 4, 5, 6, 7, 8], size=400, p=[0.15, 0.35, 0.2, 0.15, 0.1, 0.05])]
TOKENS = st.lists(st.sampled_from([1, 3, 4, 5, 6, 7, 8]), min_size=1, max_size=30)


def fitted(units: list[int], order: int, block: int = BLOCK) -> NgramModel:
    model = NgramModel(NgramModelConfig(ngram=NgramConfig(order=order)), SYMBOLS)
    model.fit(np.array([END, *units]), lambda order: None, block=block)
    return model


def by_hand(units: list[int], order: int, context: list[int], unit: int) -> float:
    """p(unit | context) as the three equations of ``kneser_ney`` say, one n-gram at a time."""
    counts: list[dict[tuple[int, ...], int]] = []
    rows: list[tuple[int, ...]] = [()]
    for grams in count(np.array([END, *units]), order=order, size=SYMBOLS.size, end=END):
        rows = [(*rows[key // SYMBOLS.size], key % SYMBOLS.size) for key in grams.keys.tolist()]
        counts.append({row: c for row, c in zip(rows, grams.counts.tolist(), strict=True) if c})

    def discount(n: int, times: int) -> float:
        t = [sum(c == k for c in counts[n - 1].values()) for k in (1, 2, 3, 4)]
        found = list(FALLBACK)
        if all(t):
            y = t[0] / (t[0] + 2 * t[1])
            proper = [k - (k + 1) * y * t[k] / t[k - 1] for k in (1, 2, 3)]
            if proper[0] > 0 and all(0 <= d <= k for k, d in enumerate(proper, 1)):
                found = proper
        return found[min(times, 3) - 1]

    def p(u: tuple[int, ...]) -> float:
        n = len(u) + 1
        seen = {g: c for g, c in counts[n - 1].items() if g[:-1] == u}
        below = p(u[1:]) if u else 1 / (SYMBOLS.size - 2)
        if not seen:
            return below
        total = sum(seen.values())
        gamma = sum(discount(n, c) for c in seen.values()) / total
        own = seen.get((*u, unit), 0)
        return (own - discount(n, own) if own else 0) / total + gamma * below

    return p(tuple(context[-(order - 1) :] if order > 1 else []))


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_probabilities_are_the_equations(order: int) -> None:
    model = fitted(TEXT, order)
    for context in ([END], [END, 4], [4, 4, 4, 4], [8, 8, 8, 8], [7, 5, 4], [4, 1]):
        table = model.backoff
        place = table.empty_context(1)
        for unit in context:
            place = table.read(place, np.array([unit]))
        expected = [log(by_hand(TEXT, order, context, unit)) for unit in (1, 3, 4, 6, 8)]
        assert table.log_probs(place)[0, [1, 3, 4, 6, 8]].tolist() == pytest.approx(expected, abs=1e-5)


@given(TOKENS, st.integers(1, 6), st.integers(1, 40))
def test_counting_on_disk_gives_the_bits_of_counting_in_memory(units: list[int], order: int, block: int) -> None:
    whole, parts = fitted(units, order), fitted(units, order, block)
    for one, other in zip(whole.backoff.orders, parts.backoff.orders, strict=True):
        assert all(np.array_equal(*arrays) for arrays in zip(one, other, strict=True))


@given(TOKENS, st.integers(1, 6), TOKENS)
def test_they_sum_to_one_behind_every_context_of_any_text(units: list[int], order: int, read: list[int]) -> None:
    table = fitted(units, order).backoff
    contexts = table.contexts_along(table.empty_context(1), np.array([[END, *read]]))[0]
    sums = np.exp(table.log_probs(contexts)).sum(axis=1)
    np.testing.assert_allclose(sums, 1.0, rtol=0, atol=1e-6)


def test_a_line_is_predicted_without_the_line_before_it() -> None:
    table = fitted(TEXT, 4).backoff
    first, texts = table.empty_context(1), ([[4, 5, END]], [[7, 8, END]])
    one, other = (table.log_probs(table.contexts_along(first, np.array(text))[:, -1]) for text in texts)
    assert np.array_equal(one, other)


def test_an_order_larger_than_the_text_counts_what_there_is() -> None:
    few, many = (fitted([4, 5, END], order).backoff for order in (4, 9))
    assert [len(order.keys_N) for order in many.orders[4:]] == [0] * 5
    read_1T = np.array([[END, 4, 5, END, 4, 7]])
    found, expected = (table.log_probs_along(table.empty_context(1), read_1T)[0] for table in (many, few))
    assert np.allclose(found, expected) and np.isfinite(found).all()


def test_an_order_without_enough_counts_takes_fixed_discounts_and_says_so() -> None:
    told: list[int] = []
    model = NgramModel(NgramModelConfig(ngram=NgramConfig(order=3)), SYMBOLS)
    model.fit(np.array([END, 4, 5, END]), told.append)
    assert told == [1, 2, 3]
