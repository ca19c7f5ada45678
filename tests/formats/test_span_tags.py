"""Spans as tags: every encoding gives spans back, and knows which tags it bars."""

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.formats.span_tags import (
    PREFIXES,
    Encoding,
    Span,
    Tag,
    TagsInPlace,
    check_tags,
    encoding_of,
    first_fault,
    may_follow,
    spans_of,
    split_tag,
    tags_of,
)

ENCODINGS: list[Encoding] = ["iob1", "iob2", "bioes"]
EVERY = pytest.mark.parametrize("encoding", ENCODINGS)


@st.composite
def sentences(draw: st.DrawFn) -> tuple[int, list[Span]]:
    spans, end = [], 0
    types = draw(st.sampled_from([["X", "Y"], [""]]))
    for gap, size, type_ in draw(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from(types)))):
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
    read = [Tag("O", ""), *(split_tag(tag, encoding) or Tag("?", "") for tag in tags), Tag("O", "")]
    legal = all(may_follow(before, after, encoding) for before, after in pairwise(read))
    assert (first_fault(tags, encoding) is None) == legal


@pytest.mark.parametrize("tag", ["NOUN", "BI", "0", "b", "B-", "X-PER", "BI-PER", "B_PER", "-PER", ""])
@EVERY
def test_what_is_no_tag_of_spans_is_a_fault(tag: str, encoding: Encoding) -> None:
    assert split_tag(tag, encoding) is None
    assert first_fault(["O", tag], encoding) == 1


def in_place(sentences: list[list[str]]) -> list[TagsInPlace]:
    """Sentences with a token a line, and a blank line after each."""
    firsts = accumulate((len(one) + 1 for one in sentences), initial=1)
    located = zip(firsts, sentences, strict=False)
    return [(tags, lambda number, first=first: f"a.conll:{first + number}") for first, tags in located]


@pytest.mark.parametrize(
    ("sentences", "encoding"),
    [
        ([["O", "B-X", "I-X"], ["B-X", "B-X"]], "iob2"),
        ([["O", "I-X", "I-X"], ["I-X", "B-X"]], "iob1"),
        ([["O", "S-X"], ["B-X", "E-X"]], "bioes"),
        ([["O", "U-X"], ["B-X", "I-X", "L-X"]], "bioes"),
        ([["O", "B", "I"], ["B", "B"]], "iob2"),
        ([["S", "B", "M", "E"], ["B", "E"]], "bioes"),
        ([["O", "O"]], None),
        ([["S", "V", "O"], ["S", "V"]], None),
        ([["DET", "NOUN", "B-X"], ["ADP", "NOUN"]], None),
    ],
)
def test_the_encoding_is_told_from_the_tags(sentences: list[list[str]], encoding: Encoding | None) -> None:
    assert encoding_of(sentences) == encoding


CLEAN: dict[str, list[list[str]]] = {
    "iob2": [["B-PER", "I-PER", "O"], ["O", "B-LOC"]],
    "iob1": [["I-PER", "I-PER", "O"], ["O", "I-LOC"], ["I-LOC", "B-LOC"]],
    "bioes": [["B-PER", "E-PER", "O"], ["O", "S-LOC"]],
    "one type": [["B", "I", "O"], ["O", "B"]],
}


@pytest.mark.parametrize("at", [0, 75, 150])
@pytest.mark.parametrize(
    ("name", "odd"),
    [
        *(("iob2", tag) for tag in ("I-LOC", "S-LOC", "B", "b-LOC", "B_LOC", "NOUN", "0", "OUT")),
        *(("iob1", tag) for tag in ("B-LOC", "E-LOC", "I", "0")),
        *(("bioes", tag) for tag in ("I-LOC", "B-LOC", "E-LOC", "X-LOC", "0")),
        *(("one type", tag) for tag in ("I", "B-LOC", "0", "NOUN")),
    ],
)
def test_one_odd_tag_never_changes_the_encoding_and_is_named_with_its_line(name: str, odd: str, at: int) -> None:
    clean = (CLEAN[name] * 75)[:150]
    sentences = [*clean[:at], ["O", odd], *clean[at:]]
    encoding = encoding_of(sentences)
    assert encoding == (name if name in PREFIXES else "iob2")
    line = sum(len(one) + 1 for one in clean[:at]) + 2
    with pytest.raises(DataError, match=rf"a\.conll:{line} has the tag '{odd}'"):
        check_tags(in_place(sentences), encoding, bars=True)


@pytest.mark.parametrize("outside", ["0", "o", "OUT", "_"])
def test_another_tag_outside_of_spans_is_a_fault(outside: str) -> None:
    sentences = [["B-PER", "I-PER", outside], [outside] * 5]
    assert encoding_of(sentences) == "iob2"
    with pytest.raises(DataError, match=rf"a\.conll:3 has the tag '{outside}'"):
        check_tags(in_place(sentences), "iob2", bars=False)
