"""Files that hold text inside something else (tables, markup, archives), recognized by their first bytes.

None of them is a text of lines, so ``formats.lines`` refuses them by name. Those with a reader are read where pairs or
documents are expected.
"""

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from pathlib import PurePath
from typing import NamedTuple

PEEKED = 1 << 12
"""Bytes of a file that are looked at."""

_PAIRS = "export its segments as a .tsv, source, tab, target a line"
_ENTRIES = "translate it as a document, or train a translator on it"
_AS_LINES = "write its texts as lines, or its pairs as a .tsv, source, tab, target a line"
_CSV = f"train a translator, classifier or transducer on it, or {_AS_LINES}"
_JSON_LINES = f"train a classifier, tagger or transducer on it, or {_AS_LINES}"
_DOCUMENT = "translate it as a document, or save its text as plain text in UTF-8"
_PLAIN = "save its text as plain text in UTF-8, a sentence or paragraph a line"
_NOT_TEXT = "name a file of text"
_TABLE = "save the columns of source and target as tab-separated text, and name it .tsv"
_BEFORE = r"\s*+(?:<\?[^>]*+>\s*+|<!--(?:(?!-->).)*+-->\s*+|<!DOCTYPE(?! *html)[^>\[]*+(?:\[[^\]]*+\][^>]*+)?>\s*+)*+"
_ALIGNED = r"(?!\d++ \|)[^\n|]++(?<=\S )\|\|\| [^\n|]++"


class Document(NamedTuple):
    """A format that is no text of lines."""

    name: str
    """With its article."""
    remedy: str
    """Remedy that makes its text readable; ``{file}`` is the file."""
    begin: re.Pattern[str]
    """Beginning of such files, a byte a character."""
    endings: tuple[str, ...] = ()
    """Endings of names, for formats that are not known by their beginning alone; then ``begin`` need only match."""
    reader: str = ""
    """Name of its reader in ``formats.entries``; empty for none."""


def _messages(tool: str) -> str:
    return f"convert it to PO with  {tool} {{file}} messages.po  of the Translate Toolkit, or {_PAIRS}"


def _document(name: str, remedy: str, begin: str, *endings: str, reader: str = "") -> Document:
    return Document(name, remedy, re.compile(begin, re.DOTALL | re.IGNORECASE), endings, reader)


