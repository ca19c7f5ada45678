"""Search among candidates: nothing else is written, and a sentence does not notice its neighbours."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.models.translator import Translator
from anaphora.protocols import VocabularyInfo
from anaphora.search.wrapper import Wrapper
from tests.networks import made
from tests.searches import beam, sample

from ..batches import pair_batch

SOURCES = [[5, 9, 11, 3], [7, 3], [20, 21, 22, 4, 9, 3], [6, 6, 3]]


@pytest.fixture(scope="module")
def model() -> Translator:
    tables = {"embedding": {"size": 8}, "encoder": {"size": 8}, "decoder": {"size": 24}}
    return made(Translator, "translate", tables, VocabularyInfo(90, 0, 1, 2, 3))


@given(st.lists(st.sets(st.integers(0, 89), min_size=1), min_size=4, max_size=4), st.integers(1, 6))
@settings(max_examples=12)
def test_steps_over_the_candidates_alone_find_in_any_batch_what_steps_over_all_words_do(
    model: Translator, sets: list[set[int]], size: int
) -> None:
    stepper, asked = model.stepper(), {"beam": size, "n": 2, "max_length": 6, "banned_tokens": (0, 2)}
    candidates = [sorted({3, *own}, reverse=True) for own in sets]
    batch = pair_batch(SOURCES, candidates=candidates)
    narrow, whole = (beam(one, batch, **asked) for one in (stepper, Wrapper(stepper)))
    for source, own, ours, theirs in zip(SOURCES, candidates, narrow, whole, strict=True):
        assert ours == theirs and all({*one.ids} <= {*own} for one in ours)
        assert beam(stepper, pair_batch([source], candidates=[own]), **asked) == [ours]
    assert all({*one.ids} <= {*own} for one, own in zip(sample(stepper, batch, max_length=6), candidates, strict=True))
