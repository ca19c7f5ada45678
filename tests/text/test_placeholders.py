"""What no translation may change, found in texts."""

import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import ConfigError
from anaphora.text.placeholders import KINDS, USUAL, Kind, checked_kinds, spans

KEPT = tomllib.loads(Path(__file__).with_name("placeholders.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_found_whole_and_only_where_it_is_asked_for(kind: Kind) -> None:
    text = "".join(f"and then {one} " for one in KEPT[kind])
    assert [text[one.start : one.end] for one in spans(text, [kind])] == KEPT[kind]
    assert spans(text, []) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{0}px wide", ["{0}px"]),
        ("un{a}ed, %s%s and %d:%d", ["un{a}ed", "%s%s", "%d:%d"]),
        ("Größe{0}, %dpx, %s27", ["Größe{0}", "%dpx", "%s27"]),
        ("我有{n}个苹果", ["{n}"]),
        ("{a} {b}", ["{a}", "{b}"]),
        ("<b>{a}</b>x", ["<b>", "{a}", "</b>"]),
        ('<a title="%s {0}">', ['<a title="%s {0}">']),
        ("see http://a.org/{id}, or a@b.org.", ["http://a.org/{id}", "a@b.org"]),
        ("a < b > c, 100% sure, 5 <3, 50%discount, 100% of it, $5, {see below}, US$100, 5 % d", []),
        ("one--two, -- and ---, 100%low, 20 %, if 3 < 5, a{}", ["a{}"]),
    ],
)
def test_placeholders_take_what_is_glued_to_them(text: str, expected: list[str]) -> None:
    assert [text[one.start : one.end] for one in spans(text, USUAL)] == expected


@given(st.text("ab {}<>/%sd$1=\"'@.:x[]X\u4e2d ", max_size=40), st.sets(st.sampled_from(KINDS)))
def test_spans_are_in_order_and_apart_whatever_the_text(text: str, kinds: set[Kind]) -> None:
    found = spans(text, kinds)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@pytest.mark.parametrize(
    "text", ["Juan Perez went.", "A New House In The City", "a house. The cat", "so I'm here, and I"]
)
def test_first_words_headings_and_single_letters_are_no_names(text: str) -> None:
    assert not [one for one in spans(text, ["names"]) if text[one.start : one.end] != "Perez"]


def test_a_kind_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(
        ConfigError, match="some of placeholders, tags, urls, emails, numbers, names, but one is 'digits'"
    ):
        checked_kinds(["tags", "digits"])
