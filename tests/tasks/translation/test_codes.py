"""Inline codes of every format come back once each, pairs well nested, whatever a translator makes of their tags."""

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.formats.entries.document import REVIEWED
from anaphora.memory import Match, Segment
from anaphora.memory.memory import changes
from anaphora.tasks.translation.documents import fill
from tests.formats.entries.filling import document_of, entries_of

FIRST = (
    '<xliff version="1.2"><file source-language="en" target-language="de"><body>\n<trans-unit id="1">\n'
    "<source>{}</source>\n</trans-unit></body></file></xliff>\n"
)
SECOND = (
    '<xliff version="2.0" srcLang="en" trgLang="de"><file id="f"><unit id="u">\n<segment>\n'
    "<source>{}</source>\n</segment></unit></file></xliff>\n"
)
MEMORY = '<tmx version="1.4"><header/><body><tu>\n<tuv xml:lang="en"><seg>{}</seg></tuv>\n</tu></body></tmx>\n'
PAGE = '<html><head><meta name="a" content="b"></head><body><p>{}</p><p lang="fr">open</p></body></html>\n'


class Form(NamedTuple):
    """Codes as a format writes them, by their number."""

    name: str
    file: str
    opening: str
    closing: str
    single: str


FORMS = {
    "g": Form("a.xlf", FIRST, '<g id="{}">', "</g>", '<x id="{}"/>'),
    "bpt": Form("a.xlf", FIRST, '<bpt id="{}">&lt;b></bpt>', '<ept id="{}"/>', '<ph id="{}">%d <sub>the</sub></ph>'),
    "bx": Form("a.xlf", FIRST, '<bx id="a{0}" rid="{0}"/>', '<ex id="b{0}" rid="{0}"/>', '<it id="{}" pos="open"/>'),
    "pc": Form("a.xlf", SECOND, '<pc id="{}">', "</pc>", '<ph id="{}"/>'),
    "sc": Form("a.xlf", SECOND, '<sc id="{}"/>', '<ec startRef="{}"/>', '<mrk id="{}" translate="no">open it</mrk>'),
    "tmx": Form("m.tmx", MEMORY, '<bpt i="{}">&lt;i></bpt>', '<ept i="{}">&lt;/i></ept>', '<ph x="{}"/>'),
    "hi": Form("m.tmx", MEMORY, '<hi x="{}">', "</hi>", '<ut x="{}">\\b</ut>'),
    "html": Form("a.html", PAGE, "<b title='{}'>", "</b>", '<img alt="the {}" src="a.png">'),
}
Node = str | int | list["Node"]
"""A word, a single code, or a pair with what it encloses."""
NODES = st.recursive(
    st.sampled_from(["open", "the", "file", "now"]) | st.just(0),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=9,
)


