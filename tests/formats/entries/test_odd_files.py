"""Files as other tools and people write them: they come back byte for byte, and what is filled is read again."""

from pathlib import Path

import pytest

from anaphora.formats.entries.entry import Reason
from tests.formats.entries.filling import document_of, filled
from tests.formats.entries.test_po_writing import HEAD, complaints
from tests.formats.entries.test_tmx import tmx, tuv
from tests.formats.entries.test_xliff import first, second, segment, trans_unit

GAP = 'msgid "a"\nmsgstr ""\n'
TIMES = "00:00:01,000 --> 00:00:02,000"
CATALOGUES = {
    "both line ends": HEAD + 'msgid "a"\r\nmsgstr ""\r\n\r\nmsgid "b"\nmsgstr ""\n',
    "mark": f"\ufeff{HEAD}{GAP}",
    "obsolete": HEAD + GAP + '\n#~ msgctxt "x"\n#~ msgid "o"\n#~ msgid_plural "os"\n#~ msgstr[0] ""\n\n#~| msgid "p"\n',
    "empty context": HEAD + f'msgctxt ""\n{GAP}\nmsgctxt "m"\nmsgid ""\nmsgstr ""\n\n{GAP}',
    "header last": f"{GAP}\n{HEAD}",
    "separators": HEAD + 'msgid "a\u2028b\u00a0c\u0085"\nmsgstr ""\n',
}


@pytest.mark.parametrize("content", CATALOGUES.values(), ids=CATALOGUES)
def test_a_catalogue_is_filled_and_accepted_as_it_was(content: str, tmp_path: Path) -> None:
    document = document_of(tmp_path, "a.po", content)
    unfilled = document.fill({})
    written = filled(document, lambda text: f"{text.rstrip()}x{text[len(text.rstrip()) :]}")
    assert unfilled == content.encode()
    again = document_of(tmp_path, "b.po", written)
    assert any(one.gap for one in document.entries) and not any(one.gap for one in again.entries)
    assert [one.source for one in again.entries] == [one.source for one in document.entries]
    assert complaints(unfilled) or not complaints(written)


DOCUMENTS: dict[str, tuple[str | bytes, list[str]]] = {
    "cr.tmx": (tmx(tuv("en", "a\rb")).replace("\n", "\r"), ["a b"]),
    "no-mark.tmx": (tmx(tuv("en", "aß")).encode("utf-16-le"), ["aß"]),
    "cdata.xlf": (first(trans_unit("<source><![CDATA[<b>a</b>]]></source>")), ["<b>a</b>"]),
    "second.xlf": (
        second(segment("<source>a <pc id='1'>b <mrk id='m' translate='no'>K</mrk></pc><cp hex='001B'/> c</source>")),
        ["a b  c"],
    ),
    "voice.vtt": (
        "WEBVTT - a film\r\n\r\nNOTE\r\nx\r\n\r\nSTYLE\r\n::cue { color: red }\r\n\r\nfirst\r\n"
        "00:01.000 --> 00:02.000 line:0\r\n"
        "<v Ann>A &amp; <00:01.500><c.red>b</c>\r\n- c &lt;3&nbsp;d\r\n",
        ["A & b- c <3\u00a0d"],
    ),
    "strict.html": (
        '<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html><p>a<br/>b</p>'
        "<![CDATA[ x ]]></html>",
        ["a", "b"],
    ),
    "conditional.html": ("<html><!--[if IE]><p>x</p><![endif]--><p>a</p><svg><text>t</text></svg>", ["a"]),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_texts_of_a_document_are_filled_and_read_again(name: str, tmp_path: Path) -> None:
    content, sources = DOCUMENTS[name]
    document = document_of(tmp_path, name, content)
    assert document.fill({}) == (content if isinstance(content, bytes) else content.encode())
    assert sorted(one.source for one in document.entries if one.gap) == sorted(sources)
    again = document_of(tmp_path, f"again-{name}", filled(document)).entries
    are_drafts = {one.skipped for one in again} == {Reason.UNAPPROVED}  # targets of XLIFF 1.2, to be reviewed
    assert sorted(one.target or one.source for one in again) == sorted(
        one if are_drafts else one.upper() for one in sources
    )
