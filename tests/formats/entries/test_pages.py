"""HTML and SRT: which texts are translated, and all else as it was."""

from pathlib import Path

import pytest
import regex
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from anaphora.formats.entries.subtitles import wrap
from anaphora.text.placeholders import PATTERNS
from tests.formats.entries.filling import document_of, filled, filled_text

PAGE = "<!DOCTYPE html>\n<html lang=en><head><title>{}</title></head><body>\n{}</body></html>\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<p>a <b class='x'>b</b> c</p>", "<p>A <b class='x'>B</b> C</p>"),
        (
            "<script>a < b</script><style>p{}</style><pre>a</pre>b",
            "<script>a < b</script><style>p{}</style><pre>a</pre>B",
        ),
        ("<p>a <code>b <code>c</code></code> d</p>", "<p>A <code>b <code>c</code></code> D</p>"),
        ('<p>a <span translate="no">b <i>c</i></span></p>', '<p>A <span translate="no">b <i>c</i></span></p>'),
        ('<img alt="a &quot;b" src="c.png">', '<img alt="A &quot;B" src="c.png">'),
        ("<input placeholder='a' value='b'>", "<input placeholder='A' value='b'>"),
        (
            "<input type=Submit value=a> <input type='reset' value='b'>",
            "<input type=Submit value=\"A\"> <input type='reset' value='B'>",
        ),
        (
            '<meta name="description" content="a"><meta name="viewport" content="b">',
            '<meta name="description" content="A"><meta name="viewport" content="b">',
        ),
        ("<button aria-label='a' value='b'>c</button>", "<button aria-label='A' value='b'>C</button>"),
        ("<option label=a value=b>c</option>", '<option label="A" value=b>C</option>'),
        ("<img src=c?d=e ALT=a>", '<img src=c?d=e ALT="A">'),
        ("<b onclick=\"x(' title=a')\" title = 'a'>a</b>", "<b onclick=\"x(' title=a')\" title = 'A'>A</b>"),
        ('<p class="x notranslate">a</p><p class=notes>a</p>', '<p class="x notranslate">a</p><p class=notes>A</p>'),
        ("a<!-- b --><br/>c<?d?>e", "A<!-- b --><br/>C<?d?>E"),
        ("<ul><li>a<li>b</ul></b></i>c", "<ul><li>A<li>B</ul></b></i>C"),
    ],
)
def test_a_page_keeps_all_but_its_text(before: str, after: str, tmp_path: Path) -> None:
    found = filled_text(tmp_path, "a.html", PAGE.format("über", before))
    assert found == PAGE.format("ÜBER", after).replace("lang=en", "lang=de")


TEMPLATES = {
    "<% if (a < b && c) { %><p>x</p><% } %>": "<% if (a < b && c) { %><p>X</p><% } %>",
    "<p>x <%= a > b ? 'y' : '&' %> y</p>": "<p>X <%= a > b ? 'y' : '&' %> Y</p>",
    "<p><%-- x <%= y %> --%>x <%# y %>y</p>": "<p><%-- x <%= y %> --%>X <%# y %>Y</p>",
    '<%@ page import="x" %><p>${x.y ? "a" : b}: x</p>': '<%@ page import="x" %><p>${x.y ? "a" : b}: X</p>',
    "<p>{% if x > 1 %}x{% else %}y{% endif %} {# x #}y</p>": "<p>{% if x > 1 %}X{% else %}Y{% endif %} {# x #}Y</p>",
    "<p>{{ x | t('a<b') }} x {{{y}}}</p>": "<p>{{ x | t('a<b') }} X {{{y}}}</p>",
    "<p>{{#if x}}x{{else if y}}y{{/if}}{{> z}}{{!-- {{x}} --}}x</p>": (
        "<p>{{#if x}}X{{else if y}}Y{{/if}}{{> z}}{{!-- {{x}} --}}X</p>"
    ),
    "<p>{{- if .x }}x{{ else }}y {{.y}}{{end}}</p>": "<p>{{- if .x }}X{{ else }}Y {{.y}}{{end}}</p>",
    "<p>x<?php if ($x->y) { ?>y<?= $x->z ?><?php } ?></p>": "<p>X<?php if ($x->y) { ?>Y<?= $x->z ?><?php } ?></p>",
    "<a <% if x %>class='y'<% end %> title='x {{ y }}' href=\"{{ url 'x' }}\">x</a>": (
        "<a <% if x %>class='y'<% end %> title='X {{ y }}' href=\"{{ url 'x' }}\">X</a>"
    ),
    "<img alt=\"{% trans 'x' %}\"><img alt='<%= x %> x'>": "<img alt=\"{% trans 'x' %}\"><img alt='<%= x %> X'>",
}


