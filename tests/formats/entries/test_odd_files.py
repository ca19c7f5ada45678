"""Files as other tools and people write them: they come back byte for byte, and what is filled is read again."""

from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora.errors import DataError
from anaphora.formats.entries.document import Document
from anaphora.formats.entries.entry import Reason
from tests.formats.entries.filling import document_of, filled
from tests.formats.entries.test_po_writing import Msgfmt
from tests.formats.entries.test_tmx import tmx, tuv
from tests.formats.entries.test_xliff import first, second, segment, trans_unit

GAP = 'msgid "a"\nmsgstr ""\n'
POLISH = "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);"


def head(charset: str = "UTF-8", plural: str = "nplurals=2; plural=(n != 1);") -> str:
    fields = f"Content-Type: text/plain; charset={charset}", f"Plural-Forms: {plural}"
    return 'msgid ""\nmsgstr ""\n' + "".join(f'"{field}\\n"\n' for field in fields) + "\n"


def plural(forms: int, word: str = "file") -> str:
    empty = "".join(f'msgstr[{form}] ""\n' for form in range(forms))
    return f'msgid "%d {word}"\nmsgid_plural "%d {word}s"\n{empty}'


PO = {
    "both line ends": head() + 'msgid "a"\r\nmsgstr ""\r\n\r\nmsgid "b"\nmsgstr ""\n',
    "mark": f"\ufeff{head()}{GAP}",
    "no last line end": head() + GAP.rstrip("\n"),
    "obsolete": head()
    + GAP
    + '\n#~ msgctxt "x"\n#~ msgid "o"\n#~ msgid_plural "os"\n#~ msgstr[0] ""\n\n#~| msgid "p"\n',
    "previous": head()
    + '#| msgid "was"\n#, fuzzy, c-format\nmsgctxt "c"\nmsgid "%s"\nmsgstr "x %s"\n\n# c\n#. e\n#: f:1\n'
    '#, c-format\nmsgctxt "d"\nmsgid "is %s"\nmsgstr ""\n',
    "some forms": head(plural=POLISH) + plural(3).replace('[0] ""', '[0] "%d plik"') + "\n" + plural(3, "cat"),
    "escapes": head() + 'msgid "\\t nl\\n q\\" bs\\\\ \\101\\x41"\nmsgstr ""\n',
    "empty context": head() + f'msgctxt ""\n{GAP}\nmsgctxt "m"\nmsgid ""\nmsgstr ""\n\n{GAP}',
    "header last": f"{GAP}\n{head()}",
    "separators": head() + 'msgid "a\u2028b\u00a0c\u0085"\nmsgstr ""\n',
    "windows-1250": (head("windows-1250") + 'msgid "ž"\nmsgstr ""\n').encode("cp1250"),
}


def read_twice(
    folder: Path, name: str, content: str | bytes, translate: Callable[[str], str] = str.upper
) -> tuple[Document, Document, bytes]:
    """A file, which comes back as it was without translations; and the file with its gaps filled."""
    document = document_of(folder, name, content)
    assert document.filled({}) == (content if isinstance(content, bytes) else content.encode())
    written = filled(document, translate)
    return document, document_of(folder, f"again-{name}", written), written


@pytest.mark.parametrize("name", PO)
def test_a_catalogue(name: str, tmp_path: Path) -> None:
    def with_x(text: str) -> str:
        return f"{text.rstrip()}x{text[len(text.rstrip()) :]}"

    document, again, written = read_twice(tmp_path, "a.po", PO[name], with_x)
    assert any(one.gap for one in document.entries)
    assert not any(one.gap for one in again.entries)
    assert [one.source for one in again.entries] == [one.source for one in document.entries]
    check = Msgfmt(tmp_path)
    assert check.accepts(document.filled({})) or not check.accepts(written)


