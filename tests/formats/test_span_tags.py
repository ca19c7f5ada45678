"""Spans as tags: every encoding gives spans back, and knows which tags it bars."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.formats.span_tags import (
    PREFIXES,
    Encoding,
    Span,
    Tag,
    encoding_of,
    first_fault,
    may_follow,
    parsed,
    spans_of,
    tags_of,
)

ENCODINGS: list[Encoding] = ["iob1", "iob2", "bioes"]
EVERY = pytest.mark.parametrize("encoding", ENCODINGS)


@st.composite
def sentences(draw: st.DrawFn) -> tuple[int, list[Span]]:
    spans, end = [], 0
    for gap, size, type_ in draw(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from("XY")))):
        spans.append(Span(end + gap, end + gap + size, type_))
        end = spans[-1].end
    return end + draw(st.integers(0, 2)), spans


@EVERY
@given(sentence=sentences())
def test_spans_come_back_from_their_tags(encoding: Encoding, sentence: tuple[int, list[Span]]) -> None:
    length, spans = sentence
    tags = tags_of(spans, length, encoding)
    assert spans_of(tags, encoding) == spans
    assert first_fault(tags, encoding) is None


@EVERY
def test_tags_are_legal_exactly_where_some_spans_are_written_so(encoding: Encoding) -> None:
    tags = ["O", *(f"{prefix}-{type_}" for prefix in PREFIXES[encoding] for type_ in "XY")]
    for first in tags:
        for second in tags:
            both = [first, second]
            assert (first_fault(both, encoding) is None) == (tags_of(spans_of(both, encoding), 2, encoding) == both)


@EVERY
@given(data=st.data())
def test_a_sentence_is_at_fault_where_two_neighbours_are(encoding: Encoding, data: st.DataObject) -> None:
    known = ["O", *(f"{prefix}-{type_}" for prefix in PREFIXES[encoding] for type_ in "XY")]
    tags = data.draw(st.lists(st.sampled_from(known), max_size=6))
    read = [Tag("O", ""), *(parsed(tag, encoding) or Tag("?", "") for tag in tags), Tag("O", "")]
    legal = all(may_follow(before, after, encoding) for before, after in pairwise(read))
    assert (first_fault(tags, encoding) is None) == legal


@pytest.mark.parametrize("tag", ["NOUN", "B", "B-", "X-PER", "BI-PER", "-PER", ""])
@EVERY
def test_what_is_no_tag_of_spans_is_a_fault(tag: str, encoding: Encoding) -> None:
    assert parsed(tag, encoding) is None
    assert first_fault(["O", tag], encoding) == 1


def test_the_encoding_is_told_from_the_tags() -> None:
    assert encoding_of([["O", "B-X", "I-X"], ["B-X", "B-X"]]) == "iob2"
    assert encoding_of([["O", "I-X", "I-X"], ["I-X", "B-X"]]) == "iob1"
    assert encoding_of([["O", "S-X"], ["B-X", "E-X"]]) == "bioes"
    assert encoding_of([["O", "O"]]) is None
    assert encoding_of([["DET", "NOUN"]]) is None
