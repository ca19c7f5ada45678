"""TMX and XLIFF with their gaps filled: where translations go, codes in their places, and all else as it was."""

import gzip
import re
from html import escape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.formats.entries.entry import Reason
from tests.formats.entries.filling import fill_each, filled, filled_text, in_capitals, read_document
from tests.formats.entries.test_tmx import tmx, tuv
from tests.formats.entries.test_xliff import first, second, segment, trans_unit

MEMORY = '{0}  <tuv xml:lang="en">{0}    <seg>_a</seg>{0}  </tuv>'


@pytest.mark.parametrize(
    ("before", "after"),  # what stands there already, and what comes behind it
    [
        (tuv("en", "_a"), tuv("de", "_A")),
        (tuv("en", "_a", "lang"), tuv("de", "_A", "lang")),
        (tuv("fr", "x") + tuv("en", "_a") + "<!-- end -->", tuv("de", "_A")),
        (tuv("en", "_a &lt; <![CDATA[&]]> _b"), tuv("de", "_A &lt; &amp; _B")),
        *((MEMORY.format(end), in_capitals(MEMORY.format(end)).replace("en", "de")) for end in ("\n", "\r\n\t")),
    ],
)
def test_a_memory_gets_a_text_beside_the_others(before: str, after: str) -> None:
    for end in ("", "\n") if "\n" in before else ("",):
        assert filled_text("m.tmx", tmx(before + end)) == tmx(before + after + end)
    empty = '<tuv xml:lang="de"><seg/></tuv>'
    assert filled_text("m.tmx", tmx(tuv("en", "_a") + empty)) == tmx(tuv("en", "_a") + tuv("de", "_A"))


def test_a_memory_keeps_its_name_of_the_language() -> None:
    before = tmx(tuv("en", "a"), tuv("en", "b") + tuv("de-AT", "B"))
    assert filled_text("m.tmx", before) == before.replace("</tu>", tuv("de-AT", "A") + "</tu>", 1)


REVIEW = '<target state="needs-review-translation">'
SEGMENTS = '<mrk mtype="seg" mid="0">_a</mrk> <mrk mtype="seg" mid="1">_b</mrk>'
CODED = (
    '<bpt id="1">&lt;a t="<sub>_s</sub>"></bpt>_a<ept id="1"/><!-- c --> <mrk mtype="protected">k</mrk><?p x?>_b'
    '<ph id="3">&lt;br/></ph><x id="4"/>_c<g id="5"><g id="6">_d</g></g>'
)


@pytest.mark.parametrize(
    ("content", "target"),  # what the target that is put behind the content takes the place of
    [
        ("<source>_a</source>", ""),
        ("<source>_a</source>", "<target/>"),
        ("<source>_a</source>", "<target state='new'> _a </target>"),
        ("<source>_a</source>", '<target state="needs-translation">_a</target>'),
        ("\n  <source>_a</source>", ""),
        (f"<source>_a _b</source><seg-source>{SEGMENTS}</seg-source>", ""),
        (f"<source>{CODED}</source>", ""),
    ],
)
@pytest.mark.parametrize("note", ["", "<note>n</note>", "\n"])
def test_version_one_gets_targets_to_review(content: str, target: str, note: str) -> None:
    text = SEGMENTS if SEGMENTS in content else CODED if CODED in content else "_a"
    space = content.partition("<")[0]
    before, after = content + target + note, f"{content}{space}{REVIEW}{in_capitals(text)}</target>{note}"
    assert filled_text("d.xlf", first(trans_unit(before))) == first(trans_unit(after))


def test_a_target_keeps_its_attributes() -> None:
    found = filled_text("d.xlf", first(trans_unit('<source>a</source><target x="1" />')))
    assert '<target x="1" state="needs-review-translation">A</target>' in found


@pytest.mark.parametrize(
    ("attributes", "content"),
    [
        ('approved="yes"', "<source>a</source>"),
        ("", '<source>a</source><target state="final"/>'),
        ('translate="no"', "<source>a</source>"),
        ("", '<source>a</source><target state="new">x</target>'),
        ("", "<source>a</source><target>a</target>"),
        ("", '<source>a</source><target state="needs-review-translation">a</target>'),
        ('approved="yes"', '<source>a</source><target state="new">a</target>'),
    ],
)
def test_what_is_no_gap_stays(attributes: str, content: str) -> None:
    document = first(trans_unit(content, attributes))
    assert filled_text("d.xlf", document) == document


@pytest.mark.parametrize("state", ["", 'state="initial"', "state='initial'"])
def test_version_two_gets_targets_that_are_translated_and_no_more(state: str) -> None:
    source = '<source>a <pc id="1">b</pc><ph id="2"/></source>'
    target = '<target>A <pc id="1">B</pc><ph id="2"/></target>'
    after = second(segment(source + target, 'state="translated"'))
    copied = source.replace("source", "target")
    for empty in ("", "<target/>", "<target></target>", *([copied] if state else [])):
        found = filled_text("d.xlf", second(segment(source + empty, state)))
        assert found == after


def test_version_two_declares_the_language_of_its_targets() -> None:
    before = second(segment("<source>a</source>")).replace(' trgLang="de"', "")
    found = filled_text("d.xlf", before)
    assert re.match(r'<xliff [^>]* trgLang="de">', found)
    assert found.count("trgLang") == 1


