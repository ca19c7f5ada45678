"""XML attacks on files of entries: nothing is expanded, fetched or unbounded, and no text is lost silently."""

import gzip
import socket
import time
import tracemalloc
from contextlib import suppress
from itertools import chain, repeat

import pytest

from anaphora.errors import DataError
from anaphora.formats.entries import document, markup
from anaphora.formats.entries.po import Po
from anaphora.formats.entries.tmx import Tmx
from tests.formats.entries.filling import pairs_of, read_document
from tests.memory_bound import memory_below

UNIT = '<tu><tuv xml:lang="en"><seg>{}</seg></tuv><tuv xml:lang="de"><seg>x</seg></tuv></tu>'


def tmx(segment: str, head: str = "") -> str:
    return f'<?xml version="1.0"?>\n{head}<tmx version="1.4"><body>{UNIT.format(segment)}</body></tmx>'


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    "declared",
    [
        f'<!ENTITY l0 "ha">{LAUGHS}',
        f'<!ENTITY l9 "{"a" * 100_000}">',
        '<!ENTITY l9 SYSTEM "file:///etc/passwd">',
        '<!ENTITY l9 SYSTEM "http://127.0.0.1:9/x">',
        '<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;',
    ],
)
@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
def test_entities_are_refused(declared: str, codec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", None)
    attack = tmx("&l9;" * 10, f"<!DOCTYPE tmx [{declared}]>\n").encode(codec)
    with pytest.raises(DataError, match=r"m.tmx:2 declares an entity, which is never expanded"):
        pairs_of("m.tmx", attack)


@pytest.mark.parametrize("head", ["", '<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'])
def test_an_entity_of_a_type_elsewhere_is_refused_rather_than_left_out(head: str) -> None:
    with pytest.raises(DataError, match=r"m\.tmx:\d (has the entity &nbsp;|is no XML \(undefined entity\))"):
        pairs_of("m.tmx", tmx("a&nbsp;b", head))


TAGS = ("<a ", "<a x='", "<a b=c ", "<a /", "<a" + " " * 50, "<b>", "<p lang=de>", "&a", "</", "</a '", "<?", "<!--")
CODE = ("<%", "<%=", "<%--", "<?php ", "{{", "{{ a", "{{!--", "{%", "{#", "${")


@pytest.mark.parametrize("piece", ["<!-- -", "<!-- a> ", *TAGS, *CODE])
def test_a_page_whose_tags_and_comments_never_end_is_read_in_little_time(piece: str) -> None:
    begin = time.monotonic()
    page = document.Document((piece * 40_000)[:40_000].encode(), "a.html", "html", ("en", "de"))
    assert time.monotonic() - begin < 5  # it took a minute
    assert page.fill({}) == (piece * 40_000)[:40_000].encode()


@pytest.mark.parametrize("depth", [300, 100_000])
def test_depth_is_bounded(depth: int) -> None:
    with pytest.raises(DataError, match="nested deeper than 256 elements"):
        pairs_of("m.tmx", tmx("<hi>" * depth + "a" + "</hi>" * depth))


def test_a_text_and_a_tag_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markup, "LONGEST", 1000)
    with pytest.raises(DataError, match="has a text of more than 1,000 characters"):
        pairs_of("m.tmx", tmx("a" * 1001))
    monkeypatch.setattr("anaphora.formats.safe_xml.LONGEST", 100_000)
    with pytest.raises(DataError, match="has markup of more than 100,000 bytes"):
        pairs_of("m.tmx", tmx(f'<hi x="{"a" * 400_000}">b</hi>'))


def test_a_packed_bomb_is_stopped_at_the_longest_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "LONGEST", 1_000_000)
    packed = gzip.compress(tmx(" " * 8_000_000).encode())
    complaint = r"m\.tmx has more than 1,000,000 bytes: split it"
    with memory_below(4_000_000), pytest.raises(DataError, match=complaint):
        read_document("m.tmx", packed)


@pytest.mark.parametrize("cut", [1, 60, 100])
def test_a_file_that_ends_early_is_refused_with_its_line(cut: int) -> None:
    with pytest.raises(DataError, match=r"m\.tmx:2 is no XML \(it ends before its last tag\)"):
        pairs_of("m.tmx", tmx("Open")[:-cut])


def test_memory_is_that_of_an_entry() -> None:
    def peak(count: int) -> int:
        head, entry = tmx("a", "").encode().split(UNIT.format("a").encode()), UNIT.format("a <hi>b</hi> " * 20).encode()
        pieces = chain([head[0]], repeat(entry, count), [head[1]])
        tracemalloc.start()
        try:
            assert sum(one.target == "x" for one in Tmx("m.tmx", ("en", "de")).read(pieces)) == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(300)  # Python keeps the room of the first tuples, to use it again
    assert peak(300) < 1.5 * peak(30) + 50_000


@pytest.mark.parametrize(
    "text",
    [
        'msgid "{}"\nmsgstr ""\n'.format("\\\\" * 20_000),
        "msgid " * 20_000,
        'msgid ""\n' + '"a"\n' * 20_000 + 'msgstr ""\n',
        "#" * 40_000,
    ],
)
def test_long_catalogues_take_linear_time(text: str) -> None:
    begun = time.process_time()
    with suppress(DataError):
        list(Po("a.po", ("en", "de")).read([text.encode()]))
    assert time.process_time() - begun < 2
