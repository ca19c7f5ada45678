"""Which texts of a document are translated, what is kept of them, and what stays without a translation."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.tasks.translation.documents import (
    LOST,
    NO_TEXT,
    PARTS,
    UNKNOWN,
    UNSURE,
    UNWRITABLE,
    WRONG_SIZE,
    FilledDocument,
    fill,
    with_gaps,
)
from tests.documents import campaign
from tests.formats.entries.filling import document_of

HEAD = 'msgid ""\nmsgstr "Content-Type: text/plain; charset={}\\n"\n\n'


def po(*sources: str, charset: str = "UTF-8") -> str:
    return HEAD.format(charset) + "\n".join(f'msgid "{source}"\nmsgstr ""\n' for source in sources)


Filled = tuple[FilledDocument, list[str]]


def fill_file(folder: Path, name: str, text: str, language: str = "de", **table: str | None) -> Filled:
    """A document filled with what a table says or with capitals, and the texts that were translated for it."""
    asked = list[str]()

    def translate(texts: Sequence[str]) -> list[str | None]:
        asked.extend(texts)
        return [table.get(text, text.replace("file", "FILE").replace("open", "OPEN")) for text in texts]

    return fill(document_of(folder, name, text, ("en", language)), translate, language), asked


def fill_po(folder: Path, text: str, language: str = "de", **table: str | None) -> Filled:
    return fill_file(folder, "a.po", text, language, **table)


@pytest.mark.parametrize(
    ("source", "target", "asked"),
    [
        ("open", "OPEN", ["open"]),
        (" open\\n", " OPEN\\n", ["open"]),
        ("open\\n\\n file", None, ["open", "file"]),
        ("_open", "_OPEN", ["open"]),
        ("&open file", "&OPEN FILE", ["open file"]),
        ("O&pen file", "&Open FILE", ["Open file"]),
        ("open & file", "OPEN & FILE", ["open & file"]),
        ("Our Bed&open is a file", "Our Bed&OPEN is a FILE", ["Our Bed&open is a file"]),
        ("%(name)s: {0} 12!", "%(name)s: {0} 12!", []),
        ("open %s", "OPEN %s", ["open %s"]),
    ],
)
def test_white_space_line_ends_and_keys_stay(source: str, target: str | None, asked: list[str], tmp_path: Path) -> None:
    filled, texts = fill_po(tmp_path, po(source))
    assert texts == asked
    expected = 'msgstr ""\n"OPEN\\n"\n"\\n"\n" FILE"' if target is None else f'msgstr "{target}"'
    assert expected in filled.content.decode()
    assert (filled.entries, filled.left) == (1, {})


@pytest.mark.parametrize(
    ("name", "text"), [("a.html", "<p>Rock&amp;{}</p>"), ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nRock&{}\n")]
)
def test_prose_has_no_keys(name: str, text: str, tmp_path: Path) -> None:
    filled, texts = fill_file(tmp_path, name, text.format("open"))
    assert texts == ["Rock&open"] and filled.content.decode() == text.format("OPEN")


@pytest.mark.parametrize(
    ("source", "answer", "target"),
    [
        ("&open file", "&Datei öffnen", "&Datei öffnen"),
        ("O&pen file", "Datei ö&ffnen", "Datei ö&ffnen"),
        ("&open file", "Datei & mehr", "&Datei & mehr"),
        ("_open file", "Da_tei öffnen", "Da_tei öffnen"),
        ("_open", "Datei öffnen oben", "Datei öffnen _oben"),
        ("_open", "開く", "開く(_O)"),
    ],
)
def test_a_key_is_the_translations_or_the_same_letter(source: str, answer: str, target: str, tmp_path: Path) -> None:
    asked, language = source.replace("&", "").replace("_", ""), "ja" if "開" in answer else "de"
    assert f'msgstr "{target}"' in fill_po(tmp_path, po(source), language, **{asked: answer})[0].content.decode()


@pytest.mark.parametrize(
    ("text", "translation", "spaced"),
    [
        ("Alice  sings.", "Alice chante.", "Alice  chante."),
        ("Alice sings:\t%s", "Alice chante : %s", "Alice chante :\t%s"),
        ("a \x07 b", "a c", "a \x07 c"),
        ("10\u202fkm away", "10 km de distance", "10\u202fkm de distance"),
        ("the old\u00a0man", "le vieil homme", "le vieil\u00a0homme"),
        ("an\u00a0old man", "un vieil homme", "un\u00a0vieil homme"),
        ("the old\u00a0man", "Vieux", "Vieux"),
        ("Bonjour\u00a0!", "Hello!", "Hello!"),
        ("chapter\u00a0one begins", "le chapitre\u00a0un commence", "le chapitre\u00a0un commence"),
        ("the  old man", "le vieil homme", None),
        ("Alice\tsees Alice", "Alice voit Alice", None),
    ],
)
def test_inner_white_space_comes_back_or_is_said_to_be_lost(text: str, translation: str, spaced: str | None) -> None:
    assert with_gaps(text, translation) == spaced


@pytest.mark.parametrize(
    ("source", "translation", "why"),
    [
        ("open %s", "x", LOST),
        ("open\\tfile", "Datei auf", LOST),
        ("open %s", "%s x %s", LOST),
        ("open <b>file</b>", "<b>x", LOST),
        ("open https://a.org/b", "x https://a.org", LOST),
        ("open", "x <unk>", UNKNOWN),
        ("open", "x \ufffdt5", UNKNOWN),
        ("open %s", "%s.", NO_TEXT),
        ("open {place:>10}", "x", LOST),
        ("{n, plural, one {# file} other {# files}} open", "x", PARTS),
        ("{n, plural, one {# file} other {files}", "x", PARTS),
        ("open {d, date, dd MMM}", "x {d, date, dd MMM yy}", LOST),
        ("open C:\\\\file", "x", LOST),
        ("open&hellip;", "x", LOST),
        ("open", "Łódź", UNWRITABLE),
    ],
)
def test_a_translation_that_lost_something_is_not_used(source: str, translation: str, why: str, tmp_path: Path) -> None:
    text = po(source, charset="ISO-8859-1")
    asked = source.replace("\\\\", "\\").replace("\\t", "\t")
    filled, _ = fill_po(tmp_path, text, **{asked: translation})
    assert filled == FilledDocument(text.encode(), 0, {why: [4]})


def test_references_to_quotes_are_quotes_to_a_translator(tmp_path: Path) -> None:
    filled, texts = fill_po(tmp_path, po("open &quot;file&quot; &amp; it", "&quot;open&quot; 'x' &#39;"))
    assert texts == ['open "file" & it', "&quot;open&quot; 'x' &#39;"]
    assert 'msgstr "OPEN &quot;FILE&quot; &amp; it"' in filled.content.decode()


def test_numbers_and_the_order_of_named_placeholders_may_change(tmp_path: Path) -> None:
    table = {"open 5": "fünf", "100% file": "100 % x", "open %(a)s %(b)s": "%(b)s x %(a)s", "open {0} {1}": "{1} x {0}"}
    assert fill_po(tmp_path, po(*table), **table)[0].entries == len(table)


def test_a_text_is_translated_once_and_what_is_translated_not_at_all(tmp_path: Path) -> None:
    filled, texts = fill_po(tmp_path, po("open", " open", "file"))
    assert texts == ["open", "file"]
    assert filled.entries == 3
    text = HEAD.format("UTF-8") + 'msgid "a"\nmsgstr "b"\n'
    assert fill_po(tmp_path, text) == (FilledDocument(text.encode(), 0, {}), [])


def test_one_lost_form_leaves_all_of_them_empty(tmp_path: Path) -> None:
    text = HEAD.format("UTF-8") + 'msgid "file"\nmsgid_plural "%d files"\nmsgstr[0] ""\nmsgstr[1] ""\n'
    filled, _ = fill_po(tmp_path, text, **{"%d files": "x"})
    assert filled == FilledDocument(text.encode(), 0, {LOST: [4]})


def test_what_is_not_sure_stays_empty_and_is_not_tried_in_parts(tmp_path: Path) -> None:
    assert fill_po(tmp_path, po("open", "file"), file=None)[0].left == {UNSURE: [7]}
    text = f'<tmx version="1.4"><body><tu>{SOURCE}</tu></body></tmx>'
    filled, texts = fill_file(tmp_path, "m.tmx", text, **{WHOLE: None})
    assert (filled, texts) == (FilledDocument(text.encode(), 0, {UNSURE: [1]}), [WHOLE])


@pytest.mark.parametrize(
    ("before", "asked", "after"),
    [
        ("- open\n- file", ["open", "file"], "- OPEN\n- FILE"),
        ("<i>- open\nthe file</i>\n\u2013 file--", ["open the file", "file"], "<i>- OPEN\nthe FILE</i>\n\u2013 FILE--"),
        ("\u266a open \u266a", ["open"], "\u266a OPEN \u266a"),
        ("open the\nfile", ["open the file"], "OPEN the\nFILE"),
        ("open\n<i>the</i>\n<i>file</i>", ["open <x1/>the<x2/> <x3/>file"], "OPEN\n<i>the</i>\n<i>FILE</i>"),
        (
            "- open <i>file</i>\n- open <i>the</i> file -",
            ["open <x1/>file", "open <x1/>the<x2/> file"],
            "- OPEN <i>FILE</i>\n- OPEN <i>the</i> FILE -",
        ),
    ],
)
def test_dashes_of_speakers_and_notes_of_songs_stay(before: str, asked: list[str], after: str, tmp_path: Path) -> None:
    text = "1\n00:00:01,0 --> 00:00:02,0\n{}\n"
    filled, texts = fill_file(tmp_path, "a.srt", text.format(before))
    assert (filled.content.decode(), texts) == (text.format(after), asked)


SOURCE = '<tuv xml:lang="en"><seg>open <hi>it</hi>,<ph/> file</seg></tuv>'
WHOLE = "open <x1>it</x1>,<x3/> file"


@pytest.mark.parametrize(
    ("translation", "apart", "target"),
    [
        ("Die <x1>auf</x1>, <x3/>Datei", False, "Die <hi>auf</hi>, <ph/>Datei"),
        (" öffne<x1> es </x1>; <x3/>Datei ", False, "öffne<hi> es </hi>; <ph/>Datei"),
        ("<x1>auf</x1>, die <x3/>Datei", False, "<hi>auf</hi>, die <ph/>Datei"),
        ("Die <x3/>Datei, <x1>auf</x1>", False, "Die <ph/>Datei, <hi>auf</hi>"),
        ("Die <x1><x3/>Datei</x1> auf", False, "Die <hi><ph/>Datei</hi> auf"),
        ("Die <x1>auf</x1>, <x3/><x3/>Datei", True, "OPEN <hi>it</hi>,<ph/> FILE"),
        ("Die <x1>auf</x1>, <x3/>Datei %s", True, "OPEN <hi>it</hi>,<ph/> FILE"),
    ],
)
def test_codes_stay_or_texts_are_translated_apart(translation: str, apart: bool, target: str, tmp_path: Path) -> None:
    text = f'<tmx version="1.4"><body><tu>{SOURCE}{{}}</tu></body></tmx>'
    filled, texts = fill_file(tmp_path, "m.tmx", text.format(""), **{WHOLE: translation})
    assert texts == [WHOLE, *(["open", "it", "file"] if apart else [])]
    assert filled.content.decode() == text.format(f'<tuv xml:lang="de"><seg>{target}</seg></tuv>')


def test_line_ends_of_pages_are_white_space_which_stays_at_the_ends(tmp_path: Path) -> None:
    filled, texts = fill_file(tmp_path, "a.html", "<p> open\n  file <b>1</b></p>")
    assert (filled.content.decode(), texts) == ("<p> OPEN FILE <b>1</b></p>", ["open file"])
    filled, texts = fill_file(tmp_path, "b.html", "<html><p>\n  <b>open</b>\n  the <i>file</i> !\n</p>")
    assert filled.content.decode() == "<html><p>\n  <b>OPEN</b> the <i>FILE</i> !\n</p>"
    assert texts == ["<x1>open</x1> the <x3>file</x3> !"]


XLIFF_1 = (
    '<xliff version="1.2"><file source-language="en" target-language="de"><body><group {}><group {}>\n'
    '<trans-unit id="1" {}><source>o<x id="1"/>pen</source></trans-unit></group></group></body></file></xliff>'
)
XLIFF_2 = (
    '<xliff version="2.0" srcLang="en" trgLang="de"><file id="f" {}>{}<group id="g" {}><unit id="u" {}>\n'
    "<segment><source>o<ph id='1'/>pen</source></segment>{}</unit></group></file></xliff>"
)
ANOTHER = "<segment><source>open</source><target>auf</target></segment>"
Sized = tuple[int, dict[str, list[int]], tuple[int, ...]]
FITS, OUTSIZED, UNMEASURED = (1, {}, ()), (0, {WRONG_SIZE: [2]}, ()), (1, {}, (2,))


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        (("", "", 'maxwidth="6" size-unit="char"'), FITS),
        (("", "", 'maxwidth="5" size-unit="char"'), OUTSIZED),
        (("", "", 'minwidth="7" size-unit="char"'), OUTSIZED),
        (("", "", 'size-unit="byte" maxwidth="6"'), OUTSIZED),
        (("", "", 'size-unit="glyph" maxwidth="5"'), OUTSIZED),
        (("", "", 'maxbytes="6"'), OUTSIZED),
        (("", "", 'minbytes="8"'), OUTSIZED),
        (("", "", 'maxheight="1" size-unit="char"'), UNMEASURED),
        (("", "", 'maxwidth="5" maxbytes="6"'), OUTSIZED),
        (("", "", 'maxwidth="many" maxbytes="-1" size-unit="char"'), FITS),
        (('maxwidth="5" size-unit="char"', "", ""), OUTSIZED),
        (('maxwidth="5" size-unit="char"', 'maxwidth="6"', ""), FITS),
    ],
)
def test_translations_fit_the_sizes_of_unit_and_groups(sizes: Sequence[str], expected: Sized, tmp_path: Path) -> None:
    assert sized(XLIFF_1.format(*sizes), tmp_path) == expected


PROFILES = '<slr:profiles generalProfile="{}" storageProfile="{}"/>'


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        (("", "", "", 'slr:sizeRestriction="6"', ""), FITS),
        (("", "", "", 'slr:sizeRestriction="5"', ""), OUTSIZED),
        (("", "", "", 'slr:sizeRestriction="2,5"', ""), OUTSIZED),
        (("", "", "", 'slr:sizeRestriction="*"', ""), FITS),
        (("", "", "", 'slr:storageRestriction="6"', ""), OUTSIZED),
        (("", PROFILES.format("", "xliff:utf16"), "", 'slr:storageRestriction="11"', ""), OUTSIZED),
        (("", PROFILES.format("acme:pixels", ""), "", 'slr:sizeRestriction="500"', ""), UNMEASURED),
        (('slr:sizeRestriction="5"', "", "", 'slr:sizeRestriction="6"', ""), OUTSIZED),
        (("", "", 'slr:sizeRestriction="5"', "", ""), OUTSIZED),
        (("", "", "", 'slr:sizeRestriction="60"', ANOTHER), UNMEASURED),
        (("", "", "", 'slr:sizeRestriction="5"', ANOTHER), OUTSIZED),
    ],
)
def test_texts_fit_what_file_group_and_unit_allow(sizes: Sequence[str], expected: Sized, tmp_path: Path) -> None:
    assert sized(XLIFF_2.format(*sizes), tmp_path) == expected


def sized(text: str, folder: Path) -> Sized:
    """What becomes of a document whose translation has six characters and seven bytes."""
    filled, _ = fill_file(folder, "a.xlf", text, **{"o<x1/>pen": "öff<x1/>nen"})
    assert filled.entries or filled.content == text.encode()
    return filled.entries, filled.left, filled.unmeasured


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
def test_branches_are_translated_one_by_one(source: str, asked: list[str], target: str | None, tmp_path: Path) -> None:
    filled, texts = fill_po(tmp_path, po(source), "de", **{"the file {a}": "l'{a} FILE"})
    assert texts == asked and (filled.entries, filled.left) == (1, {})
    assert f'msgstr "{target or source.replace("file", "FILE")}"' in filled.content.decode()


NAMES = st.sampled_from(["n", "count", "user_name", "0"])
PHRASES = st.lists(
    st.sampled_from(["open", "file", "{user}", "{0}", "#", "it's", "{d, date, short}", "<b>file</b>", "!"]), max_size=4
).map(lambda some: f"\0{' '.join(some)}\0")
"""Between marks, which the messages are divided at."""
BLANKS = st.sampled_from(["", " ", "  "])


def choices(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Messages that choose among others."""
    kinds = st.sampled_from(["plural", "select", "selectordinal"])
    selectors = st.lists(st.sampled_from(["=0", "one", "few", "male", "=12"]), unique=True, max_size=3)

    @st.composite
    def message(draw: st.DrawFn) -> str:
        branches = [f"{one}{draw(BLANKS)}{{{draw(inner)}}}" for one in [*draw(selectors), "other"]]
        return f"{{{draw(NAMES)},{draw(BLANKS)}{draw(kinds)}, {draw(BLANKS).join(branches)}{draw(BLANKS)}}}"

    return message()


