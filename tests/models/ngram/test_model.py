"""N-gram models: their probabilities are the equations', sum to one, and do not depend on how a text is read."""

from collections import defaultdict
from math import log

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from anaphora.batch import Batch, Ids
from anaphora.data.ngrams import BLOCK, count
from anaphora.models.ngram.kneser_ney import FALLBACK
from anaphora.models.ngram.model import NgramConfig, NgramModel, NgramModelConfig
from anaphora.protocols import VocabularyInfo
from anaphora.search.scoring import score
from tests.searches import beam, sample

from ...batches import pair_batch, text_batch

SYMBOLS = VocabularyInfo(9, 0, 1, 2, 3)
END = SYMBOLS.eos
RANDOM = np.random.default_rng(7)
TEXT = [int(unit) for unit in RANDOM.choice([3, 4, 5, 6, 7, 8], size=400, p=[0.15, 0.35, 0.2, 0.15, 0.1, 0.05])]
TOKENS = st.lists(st.sampled_from([1, 3, 4, 5, 6, 7, 8]), min_size=1, max_size=30)


def fitted(units: list[int], order: int, block: int = BLOCK) -> NgramModel:
    model = NgramModel(NgramModelConfig(ngram=NgramConfig(order=order)), SYMBOLS)
    model.fit(np.array([END, *units]), lambda order: None, block=block)
    return model


def window(ids: list[int], continues: bool = False, rows: int = 1) -> Batch:
    """A window of running text: what is read, and the same one place later."""
    return text_batch([ids] * rows, continues)


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
        table = model.table
        place = table.empty_context(1)
        for unit in context:
            place = table.read(place, torch.tensor([unit]))
        for unit in (1, 3, 4, 6, 8):
            expected = by_hand(TEXT, order, context, unit)
            assert table.log_probs(place)[0, unit].item() == pytest.approx(log(expected), abs=1e-5)


@given(TOKENS, st.integers(1, 6), st.integers(1, 40))
def test_counting_on_disk_gives_the_bits_of_counting_in_memory(units: list[int], order: int, block: int) -> None:
    whole, parts = fitted(units, order), fitted(units, order, block)
    for one, other in zip(whole.orders, parts.orders, strict=True):
        assert all(torch.equal(*tensors) for tensors in zip(one, other, strict=True))


@given(TOKENS, st.integers(1, 6), TOKENS)
def test_they_sum_to_one_behind_every_context_of_any_text(units: list[int], order: int, read: list[int]) -> None:
    table = fitted(units, order).table
    contexts = table.contexts_along(table.empty_context(1), torch.tensor([[END, *read]]))[0]
    sums = table.log_probs(contexts).exp().sum(dim=1)
    torch.testing.assert_close(sums, torch.ones_like(sums), rtol=0, atol=1e-6)


@given(TOKENS, st.integers(1, 29), st.integers(1, 4))
def test_carried_contexts_equal_one_long_pass_for_any_number_of_rows(ids: list[int], cut: int, rows: int) -> None:
    model, ids = fitted(TEXT, 4), [END, *ids, 5]
    cut = min(cut, len(ids) - 1)
    whole, _ = model(window(ids))
    first, carry = model(window(ids[: cut + 1], rows=rows))
    second = first
    if cut + 1 < len(ids):
        second, _ = model(window(ids[cut:], continues=True, rows=rows), carry)
        assert float(first.sum + second.sum) == pytest.approx(rows * float(whole.sum), rel=1e-12)
        afresh, _ = model(window(ids[cut:], continues=False, rows=rows), carry)
        assert float(afresh.sum) == float(model(window(ids[cut:], rows=rows))[0].sum)
    else:
        assert float(first.sum) == pytest.approx(rows * float(whole.sum), rel=1e-12)


def test_a_line_is_predicted_without_the_line_before_it() -> None:
    table = fitted(TEXT, 4).table
    one, other = (
        table.contexts_along(table.empty_context(1), torch.tensor([[*before, END]]))[:, -1]
        for before in ([4, 5], [7, 8])
    )
    assert torch.equal(table.log_probs(one), table.log_probs(other))


def test_what_stands_behind_a_row_s_length_is_never_looked_at() -> None:
    model = fitted(TEXT, 3)
    ids = torch.tensor([[3, 4, 5, 6], [3, 7, 0, 0]])
    targets = torch.tensor([[4, 5, 6, 3], [7, 3, 0, 0]])
    lengths = torch.tensor([4, 2])
    batch = Batch(Ids(ids, lengths), Ids(targets, lengths), torch.arange(2), torch.zeros(2, dtype=torch.bool))
    loss, carry = model(batch)
    alone, its_carry = model(window([3, 7, 3]))
    other, _ = model(window([3, 4, 5, 6, 3]))
    assert float(loss.sum) == pytest.approx(float(alone.sum + other.sum), rel=1e-12) and loss.count == 6
    assert torch.equal(carry["contexts"][1:], its_carry["contexts"])


def test_search_steps_through_what_a_window_computes() -> None:
    model = fitted(TEXT, 4)
    stepper, loss = model.stepper(), float(model(window([3, 4, 5, 4, 4, 3]))[0].sum)
    batch = pair_batch([[3], [3]], [[4, 5, 4, 4, 3], [6, 3]], multiple=1)
    assert score(stepper, batch)[0].score == pytest.approx(-loss, rel=1e-12)
    assert len(beam(stepper, batch, beam=3, max_length=6)) == 2
    drawn = sample(stepper, batch, max_length=40, seed=1)
    assert all(SYMBOLS.pad not in found.ids and SYMBOLS.bos not in found.ids for found in drawn)


def test_an_order_larger_than_the_text_counts_what_there_is() -> None:
    few, many = fitted([4, 5, END], 4), fitted([4, 5, END], 9)
    seen: dict[int, list[float]] = defaultdict(list)
    for model in few, many:
        for place, value in enumerate(model.table.log_probs(model.table.empty_context(1))[0].tolist()):
            seen[place].append(value)
    assert all(a == pytest.approx(b) for a, b in seen.values())
    assert [len(order.keys_N) for order in many.orders[4:]] == [0] * 5
    read_T = torch.tensor([END, 4, 5, END, 4, 7])
    few_T, many_T = (
        table.log_probs_along(table.empty_context(1), read_T[None])[0] for table in (few.table, many.table)
    )
    assert torch.allclose(few_T, many_T) and torch.isfinite(many_T).all()


def test_an_order_without_enough_counts_takes_fixed_discounts_and_says_so() -> None:
    told: list[int] = []
    model = NgramModel(NgramModelConfig(ngram=NgramConfig(order=3)), SYMBOLS)
    model.fit(np.array([END, 4, 5, END]), told.append)
    assert told == [1, 2, 3]
