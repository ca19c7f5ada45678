"""Documents are recognized by their first bytes, and text is not taken for one."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.formats.documents import recognize
from anaphora.formats.lines import decode_lines, read_lines

from .conftest import Written

XML = '<?xml version="1.0" encoding="utf-8"?>\n<!-- made -->\n'


def zipped(*names: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, "text")
    return stream.getvalue()


CASES: dict[str, tuple[str | bytes, str]] = {
    "memory.tmx": (f'{XML}<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">', "TMX"),
    "app.po": ('# by\n#, fuzzy\n\nmsgid ""\nmsgstr ""\n', "PO"),
    "context.po": ('#: a.c:3\nmsgctxt "menu"\nmsgid "Open"\nmsgstr ""\n', "PO"),
    "app.xlf": (f"{XML}<xliff version='1.2'>", "XLIFF"),
    "app.ts": (f'{XML}<!DOCTYPE TS>\n<TS version="2.1">', "lconvert"),
    "terms.tbx": (f"{XML}<martif type='TBX'>", "TBX"),
    "page.html": ("\n<!doctype html>\n<p>Hello", "HTML"),
    "part.htm": ("<p>Hello</p>", "HTML"),
    "other.xml": (f"{XML}<data>", "XML"),
    "film.srt": ("1\r\n00:00:01,000 --> 00:00:02,000\r\nHello\r\n", "SRT"),
    "bare.html": ("Hello &amp; welcome\n", "HTML"),
    "bare.srt": ("00:00:01,000 --> 00:00:02,000\nHello\n", "SRT"),
    "film.vtt": ("WEBVTT\n\n00:01.000 --> 00:02.000\n", "WebVTT"),
    "table.csv": ("Hold this.,Halt das.\n", "CSV"),
    "table.txt": ('"Hold this.","He said ""no""."\n', "CSV"),
    "heading.txt": ("source,target\nHold this.,Halt das.\n", "CSV"),
    "strings.json": ('{\n  "hello": "Hallo"\n}\n', "JSON"),
    "rows.jsonl": ('{"en": "Hello", "de": "Hallo"}\n', "a file of JSON lines"),
    "arrays.ndjson": ('["colour", "color"]\n', "train a classifier, tagger or transducer on it"),
    "letter.rtf": (r"{\rtf1\ansi Hello}", "rich text"),
    "paper.pdf": ("%PDF-1.7\n", "PDF"),
    "letter.docx": (zipped("[Content_Types].xml", "word/document.xml"), "Word"),
    "table.xlsx": (zipped("[Content_Types].xml", "xl/workbook.xml"), "Excel"),
    "texts.zip": (zipped("train.en"), "zip"),
    "frames.npz": (zipped("first.npy"), "NumPy"),
    "old.doc": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "Office"),
    "train.bz2": (bz2.compress(b"Hello\n"), "bunzip2"),
    "train.xz": (lzma.compress(b"Hello\n"), "unxz"),
    "train.tar": (tarfile.TarInfo("train.en").tobuf(), "tar xf"),
    "utf16.txt": ("Hello\n".encode("utf-16"), "iconv"),
    "utf32.txt": ("Hello\n".encode("utf-32"), "iconv -f UTF-32"),
    "unmarked16.txt": ("Hello\n".encode("utf-16-le"), "iconv -f UTF-16LE"),
    "mac.txt": ("Hello.\rHow are you?\rI am well.\rGood.\r", "tr"),
    "film.sbv": ("0:00:01.000,0:00:02.000\nHello\n", "SBV"),
    "film.sub": ("{10}{60}Hello\n", "MicroDVD"),
    "film.ttml": ('<tt xml:lang="" xmlns="http://www.w3.org/ns/ttml"><body>', "TTML"),
    "song.lrc": ("[ar:Bach]\n[00:12.00]Hello\n", "LRC"),
    "book.tex": ("% mine\n\\documentclass{article}\n", "LaTeX"),
    "page.ps": ("%!PS-Adobe-3.0\n", "PostScript"),
    "strings.xml": (f"{XML}<resources><string name='a'>Hello</string>", "android2po"),
    "app.resx": (f"{XML}<root><data>", "resx2po"),
    "text.xml": ("<TEI xmlns='http://www.tei-c.org/ns/1.0'>", "XML"),
    "list.json": ('[\n "Hello",\n "Bye"]\n', "JSON"),
    "app.yml": ('de:\n  hello: "Hallo"\n', "YAML"),
    "app.properties": ("# mine\nhello=Hallo\n", "properties"),
    "Localizable.strings": ('/* a */\n"hello" = "Hallo";\n', "strings"),
    "labels.txt": ('id,text,label\n0,"Hello, you",1\n', "CSV"),
    "semicolons.txt": ("Deutsch;English\nHallo du.;Hello you.\n", "CSV"),
    "aligned.txt": ("Hallo . ||| Hello .\nNein . ||| No .\n", r"\|\|\|"),
    "tree.conllu": ("# text = Go\n1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n", "CoNLL-U"),
    "list.pkl": (b"\x80\x04\x95\x00\x00", "pickle"),
    "photo.png": (b"\x89PNG\r\n\x1a\n\x00", "image"),
    "speech.wav": (b"RIFF\x00\x00\x00\x00WAVEfmt ", "sound"),
    "array.npy": (b"\x93NUMPY\x01\x00", "NumPy"),
    "tool": (b"\x7fELF\x02\x01\x01\x00", "program"),
    "memory16.tmx": (f"{XML}<tmx version='1.4'>".encode("utf-16"), "TMX"),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_a_document_is_refused_by_the_name_of_its_format(name: str, packed: bool, written: Written) -> None:
    content, said = CASES[name]
    data = content if isinstance(content, bytes) else content.encode()
    path = written(f"{name}.gz", gzip.compress(data)) if packed else written(name, data)
    expected = "lines of text are expected"
    for lines in (read_lines(path), decode_lines(io.BytesIO(path.read_bytes()), f"standard input, {name}")):
        with pytest.raises(DataError, match=rf"{expected}.*{said}|{said}.*{expected}") as refused:
            list(lines)
        assert name in str(refused.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("book.txt", "He said, she said, they said.\nYes, no.\n"),
        ("wiki.txt", '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.3/">\n'),
        ("quotes.txt", '"Hello," he said, "how are you?"\n"Fine," she said.\n'),
        ("tags.en", "<b>Hello</b> and <i>welcome</i>\n"),
        ("play.txt", "[Enter Hamlet]\n{aside} To be\n"),
        ("csv.csv", "no delimiter here\n"),
        ("train.csv.en", "a, b\n"),
        ("nbest.txt", "0 ||| Hello . ||| lm=1 ||| -2\n0 ||| Hi . ||| lm=1 ||| -3\n1 ||| No . ||| lm=1 ||| -1\n"),
        ("bars.txt", "a ||| b\nno bars\n"),
        ("list.txt", "Buy: milk, eggs; bread\nyes; no\n"),
        ("key.txt", "key: value\nhello=Hallo\n"),
        ("quoted.txt", '["Go," he said]\n'),
        ("hash.txt", "# a heading\n\nprose about msgid\n"),
    ],
)
def test_text_is_read(name: str, text: str, written: Written) -> None:
    assert list(read_lines(written(name, text))) == text.splitlines()


@given(st.binary(max_size=300), st.sampled_from(["a.txt", "a.csv", "a.html", "a.docx"]))
def test_no_bytes_are_too_odd(start: bytes, name: str) -> None:
    recognize(start, name)