MESSAGES = choices(st.recursive(PHRASES, choices, max_leaves=6))
WRITERS: dict[str, Callable[[str], str]] = {
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


@given(message=MESSAGES, name=st.sampled_from([*WRITERS]))
def test_nothing_but_the_texts_of_branches_changes(message: str, name: str, tmp_path: Path) -> None:
    pieces = message.split("\0")
    message = "".join(pieces)
    document = document_of(tmp_path, "a.po", po(message))
    filled = fill(document, lambda texts: map(WRITERS[name], texts), "de")
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
    filled, texts = fill_file(tmp_path, "a.xlf", text)
    assert texts == ["open the file", "open <x1/> files"]
    assert source.replace("open", "OPEN").replace("file", "FILE") in filled.content.decode()
    assert fill_file(tmp_path, "a.xlf", text.replace("{V,", "a {V,"))[0].left == {PARTS: [2]}
    assert LOST in fill_file(tmp_path, "a.xlf", text, **{"open <x1/> files": "auf <x1/><x1/>"})[0].left


@pytest.mark.slow
def test_documents_that_others_wrote_are_filled_without_a_fault(shared_data: Path) -> None:
    table, faults = campaign([shared_data, shared_data.parent / "cases"], 60)
    assert len(table) > 5 and faults == []
