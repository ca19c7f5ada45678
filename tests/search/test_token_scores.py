"""Evidence is what the model says of each token, and depends on the sentence alone."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.batch import Batch
from anaphora.protocols import Stepper
from anaphora.search.request import SearchRequest
from anaphora.search.search import search
from anaphora.search.token_scores import with_evidence

from .naive import automaton, batch

SOURCES = st.lists(st.lists(st.integers(2, 6), min_size=1, max_size=5), min_size=1, max_size=4)


def searched(model: Stepper, batch: Batch) -> Any:
    request = SearchRequest(beam=3, n=3, max_length=5)
    return with_evidence(model, batch, request, search(model, batch, request))


@settings(max_examples=12)
@given(sources=SOURCES, seed=st.integers(0, 1000), attends=st.booleans())
def test_evidence_is_that_of_each_step_alone_as_in_a_batch(sources: list[list[int]], seed: int, attends: bool) -> None:
    model = automaton(size=6, seed=seed, attends=attends, scale=0.02)
    for source, found in zip(sources, searched(model, batch(sources)), strict=True):
        [alone] = searched(model, batch([source]))
        for one, other in zip(found, alone, strict=True):
            assert np.array_equal(one.evidence.signals_TE, other.evidence.signals_TE)
            assert one.evidence.coverage == other.evidence.coverage
            ids = [*one.ids, model.eos][: len(one.ids) + one.finished]
            memory, state, _ = model.start(batch([source]))
            covered = np.zeros(len(source))
            for row, before, token in zip(one.evidence.signals_TE, [model.bos, *ids], ids, strict=False):
                log_probs, weights, state, *_ = model.advance(memory, state, np.array([before]))
                values = log_probs[0]
                others = np.concatenate([values[:token], values[token + 1 :]])
                entropy = -(np.exp(values) * values).sum()
                expected = [values[token], entropy, values[token] - others.max()]
                assert row[:3] == pytest.approx([float(value) for value in expected], abs=1e-5)
                assert row[3] == pytest.approx(float(weights.max()) if weights is not None else 0.0)
                covered += weights[0] if weights is not None else 0.0
            assert len(one.evidence.signals_TE) == len(ids)
            assert one.score == pytest.approx(one.evidence.signals_TE[:, 0].sum(), abs=1e-4)
            assert one.evidence.coverage == pytest.approx(float(covered.clip(max=1).mean()), abs=1e-6)
