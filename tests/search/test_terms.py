"""Outputs contain their terms and none that is forbidden, whatever the model, the beam and the batch."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.batch import Batch
from anaphora.protocols import Stepper
from anaphora.search.automaton import Form
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.terms import Terms, TermsOfBatch
from tests.searches import beam

from .naive import Make, MakeBatch, everything

SIZE, EOS = 6, 1
FORMS = st.lists(st.integers(2, SIZE - 1), min_size=1, max_size=3).map(tuple)


def contains(ids: Sequence[int], form: Form) -> bool:
    return any(tuple(ids[place : place + len(form)]) == form for place in range(len(ids) - len(form) + 1))


def steering(
    rows: Sequence[tuple[list[list[Form]], list[Form]]], most: int, never: Sequence[int] = (), begin: int | None = None
) -> Terms:
    """The terms of sentences, each with its required terms and its forbidden forms."""
    required = [forms for needed, _ in rows for forms in needed]
    forbidden = [form for _, barred in rows for form in barred]
    required_BG, forbidden_BF = (np.zeros((len(rows), len(forms)), dtype=np.bool_) for forms in (required, forbidden))
    g = f = 0
    for b, (needed, barred) in enumerate(rows):
        required_BG[b, g : g + len(needed)] = True
        forbidden_BF[b, f : f + len(barred)] = True
        g, f = g + len(needed), f + len(barred)
    after_V = np.ones(SIZE, dtype=np.bool_)
    after_V[list(never)] = False
    lengths_B = np.full(len(rows), most)
    return Terms(TermsOfBatch(required, forbidden, required_BG, forbidden_BF, lengths_B, begin), after_V, EOS)


def search(model: Stepper, batch: Batch, size: int, most: int, terms: Terms) -> list[list[Hypothesis]]:
    return beam(model, batch, beam=size, n=size, max_length=most, steering=[terms])


ROWS = st.lists(
    st.tuples(st.lists(st.lists(FORMS, min_size=1, max_size=2), max_size=2), st.lists(FORMS, max_size=2)),
    min_size=1,
    max_size=3,
)


def able(row: tuple[list[list[Form]], list[Form]]) -> tuple[list[list[Form]], list[Form]]:
    """The same with no forbidden form that shares a token with a required one."""
    needed, barred = row
    tokens = {token for forms in needed for form in forms for token in form}
    return needed, [form for form in barred if not tokens.intersection(form)]


@settings(max_examples=15)
@given(
    rows=ROWS.map(lambda rows: list(map(able, rows))).filter(lambda rows: any(a or b for a, b in rows)),
    seed=st.integers(0, 10_000),
    size=st.integers(1, 5),
    sharpness=st.sampled_from([0.5, 5.0, 40.0]),
)
def test_every_output_has_its_terms_and_none_that_is_forbidden_alone_as_in_a_batch(
    automaton: Make, batch: MakeBatch, rows: Any, seed: int, size: int, sharpness: float
) -> None:
    model = automaton(size=SIZE, seed=seed, sharpness=sharpness)
    sources = [[2 + (seed + b) % 4, 3] for b in range(len(rows))]
    together = search(model, batch(sources), size, 20, steering(rows, 20))
    for source, row, found in zip(sources, rows, together, strict=True):
        for one in found:
            assert all(any(contains(one.ids, form) for form in forms) for forms in row[0])
            assert not any(contains(one.ids, form) for form in row[1])
        if row[0] or row[1]:
            [alone] = search(model, batch([source]), size, 20, steering([row], 20))
            assert [(x.ids, x.score) for x in alone] == [(x.ids, x.score) for x in found]


@settings(max_examples=8)
@given(term=st.lists(FORMS, min_size=1, max_size=2), barred=FORMS, seed=st.integers(0, 1000))
def test_the_widest_beam_finds_the_best_of_all_outputs_that_obey(
    automaton: Make, batch: MakeBatch, term: list[Form], barred: Form, seed: int
) -> None:
    model, one, most = automaton(size=SIZE, seed=seed, sharpness=1.0), batch([[2, 3]]), 4
    allowed = [
        (total, ids)
        for total, ids in everything(model, one, most)
        if any(contains(ids, form) for form in term) and not contains(ids, barred)
    ]
    row: Any = ([term], [barred])
    found = search(model, one, 1000, most + 10, steering([row], most + 10))[0]
    if allowed:
        assert found[0].score >= allowed[0][0] - 1e-6
        assert max(x.score for x in found if len(x.ids) < most) == pytest.approx(allowed[0][0], abs=1e-6)


def test_nothing_makes_another_word_of_a_term(automaton: Make, batch: MakeBatch) -> None:
    for seed in range(10):
        model = automaton(size=SIZE, seed=seed)
        for one in search(model, batch([[2, 3]]), 4, 20, steering([([[(4,)]], [])], 20, never=[2, 3]))[0]:
            place = one.ids.index(4)
            assert one.ids[place + 1 : place + 2] not in ((2,), (3,))


def test_a_term_that_begins_with_what_stands_before_a_word_may_begin_the_output(
    automaton: Make, batch: MakeBatch
) -> None:
    model = automaton(size=SIZE, seed=6)
    [found] = search(model, batch([[2, 3]]), 64, 3, steering([([[(2, 4)]], [])], 3, begin=2))
    assert any(one.ids[:1] == (4,) and not contains(one.ids, (2, 4)) for one in found)


def test_hypotheses_share_places_by_how_many_tokens_of_their_terms_they_have() -> None:
    # else those that have just begun a term crowd out those that are about to end it, which cost more so far
    terms = steering([([[(2, 5, 5)], [(3,)]], [])], most=9)
    state = terms.start(np.array([0]))
    found = []
    for token in (4, 2, 5, 4, 2, 5, 5, 3):
        found += terms.constraints_met(state, np.array([0]), np.array([token])).tolist()
        state = terms.extend(state, np.array([0]), np.array([token]))
    assert found == [0, 1, 2, 0, 1, 2, 3, 4]
