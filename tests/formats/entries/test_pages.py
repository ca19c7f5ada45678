"""HTML and SRT: which texts are translated, and all else as it was."""

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from anaphora.formats.entries.subtitles import wrap
from anaphora.text.placeholders import PATTERNS
from tests.formats.entries.filling import filled, filled_text, in_capitals, read_document

PAGE = "<!DOCTYPE html>\n<html lang=en><head><title>_ü</title></head><body>\n{}</body></html>\n"
HTML = [
    "<p>_a <b class='x'>_b</b> _c</p>",
    "<script>a < b</script><style>p{}</style><pre>a</pre>_b",
    "<p>_a <code>b <code>c</code></code> _d</p>",
    '<p>_a <span translate="no">b <i>c</i></span></p>',
    '<img alt="_a &quot;_b" src="c.png">',
    "<input placeholder='_a' value='b'>",
    "<input type=Submit value='_a'> <input type='reset' value='_b'>",
    '<meta name="description" content="_a"><meta name="viewport" content="b">',
    "<button aria-label='_a' value='b'>_c</button>",
    "<b onclick=\"x(' title=a')\" title = '_a'>_a</b>",
    '<p class="x notranslate">a</p><p class=notes>_a</p>',
    "_a<!-- b --><br/>_c<?d?>_e",
    "<ul><li>_a<li>_b</ul></b></i>_c",
    # character references
    "5&nbsp;_x &mdash; &#8212; _y&hellip;",
    "&quot;_x&quot; &#39;_y&#39; &gt; &amp; &copy;",
    "_x &lt;_b&gt; <b>&nbsp;</b>&copy; 1",
    # languages
    '<p lang="de">x</p><p>_x',
    "<p lang=de>x<p>_x<ul><li lang=fr>x<b>y</b><li>_x</ul>",
    '<p>_x <i lang="fr" title="y">y</i> _z</p>',
    '<p lang="">_x</p><p lang="{{ y }}">_x</p>',
    '<p translate="no">x <b translate="no">y</b> z</p>_x',
    '<div translate=NO><p title="x">x</p><p title="_x" translate="yes">_x <b>_y</b> <i translate=no>z</i></p>x</div>_x',
    '<p translate="no">x <b>y <i translate>_y <u>_z</u></i> y</b> x</p>_x',
]
TEMPLATES = [
    "<% if (a < b && c) { %><p>_x</p><% } %>",
    "<p>_x <%= a > b ? 'y' : '&' %> _y</p>",
    "<p><%-- x <%= y %> --%>_x <%# y %>_y</p>",
    '<%@ page import="x" %><p>${x.y ? "a" : b}: _x</p>',
    "<p>{% if x > 1 %}_x{% else %}_y{% endif %} {# x #}_y</p>",
    "<p>{{ x | t('a<b') }} _x {{{y}}}</p>",
    "<p>{{#if x}}_x{{else if y}}_y{{/if}}{{> z}}{{!-- {{x}} --}}_x</p>",
    "<p>{{- if .x }}_x{{ else }}_y {{.y}}{{end}}</p>",
    "<p>_x<?php if ($x->y) { ?>_y<?= $x->z ?><?php } ?></p>",
    "<a <% if x %>class='y'<% end %> title='_x {{ y }}' href=\"{{ url 'x' }}\">_x</a>",
    "<img alt=\"{% trans 'x' %}\"><img alt='<%= x %> _x'>",
]


@pytest.mark.parametrize("page", HTML + TEMPLATES)
def test_a_page_keeps_all_but_its_text(page: str) -> None:
    def translate(text: str) -> str:
        """Capitals outside of code, which a translator keeps."""
        pieces = regex.split(f"({PATTERNS['placeholders'].pattern})", text)
        return "".join(piece if place % 2 else piece.upper() for place, piece in enumerate(pieces))

    before = PAGE.format(page)
    found = filled_text("a.html", before, translate)
    assert found == in_capitals(before).replace("lang=en", "lang=de")
    for line in (found, PAGE.format(f"é\n{page}\n<i>é</i>")):  # places count characters
        assert filled_text("a.html", line, lambda text: text) == line


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<option label=a value=b>c</option>", '<option label="A" value=b>C</option>'),
        ("<img src=c?d=e ALT=a>", '<img src=c?d=e ALT="A">'),
        ("&eacute; &copy 1 x@y &#64; &amp;lt;", "É &copy; 1 X@Y &#64; &amp;LT;"),
        ('<p lang="de">x <i lang="en-GB">y</i></p>', '<p lang="de">x <i lang="de">Y</i></p>'),
        ('<p xml:lang="en" lang="en">x', '<p xml:lang="de" lang="de">X'),
        ("<p lang=en>1</p><p lang=EN-us title=x>1</p>", '<p lang=en>1</p><p lang=de title="X">1</p>'),
    ],
)
def test_quotes_references_and_languages_follow_the_text(before: str, after: str) -> None:
    page = PAGE.replace("lang=en", "lang={}")
    assert filled_text("a.html", page.format("en", before)) == in_capitals(page).format("de", after)
    foreign = page.format("it", "<p>b</p>")
    assert filled_text("a.html", foreign) == foreign and read_document("a.html", foreign).is_foreign


