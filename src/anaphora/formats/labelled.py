"""Labelled texts: tables with a header, ``label text`` lines, fastText's ``__label__``, JSON lines, a folder per class.

The format is known by the ending of the name (``.tsv``, ``.csv``, ``.jsonl``; ``.gz`` aside) and by the first line.
Where a text may have several labels, they are several ``__label__`` in front of it, a list of JSON, or one cell or word
with a separator between them; it may also have none.
"""

import csv
import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import NamedTuple

from anaphora.errors import DataError
from anaphora.formats.arrays import Floats
from anaphora.formats.lines import read_lines
from anaphora.wording import counted

LABEL_COLUMNS = ("label", "labels", "class", "category", "intent", "sentiment", "y")
TEXT_COLUMNS = ("text", "sentence", "question", "input", "x", "file", "path")
_MARK = "__label__"
_PEEK = 1000
"""Rows that are compared to tell the label of a table without a header: it has fewer distinct values."""


Row = tuple[int, list[str], str]
"""The number of a line, its labels and its text, as they stand there."""


class Example(NamedTuple):
    """One labelled text, and where it stands."""

    place: str
    """The file and its line, from 1."""
    labels: tuple[str, ...]
    """One, unless a text may have several, or none."""
    text: str
    values_TD: Floats | None = None
    """The vectors of a sequence in place of a text (``formats.labelled_vectors``)."""

    @property
    def vectors(self) -> Floats:
        """Those, of an example that has them."""
        assert self.values_TD is not None
        return self.values_TD


def read_labelled(path: Path, *, encoding: str = "utf-8", separator: str | None = None) -> Iterator[Example]:
    """The examples of a file, or of a folder with one folder of ``.txt`` files for each class.

    Without a ``separator`` every text has one label. With one it may have several, which the separator stands between
    where they share a cell or a word; an empty one splits nothing.

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
        rows = _table(path, csv.reader((line + "\n" for line in lines), strict=True))
    elif name.endswith(".tsv"):
        rows = _table(path, (line.split("\t") for line in lines))
    else:
        rows = _plain(lines, path)
    for number, labels, text in rows:
        yield _checked(f"{path}:{number}", labels, text, separator)


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
            text = " ".join(line.strip() for line in read_lines(file, encoding=encoding))
            yield _checked(str(file), [folder.name], text, "")


def split_labels(place: str, labels: Sequence[str], separator: str | None) -> tuple[str, ...]:
    """The labels of what stands at ``place``; ``separator`` and errors as for ``read_labelled``."""
    if separator:
        labels = [part for label in labels for part in label.split(separator)]
    labels = list(dict.fromkeys(filter(None, (label.strip() for label in labels))))
    if separator is None and len(labels) > 1:
        raise DataError(
            f"{place} has several labels, but a text has one class: keep one of them, or set "
            f'classes.output = "sigmoid".'
        )
    if separator is None and not labels:
        raise DataError(f"{place} has an empty label: fill it in, or remove the line.")
    return tuple(labels)


def _checked(place: str, labels: Sequence[str], text: str, separator: str | None) -> Example:
    if not text.strip():
        raise DataError(f"{place} has an empty text: fill it in, or remove the line.")
    return Example(place, split_labels(place, labels, separator), text.strip())


def _plain(lines: Iterator[str], path: Path) -> Iterator[Row]:
    marked = False
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words:
            continue
        labels = list(takewhile(lambda word: word.startswith(_MARK), words))
        marked = marked or bool(labels)
        text = line.strip()
        for label in labels or ([] if marked else words[:1]):
            text = text.removeprefix(label).lstrip()
        yield number, [label.removeprefix(_MARK) for label in labels] if marked else words[:1], text


def _json_lines(lines: Iterator[str], path: Path) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            found, text = row["labels"] if "labels" in row else row["label"], row["text"]
        except (ValueError, KeyError, TypeError):
            found = text = None
        labels = found if isinstance(found, list) else [found]
        if not isinstance(text, str) or any(isinstance(one, bool) or not isinstance(one, str | int) for one in labels):
            raise DataError(
                f'{path}:{number} should be a JSON object like {{"label": "x", "text": "..."}}, or with a list of '
                f"labels."
            )
        yield number, list(map(str, labels)), text


def _table(path: Path, rows: Iterator[list[str]]) -> Iterator[Row]:
    rows = _sound(rows, path)
    first = list(islice(rows, _PEEK))
    if not first:
        return
    heads = [cell.strip().lower() for cell in first[0]]
    label, text = _named(heads, LABEL_COLUMNS), _named(heads, TEXT_COLUMNS)
    skip = 0 if label is None or text is None else 1
    if label is None or text is None:
        if len(heads) != 2:
            raise DataError(
                f"{path}:1 should be a header with the columns label and text, or the rows should have two columns, "
                f"but it has {len(heads)}: name the columns."
            )
        distinct = [len({row[column] for row in first if len(row) == 2}) for column in (0, 1)]
        label = 0 if distinct[0] <= distinct[1] else 1
        text = 1 - label
    for number, row in enumerate(chain(first, rows), 1):
        if number <= skip or not any(row):
            continue
        if len(row) != len(heads):
            raise DataError(
                f"{path}:{number} has {counted(len(row), 'column')}, but line 1 has {len(heads)}: give every row the "
                f"same columns."
            )
        yield number, [row[label]], row[text]


def _sound(rows: Iterator[list[str]], path: Path) -> Iterator[list[str]]:
    try:
        yield from rows
    except csv.Error as error:
        raise DataError(f"{path} is no CSV file that can be read ({error}): check its quotes.") from None


def _named(heads: Sequence[str], names: Sequence[str]) -> int | None:
    return next((heads.index(name) for name in names if name in heads), None)