class Codes:
    """The codes of a sentence."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.opening: dict[str, int] = {}
        self.closing: dict[str, set[int]] = {}
        """The pairs that a code may close."""


def written(nodes: Sequence[Node], form: Form, codes: Codes) -> str:
    """A sentence in a format; ``codes`` takes its codes in their order."""
    parts = []
    for node in nodes:
        if isinstance(node, str):
            parts.append(node)
            continue
        number = len(codes.written)
        codes.written.append((form.single if isinstance(node, int) else form.opening).format(number))
        parts.append(codes.written[-1])
        if not isinstance(node, int):
            codes.opening[parts[-1]] = number
            closing = form.closing.format(number)
            codes.closing.setdefault(closing, set()).add(number)
            parts[-1] += written(node, form, codes) + closing
            codes.written.append(closing)
    return " ".join(parts)


TAG = re.compile(r"(</?x\d+/?>)")


def tags_moved(pieces: list[str], draw: random.Random) -> list[str]:
    words = [piece for piece in pieces if not TAG.fullmatch(piece)]
    for piece in filter(TAG.fullmatch, pieces):
        words.insert(draw.randint(0, len(words)), piece)
    return words


HOSTILE: dict[str, Callable[[list[str], random.Random], list[str]]] = {
    "the same": lambda pieces, draw: pieces,
    "shuffled": lambda pieces, draw: draw.sample(pieces, len(pieces)),
    "tags moved": tags_moved,
    "backwards": lambda pieces, draw: pieces[::-1],
    "one lost": lambda pieces, draw: pieces[: draw.randrange(len(pieces))] + pieces[1:],
    "one twice": lambda pieces, draw: [*pieces, draw.choice(pieces)],
    "tags first": lambda pieces, draw: sorted(pieces, key=lambda piece: not TAG.fullmatch(piece)),
    "tags last": lambda pieces, draw: sorted(pieces, key=lambda piece: bool(TAG.fullmatch(piece))),
    "other tags": lambda pieces, draw: [piece.replace("x1", "x2") for piece in pieces],
}


def target_of(before: str, after: str, form: Form) -> str:
    """The translation in a filled document, after a check that all else is as it was."""
    if form.file == PAGE:
        head, tail = PAGE.split("{}")
        assert after.startswith(head) and after.endswith(tail)
        return after[len(head) : -len(tail)]
    target = r"\n<target[^>]*>(.*?)</target>" if form.file != MEMORY else r'\n<tuv xml:lang="de"><seg>(.*?)</seg></tuv>'
    found = re.search(target, after, re.DOTALL)
    assert found
    rest = (after[: found.start()] + after[found.end() :]).replace(' state="translated"', "")
    assert rest == before
    ElementTree.fromstring(after)
    return found[1]


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=30)
@given(nodes=st.lists(NODES, min_size=2, max_size=6), how=st.sampled_from([*HOSTILE]), seed=st.integers(0, 999))
def test_codes_are_kept_and_pairs_nested(nodes: list[Node], how: str, seed: int, name: str, tmp_path: Path) -> None:
    form, codes, draw = FORMS[name], Codes(), random.Random(seed)
    before = form.file.format(f"open {written(nodes, form, codes)} file")
    document = document_of(tmp_path, form.name, before)

    def translate(texts: Sequence[str]) -> list[str]:
        pieces = [list(filter(None, TAG.split(text.upper().replace("X", "x")))) for text in texts]
        return ["".join(HOSTILE[how](one, draw) if len(one) > 1 else one) for one in pieces]

    done = fill(document, translate, "de")
    if not done.entries:
        assert done.content == before.encode()
        return
    found = target_of(before, done.content.decode(), form)
    found = found.replace("THE", "the")  # texts inside of codes are translated too
    order = re.findall("|".join(map(re.escape, codes.written)), found) if codes.written else []
    assert sorted(order) == sorted(codes.written)
    opened = list[int]()
    for code in order:
        if code in codes.opening:
            opened.append(codes.opening[code])
        elif code in codes.closing:
            assert opened.pop() in codes.closing[code]
    assert not opened


@pytest.mark.parametrize("name", FORMS)
def test_a_sentence_with_pairs_is_translated_whole_and_they_go_where_their_tags_are(name: str, tmp_path: Path) -> None:
    form, asked, last = FORMS[name], list[str](), FORMS[name].single.format(7)

    def pair(text: str, number: int) -> str:
        return form.opening.format(number) + text + form.closing.format(number)

    source = f"open {pair('the', 1)} {pair('file ' + pair('now', 2), 3)}{last}"
    document = document_of(tmp_path, form.name, form.file.format(source))

    def translate(texts: Sequence[str]) -> list[str]:
        asked.extend(texts)
        return [text if "<x" not in text else "<x3><x4>jetzt</x4> Datei</x3> <x1>die</x1> auf<x7/>" for text in texts]

    done = fill(document, translate, "de")
    assert [text for text in asked if "<" in text] == ["open <x1>the</x1> <x3>file <x4>now</x4></x3><x7/>"]
    found = target_of(form.file.format(source), done.content.decode(), form)
    assert found == f"{pair(pair('jetzt', 2) + ' Datei', 3)} {pair('die', 1)} auf{last}"


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize(
    "answer", ["<x1>die <x3>Datei</x1> jetzt</x3>", "</x1>die<x1> <x3>Datei</x3>", "die <x1></x1><x3>Datei</x3>"]
)
def test_pairs_that_come_back_otherwise_stay_around_their_texts(answer: str, name: str, tmp_path: Path) -> None:
    form = FORMS[name]
    pairs = [form.opening.format(n) + "{}" + form.closing.format(n) for n in (1, 3)]
    before = form.file.format(" ".join(pairs).format("the", "file"))
    document = document_of(tmp_path, form.name, before)
    done = fill(document, lambda texts: [answer if "<" in text else text.upper() for text in texts], "de")
    assert target_of(before, done.content.decode(), form) == " ".join(pairs).format("THE", "FILE")


@pytest.mark.parametrize(
    ("name", "source", "asked"),
    [
        ("g", 'open <bpt id="1"/>the <it id="2" pos="close"/>file', "open <x1/>the <x2/>file"),
        (
            "g",
            'open <bpt id="1"/>the <bpt id="2"/>new <ept id="1"/>file<ept id="2"/> now',
            "open <x1>the <x2/>new </x1>file<x4/> now",
        ),
        ("pc", 'open <sc id="1" isolated="yes"/>the file', "open <x1/>the file"),
        ("html", "open <b>the</i> file", "open <x1/>the<x2/> file"),
        ("html", "open <code>rm file</code> the", "open <x1/> the"),
        ("g", "open <g id='1'></g>the", "open <x1/>the"),
    ],
)
def test_lone_halves_and_empty_elements_are_single(name: str, source: str, asked: str, tmp_path: Path) -> None:
    document, texts = document_of(tmp_path, FORMS[name].name, FORMS[name].file.format(source)), list[str]()
    fill(document, lambda some: texts.extend(some) or list(some), "de")
    assert texts[0] == asked


def test_codes_that_may_not_be_reordered_keep_their_order(tmp_path: Path) -> None:
    source = 'open <pc id="1" canReorder="firstNo">the</pc> <pc id="2" canReorder="no">file</pc>'
    translate = {"open <x1>the</x1> <x3>file</x3>": "<x3>Datei</x3> <x1>die</x1> auf"}
    before = SECOND.format(source)
    document = document_of(tmp_path, "a.xlf", before)
    done = fill(document, lambda texts: [translate.get(text, text.upper()) for text in texts], "de")
    found = target_of(before, done.content.decode(), FORMS["pc"])
    assert found == source.replace("open", "OPEN").replace("the", "THE").replace(">file", ">FILE")


STATES = {
    "d.po": ('msgid ""\nmsgstr ""\n\nmsgid "open"\nmsgstr ""\n', '#, fuzzy\nmsgid "open"\nmsgstr "auf"'),
    "d.xlf": (
        FIRST.format("open"),
        '<target state="needs-review-translation" state-qualifier="fuzzy-match">auf</target>',
    ),
    "e.xlf": (
        SECOND.format("open"),
        '<segment state="initial" subState="anaphora:fuzzy-match">\n<source>open</source>\n<target>auf',
    ),
    "f.sdlxliff": (
        FIRST.format("open")
        .replace("</source>", '</source><seg-source><mrk mtype="seg" mid="1">open</mrk></seg-source>')
        .replace("</trans-unit>", '<sdl:seg-defs xmlns:sdl="a"><sdl:seg id="1"/></sdl:seg-defs></trans-unit>'),
        '<sdl:seg id="1" conf="Draft" origin="tm" percent="85"/>',
    ),
}


@pytest.mark.parametrize("name", STATES)
def test_targets_of_similar_segments_need_review_in_the_state_of_each_format(name: str, tmp_path: Path) -> None:
    before, marked = STATES[name]
    match, asked = Match(Segment("opens", "auf"), 85, changes("opens", "open")), list[str]()
    document = document_of(tmp_path, name, before)
    done = fill(document, lambda texts: asked.extend(texts) or ["auf"] * len(texts), "de", {"open": match})
    assert marked in done.content.decode()
    assert [one for _, one in done.similar] == [match] and asked == ["open"]
    assert document.kind in REVIEWED
    assert not [entry for entry in entries_of(tmp_path, f"g{name}", done.content) if not entry.skipped]
    plain = fill(document, lambda texts: ["auf"] * len(texts), "de")
    assert "fuzzy-match" not in plain.content.decode() and 'origin="tm"' not in plain.content.decode()
