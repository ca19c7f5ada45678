"""PO with its gaps filled: fuzzy, all plural forms or none, accepted by msgfmt, and all else as it was."""

import gzip
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.errors import DataError
from tests.formats.entries.filling import fill_each, filled, filled_text, read_document

HEAD = (
    'msgid ""\nmsgstr ""\n"MIME-Version: 1.0\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    '"Content-Transfer-Encoding: 8bit\\n"\n"Language: de\\n"\n"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
)
THREE = HEAD.replace("nplurals=2; plural=(n != 1)", "nplurals=3; plural=n<3?n:2")
ONE = HEAD.replace("nplurals=2; plural=(n != 1)", "nplurals=1; plural=0")
ARABIC = HEAD.replace(
    "nplurals=2; plural=(n != 1)",
    'nplurals=6; plural=n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n"\n"%100<=10 ? 3 : n%100>=11 ? 4 : 5',
)


def complaints(content: bytes) -> str:
    """What ``msgfmt -c`` has to say of a catalogue, fuzzy messages too; nothing of a good one."""
    if (program := shutil.which("msgfmt")) is None:
        pytest.skip("msgfmt is not here")
    command = [program, "--check-format", "--check-domain", "--use-fuzzy", "-o", "/dev/null", "-"]
    ran = subprocess.run(command, input=content, capture_output=True, check=False)
    return "".join(line for line in ran.stderr.decode().splitlines() if "warning: header field" not in line)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('msgid "a"\nmsgstr ""\n', '#, fuzzy\nmsgid "a"\nmsgstr "A"\n'),
        ('msgid "a"\nmsgstr ""', '#, fuzzy\nmsgid "a"\nmsgstr "A"'),
        ('#, c-format\nmsgid "a"\nmsgstr ""\n', '#, fuzzy, c-format\nmsgid "a"\nmsgstr "A"\n'),
        ('#, fuzzy\nmsgid "a"\nmsgstr ""\n', '#, fuzzy\nmsgid "a"\nmsgstr "A"\n'),
        (
            '# t\n#. c\n#: f:1\n#| msgid "b"\nmsgctxt "x"\nmsgid ""\n"a\\n"\n"\\"b\\"\\t\\\\"\n'
            'msgstr   ""\n""\n\n# end\n',
            '# t\n#. c\n#: f:1\n#, fuzzy\n#| msgid "b"\nmsgctxt "x"\nmsgid ""\n"a\\n"\n"\\"b\\"\\t\\\\"\n'
            'msgstr ""\n"A\\n"\n"\\"B\\"\\t\\\\"\n\n# end\n',
        ),
    ],
)
def test_a_message_gets_a_translation_that_is_fuzzy(before: str, after: str) -> None:
    for ends in ("\n", "\r\n"):
        found = filled_text("a.po", (HEAD + before).replace("\n", ends))
        assert found == (HEAD + after).replace("\n", ends)
    assert complaints((HEAD + after).encode()) == ""


@pytest.mark.parametrize(
    ("head", "given", "forms"),
    [
        (HEAD, ["", ""], ["%d FILE", "%d FILES"]),
        (HEAD, ["%d eine", ""], ["%d eine", "%d FILES"]),
        (HEAD, ["", "%d viele"], ["%d FILE", "%d viele"]),
        (HEAD, ["%d eine", " "], ["%d eine", "%d FILES"]),
        (THREE, ["", "", ""], ["%d FILES", "%d FILE", "%d FILES"]),
        (THREE, ["", ""], ["%d FILES", "%d FILE", "%d FILES"]),
        (ARABIC, [""] * 6, ["%d FILES", "%d FILE", "%d FILES", "%d FILES", "%d FILES", "%d FILES"]),
        (ARABIC, ["", "", "", "%d vier", ""], ["%d FILES", "%d FILE", "%d FILES", "%d vier", "%d FILES", "%d FILES"]),
        (ONE, [""], ["%d FILES"]),
        (ONE, ["", ""], ["%d FILES"]),
    ],
)
def test_all_plural_forms_are_filled_by_the_missing_texts(head: str, given: list[str], forms: list[str]) -> None:
    def message(forms: list[str]) -> str:
        lines = "".join(f'msgstr[{number}] "{form}"\n' for number, form in enumerate(forms))
        return f'msgid "%d file"\nmsgid_plural "%d files"\n{lines}\nmsgid "b"\nmsgstr "B"\n'

    def translate(text: str) -> str:
        return text.upper().replace("%D", "%d")

    for flags, marked in (("#, c-format\n#, no-wrap\n", "#, fuzzy, c-format\n#, no-wrap\n"), ("#, a\n#, fuzzy\n",) * 2):
        before = f"{head}{flags}{message(given)}"
        [entry, *_] = read_document("a.po", before).entries
        assert entry.gap and {translate(run.text) for run in entry.gap.runs} == {*forms} - {*given}
        found = filled_text("a.po", before, translate)
        assert found == f"{head}{marked}{message(forms)}"
    assert complaints(found.encode()) == ""


