"""Pages that are translated: code, tags and references stay as they were whatever a translator does."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.tasks.translation.documents import LOST, fill
from tests.formats.entries.filling import document_of
from tests.tasks.translation.test_documents import fill_file

CODE = ["<%= x > 1 %>", "{{ x | y }}", "${a.b}", "<% if x %>", "{% else %}", "{# x #}", "<?php x -> y ?>", "{{{ a }}}"]
TAGS = ["<b title='{{ z }}'>", "</b>", "<br>", "<p>", "<!-- x -->", '<i lang="de">', "</i>", "<a href='?x=1&y'>"]
TEXTS = ["the file ", "5&nbsp;files ", "&mdash;", " open&hellip;", "&#8364; ", "&quot;it&quot; ", "&lt;b&gt;", "12 "]
WRITERS: dict[str, Callable[[str], str]] = {
    "capitals": lambda text: text.replace("file", "FILE").replace("open", "OPEN"),
    "reversed": lambda text: " ".join(reversed(text.split(" "))),
    "drops code": lambda text: re.sub(r"\{\{.*?\}\}+|<%.*?%>", "", text),
    "changes code": lambda text: text.replace("x", "y").replace(">", " > "),
    "invents code": lambda text: f"{text} <script>x</script> {{{{ new }}}} <% x %> & <",
    "twice": lambda text: text + text,
}
KEPT = re.compile(r"<%.*?%>|<\?.*?\?>|\{\{.*?\}\}+|\{%.*?%\}|\{#.*?#\}|\$\{.*?\}|<!--.*?-->|</?[a-z][^>]*>")


@given(pieces=st.lists(st.sampled_from([*CODE, *TAGS, *TEXTS]), max_size=10), name=st.sampled_from([*WRITERS]))
def test_code_and_tags_are_those_of_the_page(pieces: list[str], name: str, tmp_path: Path) -> None:
    page = "<html>" + "".join(pieces)
    filled = fill(document_of(tmp_path, "a.html", page), lambda texts: map(WRITERS[name], texts), "de")
    written = filled.content.decode()
    # within a sentence, values may change places
    assert sorted(KEPT.findall(written)) == sorted(KEPT.findall(page))
    assert [one for one in KEPT.findall(written) if one in TAGS] == [one for one in pieces if one in TAGS]
    if not filled.entries:
        assert written == page


@pytest.mark.parametrize(
    ("page", "after", "entries", "left"),
    [
        ("<p>12</p><p>&mdash;</p><p>{{ file }}</p><p>the file</p>", "<p>the FILE</p>", 1, {}),
        ("<p>open {{ a | b }}&nbsp;&mdash; file</p>", "<p>OPEN {{ a | b }}&nbsp;&mdash; FILE</p>", 1, {}),
        ("<p>open {{ c | d }}</p>", "<p>open {{ c | d }}</p>", 0, {LOST: [1]}),
        ("<p>the&nbsp;new file</p>", "<p>neue&nbsp;DATEI</p>", 1, {}),
    ],
)
def test_entries_of_a_page_are_counted(
    page: str, after: str, entries: int, left: dict[str, list[int]], tmp_path: Path
) -> None:
    table = {"open {{ c | d }}": "OPEN {{ c | e }}", "the\u00a0new file": "neue DATEI"}
    filled, _ = fill_file(tmp_path, "a.html", f"<html>{page}", **table)
    assert filled.content.decode().endswith(after)
    assert (filled.entries, filled.left) == (entries, left)
