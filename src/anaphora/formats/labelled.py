"""Labelled texts: tables with a header, ``label text`` lines, fastText's ``__label__``, JSON lines, a folder per class.

The format is known by the ending of the name (``.tsv``, ``.csv``, ``.jsonl``; ``.gz`` aside) and by the first line.
"""

import csv
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from anaphora.errors import DataError
from anaphora.formats.json_text import parsed_json
from anaphora.formats.lines import LONGEST, bounded, read_lines
from anaphora.formats.tagged import is_label
from anaphora.wording import counted

LABEL_COLUMNS = ("label", "class", "category", "intent", "sentiment", "y")
TEXT_COLUMNS = ("text", "sentence", "question", "input", "x")
_MARK = "__label__"
_PEEK = 1000
"""Rows that are compared to tell the label of a table without a header: it has fewer distinct values."""


class Example(NamedTuple):
    """One labelled text, and where it stands."""

    place: str
    """The file and its line, from 1."""
    label: str
    text: str


def read_labelled(path: Path, *, encoding: str = "utf-8") -> Iterator[Example]:
    """The examples of a file, or of a folder with one folder of ``.txt`` files for each class.

    Raises DataError, with the line, for a row that is not in the format of the others, or has no label or no text; and
    as ``read_lines`` does.
    """
    if path.is_dir():
        yield from _class_folders(path, encoding)
        return
    lines = read_lines(path, encoding=encoding, any_format=True)
    name = path.name.lower().removesuffix(".gz")
    if name.endswith((".jsonl", ".ndjson", ".json")):
        rows = _json_lines(lines, path)
    elif name.endswith(".csv"):
        rows = _table(path, _cells(lines, path))
    elif name.endswith(".tsv"):
        rows = _table(path, ((number, line.split("\t")) for number, line in enumerate(lines, 1)))
    else:
        rows = _plain(lines, path)
    for number, label, text in rows:
        yield _checked(f"{path}:{number}", label, text)


def class_folders(path: Path) -> list[Path]:
    """The folders of a folder's classes, sorted; none where it holds anything but folders of ``.txt`` files."""
    folders = sorted(entry for entry in path.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    return (
        folders if len(folders) > 1 and not any(any(f.is_dir() for f in folder.iterdir()) for folder in folders) else []
    )


def _class_folders(path: Path, encoding: str) -> Iterator[Example]:
    for folder in class_folders(path):
        files = sorted([*folder.glob("*.txt"), *folder.glob("*.txt.gz")])
        if not files:
            raise DataError(f"The class {folder} is empty: put .txt files into it, or remove the folder.")
        for file in files:
            text = " ".join(line.strip() for line in bounded(read_lines(file, encoding=encoding), str(file), LONGEST))
            yield _checked(str(file), folder.name, text)


def _checked(place: str, label: str, text: str) -> Example:
    label = label.strip()
    if not label or not text.strip():
        what = "label" if not label else "text"
        raise DataError(f"{place} has an empty {what}: fill it in, or remove the line.")
    if not is_label(label):
        raise DataError(f"{place} should have a label of one line without tabs, but has {label!r:.40}: correct it.")
    return Example(place, label, text.strip())


def _plain(lines: Iterator[str], path: Path) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        label, _, text = line.strip().partition(" ")
        if text.lstrip().startswith(_MARK):
            raise DataError(f"{path}:{number} has several labels, but a text has one class: keep one of them.")
        yield number, label.removeprefix(_MARK), text


def _json_lines(lines: Iterator[str], path: Path) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row = parsed_json(line, f"{path}:{number}", dict)
        label, text = row.get("label"), row.get("text")
        if not isinstance(text, str) or isinstance(label, bool) or not isinstance(label, str | int):
            raise DataError(f'{path}:{number} should be a JSON object like {{"label": "x", "text": "..."}}.')
        yield number, str(label), text


def _cells(lines: Iterator[str], path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of comma-separated values, each with the number of its first line."""
    begin = length = 0

    def fed() -> Iterator[str]:
        nonlocal length
        for line in lines:
            length += len(line) + 1
            if length > LONGEST:
                raise DataError(
                    f"{path}:{begin + 1} begins a row of more than {LONGEST:,} characters: check its quotes."
                )
            yield line + "\n"

    reader = csv.reader(fed(), strict=True)
    try:
        for row in reader:
            yield begin + 1, row
            begin, length = reader.line_num, 0
    except csv.Error as error:
        raise DataError(f"{path}:{begin + 1} is no CSV that can be read ({error}): check its quotes.") from None


def _first(rows: Iterator[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """The rows that are looked at to tell the columns: ``_PEEK`` of them, or fewer long ones."""
    first, length = list[tuple[int, list[str]]](), 0
    for number, row in rows:
        first.append((number, row))
        length += sum(map(len, row))
        if len(first) == _PEEK or length > LONGEST:
            break
    return first


def _table(path: Path, rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, str, str]]:
    first = _first(rows)
    if not first:
        return
    heads = [cell.strip().lower() for cell in first[0][1]]
    label, text = _named(heads, LABEL_COLUMNS), _named(heads, TEXT_COLUMNS)
    skip = 0 if label is None or text is None else 1
    if label is None or text is None:
        if len(heads) != 2:
            raise DataError(
                f"{path}:1 should be a header with the columns label and text, or the rows should have two columns, "
                f"but it has {len(heads)}: name the columns."
            )
        distinct = [len({row[column] for _, row in first if len(row) == 2}) for column in (0, 1)]
        label = 0 if distinct[0] <= distinct[1] else 1
        text = 1 - label
    for number, row in chain(first[skip:], rows):
        if not any(row):
            continue
        if len(row) != len(heads):
            raise DataError(
                f"{path}:{number} has {counted(len(row), 'column')}, but line 1 has {len(heads)}: give every row the "
                f"same columns."
            )
        yield number, row[label], row[text]


def _named(heads: Sequence[str], names: Sequence[str]) -> int | None:
    return next((heads.index(name) for name in names if name in heads), None)