GAP = 'msgid "a"\nmsgstr ""\n'
CATALOGUES = {
    "both line ends": HEAD + 'msgid "a"\r\nmsgstr ""\r\n\r\nmsgid "b"\nmsgstr ""\n',
    "mark": f"\ufeff{HEAD}{GAP}",
    "obsolete": HEAD + GAP + '\n#~ msgctxt "x"\n#~ msgid "o"\n#~ msgid_plural "os"\n#~ msgstr[0] ""\n\n#~| msgid "p"\n',
    "empty context": HEAD + f'msgctxt ""\n{GAP}\nmsgctxt "m"\nmsgid ""\nmsgstr ""\n\n{GAP}',
    "header last": f"{GAP}\n{HEAD}",
    "separators": HEAD + 'msgid "a\u2028b\u00a0c\u0085"\nmsgstr ""\n',
}


@pytest.mark.parametrize("content", CATALOGUES.values(), ids=CATALOGUES)
def test_a_catalogue_is_filled_and_accepted_as_it_was(content: str) -> None:
    document = read_document("a.po", content)
    unfilled = document.fill({})
    written = filled(document, lambda text: f"{text.rstrip()}x{text[len(text.rstrip()) :]}")
    assert unfilled == content.encode()
    again = read_document("b.po", written)
    assert any(one.gap for one in document.entries) and not any(one.gap for one in again.entries)
    assert [one.source for one in again.entries] == [one.source for one in document.entries]
    assert complaints(unfilled) or not complaints(written)


COMMENTS = st.sampled_from(["", "# a\n", '#. b "c"\n', "#, c-format\n", '#| msgid "o"\n', '#~ msgid "o" msgstr "p"\n'])
STRINGS = st.lists(st.sampled_from(["a", "b c", "\\n", '\\"', "é"]), max_size=3).map(lambda some: [".", *some, "."])
TARGETS = st.lists(st.just(list[str]()) | STRINGS, min_size=2, max_size=2)
MESSAGES = st.tuples(STRINGS, st.none() | STRINGS, TARGETS, COMMENTS)


@settings(max_examples=40)
@given(messages=st.lists(MESSAGES, min_size=1, max_size=3), spaces=st.randoms(use_true_random=False))
def test_any_layout_that_msgfmt_takes_is_read_and_filled(
    messages: list[tuple[list[str], list[str] | None, list[list[str]], str]], spaces: Random
) -> None:
    def space() -> str:
        return spaces.choice(["", " ", "\n", "\t\n  ", "\r\n"])

    def strings(pieces: list[str]) -> str:
        return "".join(f'{space()}"{piece}"' for piece in pieces or [""])

    parts, expected = list[str](), list[str]()
    for number, (source, plural, targets, comment) in enumerate(messages):
        parts.append(f"\n{comment}" if comment else space())
        parts.append(f"msgid{strings([f'm{number} ', *source])}{space()}")
        expected.append(f"m{number} " + "".join([*source]))
        if plural is None:
            parts.append(f"msgstr{strings(targets[0])}")
        else:
            parts.append(f"msgid_plural{strings(['x', *plural])}{space()}")
            parts += [f"msgstr{space()}[{space()}{form}{space()}]{strings(one)}" for form, one in enumerate(targets)]
    text = HEAD + "".join(parts) + "\n"
    document = read_document("a.po", text)
    assert document.fill({}) == text.encode()
    sources = [entry.source for entry in document.entries if entry.source.startswith("m")]
    plain = [" ".join(one.replace("\\n", " ").replace('\\"', '"').split()) for one in expected]
    assert list(dict.fromkeys(sources)) == plain
    written = filled(document, lambda text: text)
    assert not any(entry.gap for entry in read_document("b.po", written).entries)
    if not complaints(text.encode()):
        assert not complaints(written)


