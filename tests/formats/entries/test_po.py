"""PO: what is a pair, plural forms, escapes, and lines that no catalogue has."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.formats.entries.entry import Reason
from anaphora.formats.entries.po import Po
from tests.formats.entries.filling import pairs_of, skipped_of

HEAD = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Language: de\\n"\n\n'


@pytest.mark.parametrize(
    ("message", "pairs"),
    [
        ('msgid "Open"\nmsgstr "Öffnen"\n', [("Open", "Öffnen")]),
        ('msgid""\n"Op"\n"en"\nmsgstr   "Öff"  \n\t"nen"\n', [("Open", "Öffnen")]),
        ('# a\n#. b\n#: c:1\n#, c-format\n#| msgid "Old"\nmsgctxt "x"\nmsgid "%s"\nmsgstr "%s!"\n', [("%s", "%s!")]),
        ('msgid "a\\tb\\n\\"c\\" \\\\n \\x41\\101"\nmsgstr "x"\n', [('a b "c" \\n AA', "x")]),
        (
            'msgid "a file"\nmsgid_plural "%d files"\nmsgstr[0] "eine Datei"\nmsgstr[1] "%d Dateien"\nmsgstr[2] "%d"\n',
            [("a file", "eine Datei"), ("%d files", "%d Dateien")],
        ),
        ('msgid "a file"\nmsgid_plural "%d files"\nmsgstr[0] "%d Dateien"\n', [("%d files", "%d Dateien")]),
        ('msgid\n"Open" msgstr\n\n"Öff""nen" # what follows\n', [("Open", "Öffnen")]),
        (
            'msgid "a"msgid_plural\n"b" msgstr [ 0 ]"x"\nmsgstr\n[1\n] "y" msgctxt "m" msgid "c" msgstr "z"\n',
            [("a", "x"), ("b", "y"), ("c", "z")],
        ),
        ('msgid "\\303\\251 \\x41"\nmsgstr "\\351 \\\\303"\n', [("é A", "é \\303")]),
        ('#~ msgid "c" msgstr "z"\nmsgid "a" msgstr "x" #~ msgid "c" msgstr "z"\n', [("a", "x")]),
        ('msgid "a"\nmsgstr "x"\n#: next\nmsgctxt ""\nmsgid ""\nmsgstr "z"\n', [("a", "x"), ("", "z")]),
    ],
)
def test_messages_are_pairs(message: str, pairs: list[tuple[str, str]]) -> None:
    for end in ("\n", "\r\n"):
        assert pairs_of("a.po", (HEAD + message).replace("\n", end)) == pairs


def test_plural_forms_are_those_of_the_numbers_1_and_3() -> None:
    forms = "nplurals=6; plural=n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5"
    head = HEAD.replace("\n\n", f'\n"Plural-Forms: {forms};\\n"\n\n')
    text = 'msgid "a file"\nmsgid_plural "%d files"\n' + "".join(f'msgstr[{n}] "F{n}"\n' for n in range(6))
    assert pairs_of("a.po", head + text) == [("a file", "F1"), ("%d files", "F3")]


def test_what_is_no_pair_says_why_and_where() -> None:
    text = HEAD + (
        'msgid "a"\nmsgstr ""\n\n'
        '#, c-format, fuzzy\nmsgid "b"\nmsgstr "x"\n\n'
        '#~ msgid "c"\n#~ msgstr "x"\n#~| msgid "old"\n#~ msgid "d"\n#~ msgstr "x"\n\n'
        'msgid "e"\nmsgid_plural "f"\nmsgstr[0] "x"\nmsgstr[1] ""\n'
    )
    found = {6: "UNTRANSLATED", 10: "FUZZY", 13: "OBSOLETE", 16: "OBSOLETE", 19: "UNTRANSLATED"}
    assert skipped_of("a.po", text) == [(line, Reason[one]) for line, one in found.items()]


def test_the_header_says_which_language_it_is() -> None:
    text = HEAD.replace("de", "fr") + 'msgid "Open"\nmsgstr "Ouvrir"\n'
    assert skipped_of("a.po", text) == [(6, Reason.OTHER_LANGUAGES)]
    assert pairs_of("a.po", HEAD.replace("de", "de_AT") + 'msgid "a"\nmsgstr "b"\n') == [("a", "b")]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('msgid "a\nmsgstr "b"\n', r"a.po:6 is no line of a gettext catalogue: msgid \"a"),
        ('msgid "a"\nmsgid "b"\nmsgstr "c"\n', "a.po:7 is a second msgid of one message"),
        ('msgid "a\\q"\nmsgstr "b"\n', r"a.po:6 has \\q, which is no escape of text"),
        ('msgid "a\\000"\nmsgstr "b"\n', r"a.po:6 has \\000, which is no escape of text"),
        ('msgid "a\0"\nmsgstr "b"\n', "a.po:6 has a NUL"),
        ('msgid "a"\nmsgstr[0 "b"\n', r'a.po:7 is no line of a gettext catalogue: msgstr\[0 "b"'),
        ('msgid "a"\nmsgid_plural "b"\nmsgstr[0] "c"\n# d\nmsgstr[1] "e"\n', "a.po:10 has a translation without msgid"),
        ('msgid "a" msgstr\n\n', "a.po:6 has msgstr without a text: is the file whole"),
    ],
)
def test_other_lines_are_refused(lines: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        pairs_of("a.po", HEAD + lines)


def test_a_text_needs_a_keyword() -> None:
    with pytest.raises(DataError, match=r"a.po:1 has a text without a keyword"):
        list(Po("a.po", ("en", "de")).read([b'"a"\n']))


@given(st.lists(st.binary(max_size=30), max_size=10))
def test_no_bytes_are_too_odd(pieces: list[bytes]) -> None:
    texts = [piece.decode("utf-8", "replace").encode() for piece in pieces]
    with suppress(DataError):
        assert list(Po("a.po", ("en", "de")).read(texts)) == list(Po("a.po", ("en", "de")).read([b"".join(texts)]))
