"""Messages with branches: which are divided, and what of them is text."""

import time

import pytest

from anaphora.text.branches import split_branches


@pytest.mark.parametrize(
    ("message", "texts"),
    [
        ("{n, plural, one {# file} other {{a} files}}", ["{#} file", "{a} files"]),
        ("{g, select, male {#1} other {it''s}}", ["#1", "it's"]),
        ("{n,plural,offset:1 =0{a} other{ {g,select,x{b}other{{{c}} #}} }}!", ["a", "b", "{{c}} {#}"]),
        ("<b>{a.b | async, selectordinal, other {x}}</b>", ["x"]),
        ("{n, plural, one {# file} other {# files}} here", []),
        ("{a} {n, plural, other {x}}", []),
        ("{n, plural, other {x}} {m, plural, other {y}}", []),
        ("{n, plural, other {a {m, plural, other {y}}}}", []),
        ("{n, plural, other {# {m, plural, other {y}}}}", []),
        ("{n, plural, other {'{x}'}}", []),
        ("{n, plural, other {x}", []),
        ("{n, plural, other {x}}}", []),
        ("{n, plural, }", []),
        ("{0, choice, 0#no|1#one}", []),
        ("{n, number, integer} of {m}", None),
        ("a {b} c", None),
    ],
)
def test_texts_that_are_sentences_are_taken_out(message: str, texts: list[str] | None) -> None:
    found = split_branches(message)
    assert (found and found.texts) == (None if texts is None else found and texts)
    if found and texts:
        assert found.with_texts(texts) == message
        assert found.with_texts([f"{text}}}" for text in texts]) is None


@pytest.mark.parametrize("piece", ["{", "{n, plural, a {", "{n,", "{n, plural,", "'", "{" + " " * 50, "<", "}"])
def test_the_time_is_linear(piece: str) -> None:
    begun = time.process_time()
    split_branches("{n, plural, other {" + piece * 20_000)
    split_branches(piece * 20_000 + "{n, plural, other {x}}")
    assert time.process_time() - begun < 1
