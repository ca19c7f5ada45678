"""Search among candidates: nothing else is written, and a sentence does not notice its neighbours."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.batch import Batch
from anaphora.models.translator import Translator
from anaphora.protocols import VocabularyInfo
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.wrapper import Wrapper
from tests.networks import made
from tests.searches import beam, sample

from ..batches import pair_batch

SYMBOLS = VocabularyInfo(90, 0, 1, 2, 3)
SOURCES = [[5, 9, 11, 3], [7, 3], [20, 21, 22, 4, 9, 3], [6, 6, 3]]
CANDIDATES = [[3, 5, 9, 40, 41], [3, 60], list(range(3, 90)), [77, 3, 50, 12, 13, 14]]


@pytest.fixture(scope="module")
def model() -> Translator:
    tables = {"embedding": {"size": 8}, "encoder": {"size": 8}, "decoder": {"size": 24}}
    return made(Translator, "translate", tables, SYMBOLS)


def batch(rows: list[int]) -> Batch:
    return pair_batch([SOURCES[row] for row in rows], example_ids=rows, candidates=[CANDIDATES[row] for row in rows])


def found(model: Translator, rows: list[int]) -> dict[int, list[Hypothesis]]:
    return dict(zip(rows, beam(model.stepper(), batch(rows), beam=4, max_length=7), strict=True))


def test_only_candidates_are_written(model: Translator) -> None:
    for row, hypotheses in found(model, [0, 1, 2, 3]).items():
        assert hypotheses and all(set(hypothesis.ids) <= set(CANDIDATES[row]) for hypothesis in hypotheses)
    drawn = sample(model.stepper(), batch([0, 1, 2, 3]), max_length=7)
    assert all(set(hypothesis.ids) <= set(own) for hypothesis, own in zip(drawn, CANDIDATES, strict=True))


def test_a_sentence_is_searched_alike_alone_and_in_any_batch(model: Translator) -> None:
    together = found(model, [0, 1, 2, 3])
    for rows in [0], [1], [2], [3], [3, 1], [2, 0, 1]:
        for row, hypotheses in found(model, rows).items():
            expected = [(hypothesis.ids, hypothesis.score) for hypothesis in together[row]]
            assert [(hypothesis.ids, hypothesis.score) for hypothesis in hypotheses] == expected


@given(st.lists(st.sets(st.integers(0, 89), min_size=1), min_size=4, max_size=4), st.integers(1, 6))
@settings(max_examples=12)
def test_steps_over_the_candidates_alone_find_what_steps_over_all_words_do(
    model: Translator, sets: list[set[int]], size: int
) -> None:
    given_to = pair_batch(SOURCES, candidates=[sorted({3, *own}, reverse=True) for own in sets])
    narrow, whole = (
        beam(stepper, given_to, beam=size, n=2, max_length=6, banned_tokens=(0, 2))
        for stepper in (model.stepper(), Wrapper(model.stepper()))
    )
    for ours, theirs in zip(narrow, whole, strict=True):
        assert [(one.ids, one.score) for one in ours] == [(one.ids, one.score) for one in theirs]
