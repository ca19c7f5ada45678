"""Messages of ICU in documents: branches are translated where they are sentences, and nothing else changes."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anaphora.tasks.translation.documents import LOST, PARTS, fill
from tests.formats.entries.filling import document_of
from tests.tasks.translation.test_documents import XLIFF_1, Translator, fill_po, po


@pytest.mark.parametrize(
    ("source", "asked", "target"),
    [
        (
            "{n, plural, =0 {No file} one {{a} has # file} other {{a} has # files}}",
            ["No file", "{a} has {#} file", "{a} has {#} files"],
            "{n, plural, =0 {No FILE} one {{a} has # FILE} other {{a} has # FILEs}}",
        ),
        (
            "{g, select, male {He is open} other { {n,plural,offset:1 one{a file} other {#} } }}.",
            ["He is open", "a file"],
            "{g, select, male {He is OPEN} other { {n,plural,offset:1 one{a FILE} other {#} } }}.",
        ),
        ("<b>{n, selectordinal, one {#st file} other {#th file}}</b>", ["{#}st file", "{#}th file"], None),
        ("{n, plural, other {it''s a file}}", ["it's a file"], "{n, plural, other {it''s a FILE}}"),
        ("{n, plural, other {the file {a}}}", ["the file {a}"], "{n, plural, other {l''{a} FILE}}"),
    ],
)
def test_messages_with_branches_are_translated_branch_by_branch(
    source: str, asked: list[str], target: str | None, tmp_path: Path
) -> None:
    filled, texts = fill_po(tmp_path, po(source), "de", **{"the file {a}": "l'{a} FILE"})
    assert texts == asked and (filled.entries, filled.left) == (1, {})
    assert f'msgstr "{target or source.replace("file", "FILE")}"' in filled.content.decode()


NAMES = st.sampled_from(["n", "count", "user_name", "0"])
PHRASES = st.lists(
    st.sampled_from(["open", "file", "{user}", "{0}", "#", "it's", "{d, date, short}", "<b>file</b>", "!"]), max_size=4
).map(lambda some: f"\0{' '.join(some)}\0")
"""Between marks, which the messages are divided at."""
SPACE = st.sampled_from(["", " ", "  "])


def choices(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Messages that choose among others."""
    kinds = st.sampled_from(["plural", "select", "selectordinal"])
    selectors = st.lists(st.sampled_from(["=0", "one", "few", "male", "=12"]), unique=True, max_size=3)

    @st.composite
    def message(draw: st.DrawFn) -> str:
        branches = [f"{one}{draw(SPACE)}{{{draw(inner)}}}" for one in [*draw(selectors), "other"]]
        return f"{{{draw(NAMES)},{draw(SPACE)}{draw(kinds)}, {draw(SPACE).join(branches)}{draw(SPACE)}}}"

    return message()


MESSAGES = choices(st.recursive(PHRASES, choices, max_leaves=6))
HOSTILE: dict[str, Callable[[str], str]] = {
    "capitals": lambda text: re.sub(
        r"\{[^}]*\}|<[^>]*>|\w+", lambda one: one[0].upper() if one[0][0] not in "{<" else one[0], text
    ),
    "the same": lambda text: text,
    "reversed": lambda text: " ".join(reversed(text.split(" "))),
    "elided": lambda text: f"l'{text}'",
    "braces": lambda text: f"{text} {{x}} }}",
    "numbers": lambda text: f"# {text}",
    "names": lambda text: text.replace("user", "utilisateur"),
    "nothing": lambda text: "",
    "quotes": lambda text: text.replace(" ", " '"),
}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(message=MESSAGES, name=st.sampled_from([*HOSTILE]))
def test_nothing_but_the_texts_of_branches_changes(message: str, name: str, tmp_path: Path) -> None:
    pieces = message.split("\0")
    message = "".join(pieces)
    document = document_of(tmp_path, "a.po", po(message))
    filled = fill(document, lambda texts: map(HOSTILE[name], texts), "de")
    [_, written] = re.findall(r'msgstr "(.*)"', filled.content.decode())
    if filled.entries:
        found = re.fullmatch("(.*?)".join(map(re.escape, pieces[::2])), written)
        assert found
        for before, after in zip(pieces[1::2], found.groups(), strict=True):
            arguments = [sorted(re.findall(r"\{[^}]*\}", one)) for one in (before, after)]
            assert arguments[0] == arguments[1]
            assert before.count("#") == after.count("#") or "select," in message
    else:
        assert written == "" and filled.left
    if name in ("capitals", "the same"):
        assert filled.entries


def test_branches_around_codes_stay_around_them(tmp_path: Path) -> None:
    source = '{V, plural, =1 {open the file} other {open <x id="1"/> files}}'
    text = XLIFF_1.format("", "", "").replace('o<x id="1"/>pen', source)
    translator = Translator()
    filled = fill(document_of(tmp_path, "a.xlf", text), translator, "de")
    assert translator.asked == ["open the file", "open <x1/> files"]
    assert source.replace("open", "OPEN").replace("file", "FILE") in filled.content.decode()
    within = text.replace("{V,", "a {V,")
    assert fill(document_of(tmp_path, "a.xlf", within), translator, "de").left == {PARTS: [2]}
    moved = Translator(**{"open <x1/> files": "auf <x1/><x1/>"})
    assert LOST in fill(document_of(tmp_path, "a.xlf", text), moved, "de").left
