"""Outputs have no forbidden form, and are one of those that are allowed, whatever the model, the beam and the batch."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.batch import Batch, pad
from anaphora.protocols import Stepper
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.steering import Form, Steering
from anaphora.search.terms import ForbiddenForms, OneOf
from tests.searches import beam

from .naive import automaton, batch, n_best

SIZE, EOS, MOST = 6, 1, 8
FORMS = st.lists(st.integers(2, SIZE - 1), min_size=1, max_size=3).map(tuple)


def contains(ids: Sequence[int], form: Form) -> bool:
    return any(tuple(ids[place : place + len(form)]) == form for place in range(len(ids) - len(form) + 1))


def search(model: Stepper, batch: Batch, size: int, most: int, steering: Steering) -> list[list[Hypothesis]]:
    return beam(model, batch, beam=size, n=size, max_length=most, steering=[steering])


@settings(max_examples=15)
@given(
    rows=st.lists(st.lists(FORMS, max_size=2), min_size=1, max_size=3).filter(any),
    seed=st.integers(0, 10_000),
    size=st.integers(1, 5),
    sharpness=st.sampled_from([0.5, 5.0, 40.0]),
)
def test_no_output_has_a_forbidden_form_alone_as_in_a_batch(rows: Any, seed: int, size: int, sharpness: float) -> None:
    model = automaton(size=SIZE, seed=seed, sharpness=sharpness)
    sources = [[2 + (seed + b) % 4, 3] for b in range(len(rows))]
    together = search(model, batch(sources), size, MOST, ForbiddenForms(rows, EOS))
    for source, row, found in zip(sources, rows, together, strict=True):
        assert not any(contains(one.ids, form) for one in found for form in row)
        if row:
            [alone] = search(model, batch([source]), size, MOST, ForbiddenForms([row], EOS))
            assert [(x.ids, x.score) for x in alone] == [(x.ids, x.score) for x in found]


def test_a_forbidden_form_that_begins_with_what_stands_before_a_word_does_not_begin_the_output() -> None:
    for seed in range(10):
        found = search(automaton(size=SIZE, seed=seed), batch([[2, 3]]), 64, 3, ForbiddenForms([[(2, 4)]], 2))[0]
        assert all(one.ids[:1] != (4,) for one in found)


@settings(max_examples=15)
@given(
    rows=st.lists(st.lists(FORMS, min_size=1, max_size=4, unique=True), min_size=1, max_size=3),
    seed=st.integers(0, 1000),
)
def test_of_a_few_outputs_a_wide_beam_finds_the_best_with_its_score(rows: list[list[Form]], seed: int) -> None:
    model, sources = automaton(size=SIZE, seed=seed), [[2 + (seed + b) % 4, 3] for b in range(len(rows))]
    outputs = [pad(row, value=EOS, end=EOS).ids_BT for row in rows]
    found = search(model, batch(sources), 8, 5, OneOf(outputs))
    for source, row, own in zip(sources, rows, found, strict=True):
        scores = {ids: total for _, total, ids in n_best(model, batch([source]), SIZE**4, SIZE**4, 4)}
        expected = {form: scores[form] for form in row if form in scores}
        assert set(row) >= {one.ids for one in own if one.score > -np.inf}
        if own[0].ids in expected:
            assert own[0].score == pytest.approx(max(expected.values()), abs=1e-6)
