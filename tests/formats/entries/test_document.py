"""Inline codes as short tags: numbered as they open, pairs alike, and only those of the text itself."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.entries.filling import read_document
from tests.formats.entries.test_xliff import first, trans_unit


def sentences(name: str, content: str) -> list[str]:
    document = read_document(name, content)
    return [text for entry in document.entries if entry.gap for text in document.sentences(entry.gap)]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<b>Open</b> the  file", ["<b0>Open</b0> the file"]),
        ("<b>all</b>", ["all"]),
        ("<I><b>one</b> two</i>", ["<b0>one</b0> two"]),
        ("<i><b>one</b> two</i> three", ["<i0><b1>one</b1> two</i0> three"]),
        ('a <a href="x>y" title="z">link <b>here</b></a>', ["z", "a <a0>link <b1>here</b1></a0>"]),
        ("a <b><b>c</b></b> d", ["a <b0><b1>c</b1></b0> d"]),
        ("a <img src='x'/> b<!-- no --> c &lt;d&gt;", ["a <i0/> b<c1/> c <d>"]),
        ("press <kbd>Ctrl</kbd> now", ["press <k0>Ctrl</k0> now"]),
        ("a</b> b", ["a</b0> b"]),
    ],
)
def test_a_paragraph_of_a_page_has_short_tags(page: str, expected: list[str]) -> None:
    before = "<html><body><h1>1</h1><p>ééé</p><p>"  # places count characters, not bytes
    assert sentences("a.html", f"{before}{page}</p>")[2:] == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('a <g id="1">b</g> c', "a <g0>b</g0> c"),
        ('a <ph id="1">&lt;br/&gt;</ph> b', "a <p0/> b"),
        ('a <mrk mtype="protected">k</mrk> b', "a <m0>k</m0> b"),
    ],
)
def test_a_unit_of_xliff_has_short_tags(source: str, expected: str) -> None:
    assert sentences("a.xlf", first(trans_unit(f"<source>{source}</source>"))) == [expected]


def test_other_documents_have_none() -> None:
    assert sentences("a.po", 'msgid "a <b>c</b>\\n d"\nmsgstr ""\n') == ["a <b>c</b> d"]
    assert sentences("a.srt", "1\n0:00:01,0 --> 0:00:02,0\n<i>- a</i>\n- b\n") == ["- a</i> - b"]


PIECES = st.recursive(
    st.sampled_from(["a", " b ", "<img>", "<!-- x -->", "&amp;"]),
    lambda inner: st.tuples(st.sampled_from("bi"), st.lists(inner, max_size=3)).map(
        lambda pair: f"<{pair[0]}>{''.join(pair[1])}</{pair[0]}>"
    ),
    max_leaves=8,
)


@given(pieces=st.lists(PIECES, max_size=5))
def test_numbers_count_from_zero_and_no_text_is_lost(pieces: list[str]) -> None:
    found = sentences("a.html", f"<html><p>{''.join(pieces)}</p>")
    for sentence in found:
        numbers = [int(number) for number in re.findall(r"<[a-z]+(\d+)", sentence)]
        assert numbers == list(range(len(numbers)))
        for letter in "bi":
            opened, closed = (re.findall(rf"<{sign}{letter}(\d+)>", sentence) for sign in ("", "/"))
            assert set(closed) <= set(opened) or letter == "i"  # <img> is no pair
    bare = re.sub(r"</?[a-z]+\d+/?>| ", "", "".join(found))
    assert bare == re.sub(r"<[^>]*>| ", "", "".join(pieces)).replace("&amp;", "&")