@pytest.mark.parametrize(("before", "after"), TEMPLATES.items())
def test_code_of_templates_stays(before: str, after: str, tmp_path: Path) -> None:
    def translate(text: str) -> str:
        """Capitals outside of code, which a translator keeps."""
        pieces = regex.split(f"({PATTERNS['placeholders'].pattern})", text)
        return "".join(piece if place % 2 else piece.upper() for place, piece in enumerate(pieces))

    found = filled_text(tmp_path, "a.html", PAGE.format("z", before), translate)
    assert found == PAGE.format("Z", after).replace("lang=en", "lang=de")
    for line in (found, PAGE.format("z", f"é\n{before}\n<i>é</i>")):  # places count characters
        assert filled_text(tmp_path, "a.html", line, lambda text: text) == line


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("5&nbsp;x &mdash; &#8212; y&hellip;", "5&nbsp;X &mdash; &#8212; Y&hellip;"),
        ("&quot;x&quot; &#39;y&#39; &gt; &amp; &copy", "&quot;X&quot; &#39;Y&#39; &gt; &amp; &copy;"),
        ("x &lt;b&gt; <b>&nbsp;</b>&eacute; &copy 1", "X &lt;B&gt; <b>&nbsp;</b>É &copy; 1"),
        ("x@y &#64; &amp;lt;", "X@Y &#64; &amp;LT;"),
    ],
)
def test_character_references_are_written_as_they_were(before: str, after: str, tmp_path: Path) -> None:
    found = filled_text(tmp_path, "a.html", PAGE.format("z", before)).replace("lang=de", "lang=en")
    assert found == PAGE.format("Z", after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<p lang="de">x</p><p>x', '<p lang="de">x</p><p>X'),
        ("<p lang=de>x<p>x<ul><li lang=fr>x<b>y</b><li>x</ul>", "<p lang=de>x<p>X<ul><li lang=fr>x<b>y</b><li>X</ul>"),
        ('<p>x <i lang="fr" title="y">y</i> z</p>', '<p>X <i lang="fr" title="y">y</i> Z</p>'),
        ('<p lang="de">x <i lang="en-GB">y</i></p>', '<p lang="de">x <i lang="de">Y</i></p>'),
        (
            '<div lang="de"><p>x</div><p xml:lang="en" lang="en">x',
            '<div lang="de"><p>x</div><p xml:lang="de" lang="de">X',
        ),
        ('<p lang="">x</p><p lang="{{ y }}">x</p>', '<p lang="">X</p><p lang="{{ y }}">X</p>'),
        ('<p translate="no">x <b translate="no">y</b> z</p>x', '<p translate="no">x <b translate="no">y</b> z</p>X'),
        ("<p lang=en>1</p><p lang=EN-us title=x>1</p>", '<p lang=en>1</p><p lang=de title="X">1</p>'),
    ],
)
def test_languages_follow_and_others_are_left_alone(before: str, after: str, tmp_path: Path) -> None:
    page = PAGE.replace("lang=en", "lang={}")
    assert filled_text(tmp_path, "a.html", page.format("en", "z", before)) == page.format("de", "Z", after)
    foreign = page.format("it", "z", "<p>b</p>")
    assert filled_text(tmp_path, "a.html", foreign) == foreign and document_of(tmp_path, "a.html", foreign).is_foreign


CODE = st.sampled_from(["<%= x > 1 %>", "{{ x | y }}", "${a.b}", "<% if x %>", "{% else %}", "{# x #}", "{{{ a }}}"])
TAGS = st.sampled_from(
    ['<b class="x">', "</b>", "<br>", "<p>", "<!-- x -->", '<i lang="de">', "</i>", "<a href='?x&y'>"]
)


@pytest.mark.parametrize("translation", ["a &lt; b", "a &copy b", "a&notit b", "a <b c", "a &"])
def test_a_bare_sign_is_escaped_where_it_would_be_read_otherwise(translation: str, tmp_path: Path) -> None:
    page = filled_text(tmp_path, "a.html", PAGE.format("t", "<p>a & b < c</p>"), lambda _: translation)
    entries = document_of(tmp_path, "b.html", page, ("de", "en")).entries
    assert [entry.source for entry in entries] == [translation] * 2