def test_a_form_of_many_numbers_names_its_number() -> None:
    head = HEAD.replace("plural=(n != 1)", "plural=(n%10==1 && n%100!=11 ? 0 : 1)")
    text = head + '#, c-format\nmsgid "a file"\nmsgid_plural "%d files"\nmsgstr[0] ""\nmsgstr[1] ""\n'
    found = filled_text("a.po", text, lambda text: text.upper().replace("%D", "%d"))
    assert found.endswith('msgstr[0] "%d FILES"\nmsgstr[1] "%d FILES"\n')
    assert complaints(found.encode()) == ""


@pytest.mark.parametrize("expression", ["EXPRESSION", "n/0", "0", ""])
def test_without_an_expression_the_first_form_is_that_of_one(expression: str) -> None:
    text = HEAD.replace("(n != 1)", expression) + 'msgid "a"\nmsgid_plural "b"\nmsgstr[0] ""\nmsgstr[1] ""\n'
    assert filled_text("a.po", text).endswith('msgstr[0] "A"\nmsgstr[1] "B"\n')


FRENCH = HEAD.replace("Language: de", "Language: fr")


@pytest.mark.parametrize(
    "text",
    [
        HEAD + 'msgid "a"\nmsgid_plural "b"\nmsgstr[0] "A"\nmsgstr[1] "B"\n',
        HEAD + '#~ msgid "a"\n#~ msgstr ""\n',
        HEAD + '#, fuzzy\nmsgid "a"\nmsgstr "x"\n',
        HEAD + 'msgctxt "x"\nmsgid ""\nmsgstr ""\n',
        FRENCH + 'msgid "a"\nmsgstr ""\n',
        FRENCH + '#, fuzzy\nmsgid "a"\nmsgstr ""\n',
    ],
)
def test_what_is_no_gap_stays(text: str) -> None:
    assert filled_text("a.po", text) == text


def test_an_encoding_without_a_character_takes_no_translation_with_it() -> None:
    text = HEAD.replace("UTF-8", "ISO-8859-1") + 'msgid "a"\nmsgstr ""\n'
    document = read_document("a.po", text.encode("latin-1"))
    assert document.takes("é") and not document.takes("ł")
    assert 'msgstr "é"' in filled(document, lambda _: "é").decode("latin-1")
    with pytest.raises(DataError, match="is iso8859-1, which lacks 'ł'"):
        filled(document, lambda _: "ł")


@given(
    texts=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1), min_size=1, max_size=5)
)
def test_any_translation_can_be_read_again(texts: list[str]) -> None:
    document = read_document("a.po", HEAD + "".join(f'msgid "m{n}"\nmsgstr ""\n' for n in range(len(texts))))
    content = fill_each(document, {number: f"x{text}x" for number, text in enumerate(texts)})
    unmarked = content.replace(b"#, fuzzy\n", b"")
    entries = read_document("b.po", unmarked).entries
    assert [entry.target.split() for entry in entries] == [f"x{text}x".split() for text in texts]


def test_catalogues_of_real_programs_come_back_byte_for_byte(shared_data: Path) -> None:
    paths = sorted((shared_data / "po").iterdir())
    assert len(paths) == 5
    for path in paths:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        language = path.name.split(".")[1]
        document = read_document("a.po", content, ("en", language))
        assert document.fill({}) == content
        before = complaints(content)
        assert complaints(filled(document, lambda text: text)) == before
