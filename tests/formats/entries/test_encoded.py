"""Files in the encodings that they declare, and those that are refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.formats.entries.encoded import Encoding
from tests.formats.entries.filling import filled, pairs_of, read_document

UNIT = '<tu><tuv xml:lang="en"><seg>Open</seg></tuv><tuv xml:lang="de"><seg>Öffnen</seg></tuv></tu>'
TMX = '<?xml version="1.0" encoding="{}"?>\n<tmx version="1.4"><body>' + UNIT + "</body></tmx>"


@pytest.mark.parametrize(
    ("declared", "codec"),
    [
        ("UTF-8", "utf-8-sig"),
        ("UTF-16", "utf-16"),
        ("ISO-8859-1", "latin-1"),
        ("windows-1252", "cp1252"),
        ("Shift_JIS", None),
    ],
)
def test_a_file_is_read_in_the_encoding_that_it_declares(declared: str, codec: str | None) -> None:
    text = TMX.format(declared)
    text, codec = (text, codec) if codec else (text.replace("Öffnen", "開く"), "shift_jis")
    pairs = pairs_of("m.tmx", text.encode(codec))
    assert pairs == [("Open", "開く" if codec == "shift_jis" else "Öffnen")]


@pytest.mark.parametrize("declared", ["UTF-7", "utf-32", "unicode_escape", "idna", "base64", "rot13", "none-such"])
def test_other_encodings_are_refused(declared: str) -> None:
    with pytest.raises(DataError, match=f"declares the encoding '{declared}', which is not read"):
        pairs_of("m.tmx", TMX.format(declared).replace("Ö", "O"))


@pytest.mark.parametrize(
    ("name", "content", "codec"),
    [
        ("a.tmx", "<tmx>charset=iso-8859-1", "utf-8"),
        ("a.tmx", "<?xml version='1.0' encoding='cp1252'?><tmx>Content-Type: charset=utf-8", "cp1252"),
        ("a.po", '# a\nmsgid ""\nmsgstr "Content-Type: text/plain; charset=ISO-8859-2\\n"', "iso8859-2"),
        ("a.po", "# " + "a" * 9000 + '\nmsgid ""\nmsgstr "Content-Type: charset=ISO-8859-2\\n"', "iso8859-2"),
        ("a.pot", 'msgid ""\nmsgstr "Content-Type: text/plain; charset=CHARSET\\n"', "utf-8"),
        ("a.html", "<html><meta charset=windows-1252>", "cp1252"),
        ("a.html", "<html><META HTTP-EQUIV='Content-Type' CONTENT='text/html; charset=koi8-r'>", "koi8-r"),
        ("a.html", "<html>charset=koi8-r", "utf-8"),
        ("a.srt", "charset=koi8-r", "utf-8"),
    ],
)
def test_kinds_of_files_declare_it_in_their_own_places(name: str, content: str, codec: str) -> None:
    kind = {".pot": "po"}.get(Path(name).suffix, Path(name).suffix[1:])
    assert Encoding(content.encode(), name, kind).codec == codec


def test_a_page_in_latin_1_is_read_as_browsers_do_and_comes_back() -> None:
    page = b"<html><meta charset=iso-8859-1><p>\x93a\x94 5 \x80 \xe9 \x81</p><p>b</p>"
    document = read_document("a.html", page)
    assert [entry.source for entry in document.entries] == ["\u201ca\u201d 5 \u20ac \xe9 \x81", "b"]
    assert filled(document, lambda text: text.replace("b", "\u2019c\u017e\u03b1")) == page.replace(
        b"<p>b", b"<p>\x92c\x9e&#945;"
    )


def test_wrong_bytes_are_refused_with_their_line() -> None:
    with pytest.raises(DataError, match=r"m.tmx:2 should be utf-8, but has the byte 0xD6.*: correct the encoding that"):
        pairs_of("m.tmx", TMX.format("utf-8").encode("latin-1"))
    with pytest.raises(DataError, match=r"a.srt:1 should be utf-8.*\): convert it to UTF-8, with  iconv -f ISO-8859-1"):
        list(Encoding(b"\xd6", "a.srt", "subtitles").decode([b"\xd6"]))


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0")),
    st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "cp1252"]),
    st.integers(1, 5),
)
def test_what_was_decoded_is_encoded_to_the_same_bytes(text: str, codec: str, size: int) -> None:
    mark = "\ufeff" if codec.startswith("utf-16") else "<?xml encoding='cp1252'?>" if codec == "cp1252" else ""
    content = (mark + text).encode(codec, "ignore")
    encoding = Encoding(content, "a", "tmx")
    pieces = [content[at : at + size] for at in range(0, len(content), size)]
    assert encoding.encode(b"".join(encoding.decode(pieces))) == content
