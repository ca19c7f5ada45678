"""Tags go around what looked at what they enclose, and stay well nested whatever the attention."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.tasks.translation.tag_places import Weights, diagonal, put_tags
from anaphora.text.masking import Tag, mask
from anaphora.text.placeholders import spans


def tags_of(sentence: str) -> tuple[list[Tag], list[int], int]:
    """The tags of a sentence whose tokens are its words, how many words precede each, and how many words there are."""
    text = f"x {sentence} x"
    apart = mask(text, spans(text, ["tags"]), ())
    before = [len(apart.text[: tag.place].split()) - 1 for tag in apart.tags]
    return list(apart.tags), before, len(apart.text.split()) - 2


def with_tags(sentence: str, links: list[int]) -> str:
    """The tags among target words 0, 1, .., of which each looked at one source word."""
    tags, before, source = tags_of(sentence)
    weights = np.eye(source)[links] if links else np.zeros((0, source))
    parts = list(map(str, range(len(links))))
    for put in reversed(put_tags(tags, before, weights, range(len(links) + 1))):
        parts.insert(put.boundary, tags[put.tag].text)
    return " ".join(parts)


@pytest.mark.parametrize(
    ("sentence", "links", "expected"),
    [
        # a pair goes around what looked at what it encloses
        ("a <b>b c</b> d", [0, 1, 2, 3], "0 <b> 1 2 </b> 3"),
        ("a <b>b c</b> d", [3, 0, 2, 1], "0 1 <b> 2 3 </b>"),
        ("a <b>b</b> <i>c</i>", [2, 1, 0], "<i> 0 </i> <b> 1 </b> 2"),
        # one token that looked elsewhere does not part a run
        ("a <b>b c d</b> e", [0, 1, 0, 2, 3, 4], "0 <b> 1 2 3 4 </b> 5"),
        ("a <b>b</b> c d e", [0, 1, 2, 3, 4, 1], "0 <b> 1 </b> 2 3 4 5"),
        # a single tag goes where attention crosses it least
        ("a b <br/> c d", [0, 1, 2, 3], "0 1 <br/> 2 3"),
        ("a b <br/> c d", [1, 1, 0, 3], "0 1 2 <br/> 3"),
        ("a <br/> <b>b</b> c", [0, 1, 2], "0 <br/> <b> 1 </b> 2"),
        # a pair inside another stays inside
        ("a <b>b <i>c</i></b> d", [2, 1, 0, 3], "<b> <i> 0 </i> 1 </b> 2 3"),
        ("<b>a <i></i>b</b> c", [0, 1, 2], "<b> 0 <i> </i> 1 </b> 2"),
        # an empty translation has all tags
        ("a <b>b <i>c</i></b> <br/>", [], "<b> <i> </i> </b> <br/>"),
    ],
)
def test_tags_go_where_attention_says(sentence: str, links: list[int], expected: str) -> None:
    assert with_tags(sentence, links) == expected


@given(st.integers(0, 100_000), st.integers(0, 8), st.booleans())
def test_every_tag_is_put_once_between_words_and_pairs_stay_well_nested(seed: int, words: int, attends: bool) -> None:
    draw = random.Random(seed)
    parts, opened = list[str](), list[str]()
    for _ in range(draw.randint(1, 12)):
        kind = draw.choice(["word", "open", "close", "single", "stray"])
        if kind == "open" or (kind == "close" and not opened):
            opened.append(draw.choice("abi"))
            parts.append(f"<{opened[-1]}>")
        elif kind == "close":
            parts.append(f"</{opened.pop()}>")
        else:
            parts.append({"word": "w", "single": "<br/>", "stray": "</u>"}[kind])
    tags, before, source = tags_of(" ".join([*parts, *(f"</{name}>" for name in reversed(opened))]))
    generator = np.random.default_rng(seed)
    weights: Weights = generator.dirichlet(np.ones(source), size=words) if source else np.zeros((words, 0))
    if not attends and words and source:
        weights = diagonal(words, source)
    boundaries = sorted({0, words, *(one for one in range(words) if draw.random() < 0.7)})
    put = put_tags(tags, before, weights, boundaries)
    assert sorted(one.tag for one in put) == list(range(len(tags)))
    assert [one.boundary for one in put] == sorted(one.boundary for one in put)
    assert {one.boundary for one in put} <= set(boundaries)
    waiting = list[int]()
    for one in put:
        partner = tags[one.tag].partner
        if partner > one.tag:
            waiting.append(one.tag)
        elif partner >= 0:
            assert waiting.pop() == partner