DOCUMENTS = (
    _document("a PDF", "convert it with  pdftotext {file}", "%PDF-"),
    _document("a rich text document", _PLAIN, r"\{\\rtf"),
    _document("an Office document of an older format", _PLAIN, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    _document("an Excel workbook", _TABLE, "PK\x03\x04.*xl/"),
    _document("an Excel workbook", _TABLE, "PK\x03\x04", ".xlsx", ".xlsm"),
    _document("a spreadsheet", _TABLE, "PK\x03\x04.*opendocument\\.spreadsheet"),
    _document("a Word document", _PLAIN, "PK\x03\x04.*word/"),
    _document("a Word document", _PLAIN, "PK\x03\x04", ".docx", ".docm"),
    _document("an OpenDocument text", _PLAIN, "PK\x03\x04.*opendocument"),
    _document("an e-book", _PLAIN, "PK\x03\x04.*epub\\+zip"),
    _document("an archive of NumPy arrays", _NOT_TEXT, r"PK\x03\x04.{26}[^/\x00]*\.npy"),
    _document("a zip archive", "unpack it with  unzip {file}", "PK(?:\x03\x04|\x05\x06)"),
    _document("a bzip2 archive", "unpack it with  bunzip2 {file}  (gzip is read as it is)", "BZh[1-9]1AY&SY"),
    _document("an xz archive", "unpack it with  unxz {file}  (gzip is read as it is)", "\xfd7zXZ\x00"),
    _document("a Zstandard archive", "unpack it with  unzstd {file}  (gzip is read as it is)", "\\(\xb5/\xfd"),
    _document("a 7-Zip archive", "unpack it with  7z x {file}", "7z\xbc\xaf\x27\x1c"),
    _document("a tar archive", "unpack it with  tar xf {file}", ".{257}ustar"),
    _document("a RAR archive", "unpack it with  unrar x {file}", "Rar!\x1a\x07"),
    _document("an LZ4 archive", "unpack it with  unlz4 {file}  (gzip is read as it is)", "\x04\x22M\x18"),
    _document("a Parquet table", _TABLE, "PAR1"),
    _document("an Arrow table", _TABLE, "ARROW1"),
    _document("an array of NumPy", _NOT_TEXT, "\x93NUMPY"),
    _document("a Python pickle, which is not loaded since it can run code", _PLAIN, "\x80[\x02-\x05]"),
    _document("an image", _NOT_TEXT, "\x89PNG|\xff\xd8\xff|GIF8[79]a|RIFF.{4}WEBP|II\\*\x00|MM\x00\\*"),
    _document("a sound recording", _NOT_TEXT, "ID3[\x02-\x04]|RIFF.{4}WAVE|OggS|fLaC"),
    _document("a program", _NOT_TEXT, "\x7fELF|MZ[^\n]{0,64}\x00|\xca\xfe\xba\xbe|\xcf\xfa\xed\xfe"),
    _document("a PostScript document", "convert it with  ps2ascii {file}", "%!PS"),
    _document("an SQLite database", _TABLE, "SQLite format 3\x00"),
    _document("a translation memory (TMX)", _ENTRIES, rf"{_BEFORE}<(?:\w+:)?tmx\b", reader="tmx"),
    _document("a translation memory (TMX)", _ENTRIES, r"\s*+<", ".tmx", reader="tmx"),
    _document("an XLIFF document", _ENTRIES, rf"{_BEFORE}<(?:\w+:)?xliff\b", reader="xliff"),
    _document("an XLIFF document", _ENTRIES, r"\s*+<", ".xlf", ".xliff", ".mxliff", ".sdlxliff", reader="xliff"),
    _document("a term base (TBX)", _PAIRS, rf"{_BEFORE}<(?:tbx|martif)\b"),
    _document("a Qt translation file", "convert it with  lconvert -i {file} -o messages.po", rf"{_BEFORE}<TS\b"),
    _document("messages of Android", _messages("android2po"), rf"{_BEFORE}<resources\b"),
    _document("messages of .NET (RESX)", _messages("resx2po"), r"\s*+<", ".resx"),
    _document("an HTML page", _DOCUMENT, rf"{_BEFORE}<(?:!doctype +html|html|head|body)\b", reader="html"),
    _document("an HTML page", _DOCUMENT, rf"{_BEFORE}<\w", ".html", ".htm", ".xhtml", reader="html"),
    _document("a test set in SGML", _PLAIN, rf"{_BEFORE}<(?:srcset|refset|tstset|mteval)\b"),
    _document("subtitles (TTML)", _PLAIN, rf"{_BEFORE}<tt\b[^>]*?ns/ttml"),
    _document("an XML document", _PLAIN, r"\s*+<\?xml\b"),
    _document("an XML document", _PLAIN, rf"{_BEFORE}<[\w:.-]++[\s/>]", ".xml", ".dbk", ".tei", ".fb2"),
    _document(
        "a gettext catalogue (PO)", _ENTRIES, r'(?:\s++|#[^\n]*+(?:\n|\Z)|msgctxt[^\n]*+\n)*+msgid[ \t]*+"', reader="po"
    ),
    _document("a gettext catalogue (PO)", _ENTRIES, r"\s*+#", ".po", ".pot", reader="po"),
    _document(
        "a compiled gettext catalogue (MO)",
        "convert it with  msgunfmt {file} > messages.po",
        "\xde\x12\x04\x95|\x95\x04\x12\xde",
    ),
    _document(
        "subtitles (SRT)", _DOCUMENT, r"\s*+\d++[ \t]*+\r?+\n\d++:\d\d:\d\d[,.]\d++[ \t]*+-->", reader="subtitles"
    ),
    _document("subtitles (WebVTT)", _DOCUMENT, r"WEBVTT(?=\s|\Z)", reader="subtitles"),
    _document("subtitles (SSA)", _PLAIN, r"\s*+\[Script Info\]"),
    _document("subtitles (SBV)", _PLAIN, r"\s*+\d++:\d\d:\d\d\.\d{3},\d++:\d\d:\d\d\.\d{3}\s"),
    _document("subtitles (MicroDVD)", _PLAIN, r"\{\d++\}\{\d++\}"),
    _document("song lyrics with times (LRC)", _PLAIN, r"(?:\[[a-z]++:[^\]\n]*+\]\s*+)*+\[\d++:\d\d[.:]\d\d\d?\]"),
    _document("a LaTeX document", "convert it with  detex {file}", r"(?:\s++|%[^\n]*+\n)*+\\documentclass\b"),
    _document(
        "a treebank (CoNLL-U)",
        "train a tagger on it, or write its sentences as lines",
        r"(?:#[^\n]*+\n)*+1(?:-\d)?\t(?:[^\t\n]++\t){8}[^\t\n]++\r?+\n",
    ),
    _document("a file of JSON lines", _JSON_LINES, r"\s*+[\[{]", ".jsonl", ".ndjson"),
    _document("a JSON document", _messages("json2po"), r'\s*+\[?\s*+\{\s*+"[^"\n]*+"\s*+:'),
    _document("a JSON document", _messages("json2po"), r'\s*+\[\s*+[\["{]', ".json"),
    _document("a YAML document", _messages("yaml2po"), r"(?:\s++|#[^\n]*+\n|---\s)*+[\w.\"'-]++:\s", ".yml", ".yaml"),
    _document(
        "a table of messages (properties)",
        _messages("prop2po"),
        r"(?:\s++|[#!][^\n]*+\n)*+[\w.-]++[ \t]*+[=:]",
        ".properties",
    ),
    _document(
        "a table of messages (strings)",
        "export it as XLIFF from Xcode",
        r'(?:\s++|/\*(?:(?!\*/).)*+\*/|//[^\n]*+\n)*+"[^"\n]*+"\s*+=\s*+"',
    ),
    *(
        _document("a table of comma-separated values (CSV)", _CSV, *how, reader="csv")
        for how in (
            (r'"[^"\n]*+"(?:[,;]"(?:[^"\n]|"")*+")++\r?+(?:\n|\Z)',),
            (r"(?:source|src|target|tgt|[a-z]{2})[,;](?:source|src|target|tgt|[a-z]{2})(?:[,;]\w*+)*+\r?+\n",),
            (r"[^\n]*?[,;\t]", ".csv"),
        )
    ),
    _document(
        "a table of comma-separated values (CSV)",
        _TABLE,
        r'[^\s,;"]++(?:([,;])[^\s,;"]++)(?:\1[^\s,;"]++)*+\r?+\n[^\n"]*?\1"[^\n]*+',
    ),
    _document("a table of comma-separated values (CSV)", _TABLE, r"[^\s;]++;[^\s;]++\r?+\n[^;\n]++;[^;\n]++\n"),
    _document(
        "pairs with ||| between them",
        r"put a tab there and name it .tsv, with  sed 's/ ||| /\t/' {file} > pairs.tsv",
        rf"(?:{_ALIGNED}(?:\n|\Z))++\Z|(?:{_ALIGNED}\n){{3}}",
    ),
    _document("an HTML page", _DOCUMENT, r"\s*+\S", ".html", ".htm", ".xhtml", reader="html"),
    _document("subtitles (SRT)", _DOCUMENT, r"\s*+\S", ".srt", reader="subtitles"),
    _document("text in UTF-32", "convert it with  iconv -f UTF-32 -t UTF-8 {file}", "\xff\xfe\0\0|\0\0\xfe\xff"),
    _document("text in UTF-16", "convert it with  iconv -f UTF-16 -t UTF-8 {file}", "\xff\xfe|\xfe\xff"),
    _document("text in UTF-16", "convert it with  iconv -f UTF-16LE -t UTF-8 {file}", "(?:[\t-~]\0){4}"),
    _document("text in UTF-16", "convert it with  iconv -f UTF-16BE -t UTF-8 {file}", "(?:\0[\t-~]){4}"),
    _document(
        "text whose lines end as on old Macs, in CR",
        r"convert it with  tr '\r' '\n' < {file}",
        r"[^\r\n]++(?:\r(?!\n)[^\r\n]*+){3,}\Z",
    ),
)
"""In the order in which they are tried, the special before the general."""


def recognize(start: bytes, name: str) -> Document | None:
    """Return the format of a file called ``name`` whose first bytes are ``start``; None for what may be text."""
    start = start[:PEEKED]
    ending = PurePath(name.lower().removesuffix(".gz")).suffix
    for text in _readings(start):
        for document in DOCUMENTS:
            if (not document.endings or ending in document.endings) and document.begin.match(text):
                return document
    return None


def _readings(start: bytes) -> tuple[str, ...]:
    """Return the bytes as characters, in UTF-16 too where they say that they are."""
    if start.startswith((BOM_UTF32_LE, BOM_UTF32_BE)):
        return (start.decode("latin-1"),)
    if start.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return start.decode("utf-16", "ignore"), start.decode("latin-1")
    return (start.removeprefix(BOM_UTF8).decode("latin-1"),)