def test_targets_have_the_prefix_of_their_document() -> None:
    before = re.sub(r"<(/?)(?=[a-z])", r"<\1x:", first(trans_unit("<source>a</source>")))
    assert "<x:target state=" in filled_text("d.xlf", before)


def test_characters_that_xml_cannot_write_are_left_out() -> None:
    found = filled_text("m.tmx", tmx(tuv("en", "a")), lambda _: "a\x00\x1b<\r&\ufffe")
    assert tuv("de", "a&lt;&#13;&amp;") in found


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "cp1252"])
def test_the_encoding_stays(codec: str) -> None:
    text = f'<?xml version="1.0" encoding="{codec.removesuffix("-sig")}"?>' + tmx(tuv("en", "ä")).split("?>", 1)[1]
    document = read_document("m.tmx", text.encode(codec))
    assert document.fill({}) == text.encode(codec)
    found = filled(document, lambda text: text + "Łż").decode(codec)
    assert tuv("de", "ä&#321;&#380;" if codec == "cp1252" else "äŁż") in found


def test_bytes_that_would_be_written_otherwise_are_refused() -> None:
    text = '<?xml version="1.0" encoding="shift_jis"?>' + tmx(tuv("en", "#")).split("?>", 1)[1]
    content = text.encode().replace(b"#", b"\xfa\x54")  # one of two ways to write a sign
    with pytest.raises(DataError, match=r"has bytes that shift_jis would write otherwise|should be shift_jis"):
        read_document("m.tmx", content)


TEXTS = st.text("ab <&>]é\n\u2028'\"", min_size=1, max_size=6)
CODES = st.sampled_from(
    ['<x id="1"/>', '<ph id="2">&lt;br/></ph>', "<!-- <b> -->", "<?p a?>", '<mrk mtype="protected">k</mrk>', "<ex/>"]
)
PIECES = st.recursive(
    st.lists(TEXTS.map(lambda text: ("text", text)) | CODES.map(lambda code: ("code", code)), max_size=4),
    lambda inner: st.lists(inner.map(lambda piece: ("g", piece)) | TEXTS.map(lambda text: ("text", text)), max_size=3),
    max_leaves=8,
)


def written(pieces: list[tuple[str, Any]], change: bool) -> str:
    """Pieces as XLIFF, the texts in capitals or not."""
    ways = {
        "g": lambda piece: f'<g id="3">{written(piece, change)}</g>',
        "text": lambda text: escape(text.upper() if change else text, quote=False),
        "code": str,
    }
    return "".join(ways[kind](piece) for kind, piece in pieces)


@given(pieces=PIECES, ends=st.sampled_from(["\n", "\r\n"]))
def test_whatever_stands_between_texts_comes_back_in_place(pieces: list[tuple[str, Any]], ends: str) -> None:
    source = written(pieces, change=False)
    before = first(
        trans_unit(f"<source>{source}</source>"), trans_unit("<source>z</source><target>Z</target>")
    ).replace("\n", ends)
    document = read_document("d.xlf", before)
    if document.entries[0].gap is None:
        assert not document.entries[0].source
        return
    target = written(pieces, change=True)
    assert filled(document).decode().replace("\r\n", "\n") == first(
        trans_unit(f"<source>{source}</source>{REVIEW}{target}</target>"),
        trans_unit("<source>z</source><target>Z</target>"),
    )


@given(texts=st.lists(st.text(max_size=8), min_size=1, max_size=4))
def test_any_translation_can_be_read_again(texts: list[str]) -> None:
    document = read_document("m.tmx", tmx(*(tuv("en", f"a {n}") for n in range(len(texts)))))
    content = fill_each(document, {number: f"x{text}x" for number, text in enumerate(texts)})
    entries = read_document("n.tmx", content).entries
    forbidden = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
    assert [entry.target.split() for entry in entries] == [f"x{forbidden.sub('', text)}x".split() for text in texts]


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
def test_texts_of_a_document_are_filled_and_read_again(name: str) -> None:
    content, sources = DOCUMENTS[name]
    document = read_document(name, content)
    assert document.fill({}) == (content if isinstance(content, bytes) else content.encode())
    assert sorted(one.source for one in document.entries if one.gap) == sorted(sources)
    again = read_document(f"again-{name}", filled(document)).entries
    are_drafts = {one.skipped for one in again} == {Reason.UNAPPROVED}  # targets of XLIFF 1.2, to be reviewed
    expected = sources if are_drafts else map(str.upper, sources)
    assert sorted(one.target or one.source for one in again) == sorted(expected)


def test_the_files_of_two_test_suites_come_back_byte_for_byte_and_filled_ones_are_read_again(shared_data: Path) -> None:
    every = (path for folder in ("xliff", "tmx") for path in sorted((shared_data / folder).rglob("*.*")))
    paths = [path for path in every if path.is_file()]
    assert len(paths) > 80
    gaps = 0
    for path in paths:
        packed = path.suffix == ".gz"
        content = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
        document = read_document(path.name.removesuffix(".gz"), content, ("en", "fr"))
        assert document.fill({}) == content, path
        if not any(entry.gap for entry in document.entries):
            continue
        entries = read_document(path.name, filled(document), ("en", "fr")).entries
        again_sources, sources = ([one.source for one in some if one.source] for some in (entries, document.entries))
        assert again_sources == sources
        assert not any(entry.gap for entry in entries)
        gaps += sum(entry.gap is not None for entry in document.entries)
    assert gaps > 20
