"""Files that hold text inside something else (tables, markup, archives), recognized by their first bytes.

None of them is a text of lines, so ``formats.lines`` refuses them by name. Those with a reader are read where pairs or
documents are expected.
"""

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from pathlib import Path
from typing import NamedTuple

PEEKED = 1 << 12
"""Bytes of a file that are looked at."""

_AS_LINES = "write its texts as lines, or its pairs as a .tsv, source, tab, target a line"
_NAMED = {
    "{pairs}": "export its segments as a .tsv, source, tab, target a line",
    "{entries}": "translate it as a document; to train on it or be scored by it, put it into the folder of the data",
    "{csv}": f"train a translator, classifier or transducer on it, or {_AS_LINES}",
    "{json}": f"train a classifier, tagger or transducer on it, or {_AS_LINES}",
    "{document}": "translate it as a document, or save its text as plain text in UTF-8",
    "{plain}": "save its text as plain text in UTF-8, a sentence or paragraph a line",
    "{no text}": "name a file of text",
    "{table}": "save its columns of text as tab-separated values, in a file named .tsv",
    "{before}": r"\s*+(?:<\?[^>]*+>\s*+|<!--(?:(?!-->).)*+-->\s*+"
    r"|<!DOCTYPE(?! *html)[^>\[]*+(?:\[[^\]]*+\][^>]*+)?>\s*+)*+",
    "{aligned}": r"(?!\d++ \|)[^\n|]++(?<=\S )\|\|\| [^\n|]++",
}
"""Remedies and parts of patterns that several rows of ``documents.tsv`` name."""


class Document(NamedTuple):
    """A format that is no text of lines."""

    name: str
    """Name with its article."""
    remedy: str
    """Remedy that makes its text readable; ``{file}`` is the file."""
    begin: re.Pattern[str]
    """Beginning of such files, a byte a character."""
    endings: tuple[str, ...] = ()
    """Endings of names, for formats that are not known by their beginning alone; then ``begin`` need only match."""
    reader: str = ""
    """Name of its reader in ``formats.entries``; empty for none."""


def _document(name: str, reader: str, endings: str, remedy: str, begin: str) -> Document:
    for known, text in _NAMED.items():
        remedy, begin = remedy.replace(known, text), begin.replace(known, text)
    return Document(name, remedy, re.compile(begin, re.DOTALL | re.IGNORECASE), tuple(endings.split()), reader)


_, *_ROWS = Path(__file__).with_name("documents.tsv").read_text(encoding="utf-8").splitlines()
DOCUMENTS = tuple(_document(*row.split("\t")) for row in _ROWS)
"""Kinds of documents in the order in which they are tried, the special before the general."""


def recognize(start: bytes, name: str) -> Document | None:
    """Return the format of a file called ``name`` whose first bytes are ``start``; None for what may be text."""
    start = start[:PEEKED]
    ending = Path(name.lower().removesuffix(".gz")).suffix
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