XML = {
    "a.tmx": (tmx(tuv("en", "<![CDATA[a < b]]> c <![CDATA[&amp;]]>")), ["a < b c &amp;"]),
    "cr.tmx": (tmx(tuv("en", "a\rb")).replace("\n", "\r"), ["a b"]),
    "no-mark.tmx": (tmx(tuv("en", "aß")).encode("utf-16-le"), ["aß"]),
    "quotes.tmx": (tmx("<tuv xml:lang='en' x='a>b'><prop type='p'>n</prop><note>x</note><seg>a</seg></tuv>"), ["a"]),
    "cdata.xlf": (first(trans_unit("<source><![CDATA[<b>a</b>]]></source>")), ["<b>a</b>"]),
    "space.xlf": (first(trans_unit("<source xml:space='preserve'>  a\n b </source>")), ["a b"]),
    "second.xlf": (
        second(segment("<source>a <pc id='1'>b <mrk id='m' translate='no'>K</mrk></pc><cp hex='001B'/> c</source>")),
        ["a b  c"],
    ),
}


@pytest.mark.parametrize("name", XML)
def test_markup(name: str, tmp_path: Path) -> None:
    content, sources = XML[name]
    document, again, _ = read_twice(tmp_path, name, content)
    assert [one.source for one in document.entries if one.gap] == sources
    assert not any(one.gap for one in again.entries)
    states = [one.skipped for one in again.entries]
    targets = [one.target for one in again.entries if one.target]
    assert targets[: len(sources)] == [one.upper() for one in sources] or states == [Reason.UNAPPROVED] * len(sources)


TIMES = "00:00:01,000 --> 00:00:02,000"
OTHERS = {
    "mark.srt": (f"\ufeff1\r\n{TIMES}\r\n<i>a\r\nb</i>\r\n\r\n2\r\n{TIMES}\r\n- c\r\n- d", ["a b", "- c- d"]),
    "place.srt": (f'1\n{TIMES} X1:1\n{{\\an8}}a <font color="#fff">b</font>\n\n\n\n2\n{TIMES}\n\n3\n', ["a b"]),
    "voice.vtt": (
        "WEBVTT - a film\r\n\r\nNOTE\r\nx\r\n\r\nSTYLE\r\n::cue { color: red }\r\n\r\nfirst\r\n"
        "00:01.000 --> 00:02.000 line:0\r\n"
        "<v Ann>A &amp; <00:01.500><c.red>b</c>\r\n- c &lt;3&nbsp;d\r\n",
        ["A & b- c <3\u00a0d"],
    ),
    "western.html": ('<html><meta charset="windows-1252"><p>é \u201cq\u201d</p>'.encode("cp1252"), ["é \u201cq\u201d"]),
    "strict.html": (
        '<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html><p>a<br/>b</p>'
        "<![CDATA[ x ]]></html>",
        ["a", "b"],
    ),
    "conditional.html": ("<html><!--[if IE]><p>x</p><![endif]--><p>a</p><svg><text>t</text></svg>", ["a"]),
    "entities.html": ("<html><p>Th&eacute; &amp tea &copy 2024 &#8364;5 &lt;b&gt;</p>", ["Thé & tea © 2024 €5 <b>"]),
    "page.html": (
        "<html><head><title>My page</title><script>var a='<b>x</b>';</script></head><option>o<li>c<li>d"
        "<img alt=\"A 'cat'\" title='say \"hi\"'></body>",
        ["My page", "o", "c", "A 'cat'", 'say "hi"', "d"],
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_subtitles_and_pages(name: str, tmp_path: Path) -> None:
    content, sources = OTHERS[name]
    document, again, _ = read_twice(tmp_path, name, content)
    assert sorted(one.source for one in document.entries) == sorted(sources)
    assert sorted(one.source for one in again.entries) == sorted(one.upper() for one in sources)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.po", (head() + GAP).replace("\n", "\r").encode(), r"a\.po:1 is no line of a gettext catalogue"),
        ("a.po", head().encode() + b'msgid "\xe9"\nmsgstr ""\n', r"a\.po:6 should be utf-8"),
        ("a.srt", f"1\n{TIMES}\n\u00e9\n".encode("cp1252"), r"a\.srt:3 should be utf-8"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said):
        document_of(tmp_path, name, content)