CODE = st.sampled_from(["<%= x > 1 %>", "{{ x | y }}", "${a.b}", "<% if x %>", "{% else %}", "{# x #}", "{{{ a }}}"])
TAGS = st.sampled_from(
    ['<b class="x">', "</b>", "<br>", "<p>", "<!-- x -->", '<i lang="de">', "</i>", "<a href='?x&y'>"]
)


@pytest.mark.parametrize("translation", ["a &lt; b", "a &copy b", "a&notit b", "a <b c", "a &"])
def test_a_bare_sign_is_escaped_where_it_would_be_read_otherwise(translation: str) -> None:
    page = filled_text("a.html", PAGE.format("<p>a & b < c</p>"), lambda _: translation)
    entries = read_document("b.html", page, ("de", "en")).entries
    assert [entry.source for entry in entries] == [translation] * 2


CHARACTERS = st.sampled_from(["&nbsp;", "&amp;", "&mdash;", "&#8364;", "é", " ", "a b", "R&D", "5 < 6", "&lt;i&gt;"])


@given(pieces=st.lists(CODE | TAGS | CHARACTERS, max_size=10))
def test_code_tags_and_references_come_back_around_any_text(pieces: list[str]) -> None:
    text = "<html>" + "".join(pieces)
    document = read_document("a.html", text)
    assert filled(document, lambda text: text).decode() == text
    marked = filled(document, lambda text: f"{text}\0").decode().replace("\0", "")
    escaped = marked.replace("R&amp;D", "R&D").replace("5 &lt; 6", "5 < 6")
    assert escaped == text


@given(text=st.text("<>/!-&;=\"' abpé\n\r?[]"))
@example(text="<![a;")
@example(text="a<![a b]>c<![ >d<![[")
def test_no_page_is_too_odd(text: str) -> None:
    document = read_document("a.html", f"<html>{text}")
    again = read_document("b.html", filled(document, lambda text: text))
    assert [entry.source for entry in again.entries] == [entry.source for entry in document.entries]


def test_blocks_are_entries_of_their_own_with_their_lines() -> None:
    document = read_document("a.html", PAGE.format("<p>b <i>c</i>\nd</p>\n<td title='e'>f"))
    assert [(entry.line, entry.source) for entry in document.entries] == [(2, "_ü"), (3, "b c d"), (5, "e"), (5, "f")]


TIMES = ["00:00:01,000 --> 00:00:02,500 X1:1", "00:00:03,000 --> 00:00:04,000"]
CUES = "1\n{}\n{}\n\n2\n{}\n_z\n"


@pytest.mark.parametrize(
    "cues",
    [
        *(CUES.format("{}", text, "{}") for text in ("_a _b", "- _a, _b\n- _c", "<i>_a</i> {{\\an8}}_b", "12")),
        CUES.format("{}", "<i>_a\n_b</i>", "{}"),
        "{}\n_a\n\n{}\n_b\n",  # without numbers
        "1\n{}\n_a\n2\n{}\n3\n_b\n",
        # text behind a blank line is that of its cue in SRT
        "1\n{}\n_a\n\n_b\n\n2\n{}\n\n_c\n",
        "1\n{}\n\n\n_a\n_b\n\n\n2\n{}\n_c\n\n7\n_d",
        "x\n\n1\n{}\n_a\n2\n{}\n\n",
        "WEBVTT\n\n{}\n_a\n\nb\n\nNOTE c\n\n{}\n_d\n",
    ],
)
def test_cues_keep_their_times_tags_and_number_of_lines(cues: str) -> None:
    for mark, end in (("", "\n"), ("\ufeff", "\r\n")):
        text = mark + cues.format(*TIMES).replace("\n", end)
        assert filled_text("a.srt", text) == in_capitals(text)
        assert all(entry.source[-1:] not in "127" for entry in read_document("a.srt", text).entries)  # numbers


def test_a_translation_is_set_in_as_many_lines_of_about_one_length() -> None:
    before, after = (CUES.format(TIMES[0], text, TIMES[1]) for text in ("one two three\nfour", "one two\nthree four"))
    assert filled_text("a.srt", before, lambda text: text) == after


def test_every_speaker_has_a_text_of_his_own() -> None:
    cue = CUES.format(TIMES[0], "<i>- a</i> b\n- c\n\u2013 d <i>e</i>", TIMES[1])
    [entry, _] = read_document("a.srt", cue).entries
    runs = [("- a", 0), ("b", 0), ("- c", 1), ("\u2013 d", 2), ("e", 2)]
    assert entry.gap and [(run.text.strip(), run.flow) for run in entry.gap.runs] == runs


@given(st.text("ab ", max_size=30), st.integers(1, 4))
@example(text="a  b", count=2)
def test_wrapping_loses_no_word(text: str, count: int) -> None:
    lines = wrap(text, count)
    assert len(lines) <= count
    assert " ".join(lines) == text