CHARACTERS = st.sampled_from(["&nbsp;", "&amp;", "&mdash;", "&#8364;", "é", " ", "a b", "R&D", "5 < 6", "&lt;i&gt;"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(pieces=st.lists(CODE | TAGS | CHARACTERS, max_size=10))
def test_code_tags_and_references_come_back_around_any_text(pieces: list[str], tmp_path: Path) -> None:
    text = "<html>" + "".join(pieces)
    document = document_of(tmp_path, "a.html", text)
    assert filled(document, lambda text: text).decode() == text
    marked = filled(document, lambda text: f"{text}\0").decode().replace("\0", "")
    escaped = marked.replace("R&amp;D", "R&D").replace("5 &lt; 6", "5 < 6")
    assert escaped == text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text("<>/!-&;=\"' abpé\n\r?[]"))
@example(text="<![a;")
@example(text="a<![a b]>c<![ >d<![[")
def test_no_page_is_too_odd(text: str, tmp_path: Path) -> None:
    document = document_of(tmp_path, "a.html", f"<html>{text}")
    again = document_of(tmp_path, "b.html", filled(document, lambda text: text))
    assert [entry.source for entry in again.entries] == [entry.source for entry in document.entries]


def test_blocks_are_entries_of_their_own_with_their_lines(tmp_path: Path) -> None:
    document = document_of(tmp_path, "a.html", PAGE.format("a", "<p>b <i>c</i>\nd</p>\n<td title='e'>f"))
    assert [(entry.line, entry.source) for entry in document.entries] == [(2, "a"), (3, "b c d"), (5, "e"), (5, "f")]


CUES = "1\n00:00:01,000 --> 00:00:02,500 X1:1\n{}\n\n2\n00:00:03,000 --> 00:00:04,000\nz\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a b", "A B"),
        ("one two three\nfour", "ONE TWO\nTHREE FOUR"),
        ("- yes, I\n- no", "- YES, I\n- NO"),
        ("<i>a</i> {\\an8}b", "<i>A</i> {\\an8}B"),
        ("<i>one\ntwo</i>", "<i>ONE\nTWO</i>"),
        ("12", "12"),
    ],
)
def test_cues_keep_their_times_tags_and_number_of_lines(before: str, after: str, tmp_path: Path) -> None:
    def translate(text: str) -> str:
        return " ".join(text.upper().split(" ")).replace("\r\n", " ").replace("\n", " ")

    for ends in ("\n", "\r\n"):
        text = "\ufeff" + CUES.format(before).replace("\n", ends)
        expected = "\ufeff" + CUES.format(after).replace("z", "Z").replace("\n", ends)
        assert filled_text(tmp_path, "a.srt", text, translate) == expected


def test_every_speaker_has_a_text_of_his_own(tmp_path: Path) -> None:
    [entry, _] = document_of(tmp_path, "a.srt", CUES.format("<i>- a</i> b\n- c\n\u2013 d <i>e</i>")).entries
    assert entry.gap and [(run.text.strip(), run.flow) for run in entry.gap.runs] == [
        *(("- a", 0), ("b", 0), ("- c", 1), ("\u2013 d", 2), ("e", 2))
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("1\n{}\na\n\nb\n\n2\n{}\n\nc\n", "1\n{}\nA\n\nB\n\n2\n{}\n\nC\n"),
        ("1\n{}\n\n\na\nb\n\n\n2\n{}\nc\n\n7\nd", "1\n{}\n\n\nA\nB\n\n\n2\n{}\nC\n\n7\nD"),
        ("x\n\n1\n{}\na\n2\n{}\n\n", "x\n\n1\n{}\nA\n2\n{}\n\n"),
        ("{}\na\n\n{}\nb\n", "{}\nA\n\n{}\nB\n"),  # without numbers
        ("1\n{}\na\n2\n{}\n3\nb\n", "1\n{}\nA\n2\n{}\n3\nB\n"),
        ("WEBVTT\n\n{}\na\n\nb\n\nNOTE c\n\n{}\nd\n", "WEBVTT\n\n{}\nA\n\nb\n\nNOTE c\n\n{}\nD\n"),
    ],
)
def test_text_behind_a_blank_line_is_that_of_its_cue_in_srt(before: str, after: str, tmp_path: Path) -> None:
    times = ["00:00:01,000 --> 00:00:02,000", "00:00:03,000 --> 00:00:04,000"]
    name = "a.vtt" if before.startswith("W") else "a.srt"
    for ends in ("\n", "\r\n"):
        text, expected = (one.format(*times).replace("\n", ends) for one in (before, after))
        assert filled_text(tmp_path, name, text) == expected


@given(st.text("ab ", max_size=30), st.integers(1, 4))
@example(text="a  b", count=2)
def test_wrapping_loses_no_word(text: str, count: int) -> None:
    lines = wrap(text, count)
    assert len(lines) <= count
    assert " ".join(lines) == text
