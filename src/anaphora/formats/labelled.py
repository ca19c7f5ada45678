"""Labelled texts: tables with a header, ``label text`` lines, fastText's ``__label__``, JSON, a folder per class.

The format is known by the ending of the name (``.tsv``, ``.csv``, ``.jsonl``; ``.gz`` aside) and by the first line.
Where a text may have several labels, they are several ``__label__`` in front of it, a list of JSON, or one cell or word
with a separator between them; it may also have none.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, takewhile
from pathlib import Path
from typing import NamedTuple, TypeVar

from anaphora.errors import DataError
from anaphora.formats.arrays import Floats
from anaphora.formats.csv_rows import csv_rows
from anaphora.formats.evidence import RARE, Evidence
from anaphora.formats.json_text import json_objects
from anaphora.formats.lines import LONGEST, bounded, read_lines
from anaphora.formats.table_columns import TableColumns
from anaphora.formats.tagged import is_label
from anaphora.wording import counted

TABLES = (".tsv", ".csv")
"""Endings of tables."""
LABEL_COLUMNS = ("label", "labels", "class", "category", "intent", "sentiment", "rating", "y")
TEXT_COLUMNS = ("text", "sentence", "question", "review", "comment", "input", "x", "file", "path")
TEXTS = TableColumns((TEXT_COLUMNS, LABEL_COLUMNS))
"""Columns of labelled texts by their usual names: text and label."""
_JSON = (".jsonl", ".ndjson", ".json")
_MARK = "__label__"
_PEEK = 1000
"""Rows that are compared to tell the label of a table without a header: it has fewer distinct values."""
_FEWEST = 10
"""Rows that tell a heading of unknown names."""

AnyRow = TypeVar("AnyRow", str, list[str])
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


def read_labelled(
    path: Path, *, encoding: str = "utf-8", separator: str | None = None, columns: TableColumns = TEXTS
) -> Iterator[Example]:
    """The examples of a file, or of a folder with one folder of ``.txt`` files for each class.

    ``columns`` are those of text and label in a table.
    Without a ``separator`` every text has one label. With one it may have several, which the separator stands between
    where they share a cell or a word; an empty one splits nothing.

    Raises DataError, with the line, for a row that is not in the format of the others, or has no label or no text; and
    as ``read_lines`` does.
    """
    if path.is_dir():
        yield from _class_folders(path, encoding)
        return
    lines = read_lines(path, encoding=encoding, any_format=True)
    if (cells := _cells(path, lines)) is not None:
        rows = _table(path, cells, columns)
    elif _is_json(path):
        rows = _json_rows(lines, path, columns)
    else:
        rows = _plain(lines, path)
    for number, labels, text in rows:
        yield _checked(f"{path}:{number}", labels, text, separator)


def columns_read(path: Path, *, encoding: str = "utf-8", columns: TableColumns = TEXTS) -> TableColumns:
    """Return the columns of text and label that a table has; ``columns`` of what is no table."""
    if path.is_dir():
        return columns
    lines = read_lines(path, encoding=encoding, any_format=True)
    if (cells := _cells(path, lines)) is not None and (first := _first(cells)):
        text, label, skip = _places(path, first, columns)
        return columns.found_in(first[0][1], [text, label], headed=bool(skip))
    if _is_json(path) and (keys := next((list(item) for _, _, item in json_objects(lines, str(path))), None)):
        return columns.found_in(keys, _places_of_keys(keys, f"{path}:1", columns), headed=True)
    return columns


def _is_json(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith(_JSON)


def _cells(path: Path, lines: Iterator[str]) -> Iterator[tuple[int, list[str]]] | None:
    """The rows of a table; None for what is none by its name."""
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".csv"):
        return csv_rows(lines, str(path))
    return ((number, line.split("\t")) for number, line in enumerate(lines, 1)) if name.endswith(".tsv") else None


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
        raise DataError(f'{place} has an empty label: fill it in, remove the line, or set classes.output = "sigmoid".')
    for label in labels:
        if not is_label(label):
            raise DataError(f"{place} should have a label of one line without tabs, but has {label!r:.40}: correct it.")
    return tuple(labels)


def _checked(place: str, labels: Sequence[str], text: str, separator: str | None) -> Example:
    if not text.strip():
        raise DataError(f"{place} has an empty text: fill it in, or remove it.")
    return Example(place, split_labels(place, labels, separator), text.strip())


def _plain(lines: Iterator[str], path: Path) -> Iterator[Row]:
    numbered = enumerate(lines, 1)
    first = _first(numbered)
    kinds = (_MARK if any(_names(line.split())) else "" for _, line in first if line.strip())
    marked = not Evidence(Counter(kinds)).is_rare(_MARK)
    for number, line in chain(first, numbered):
        words = line.split()
        if not words:
            continue
        names = _names(words)
        if any(names) and not marked:
            raise DataError(f"{path}:{number} begins with {_MARK}, as few others do: write all labels in one way.")
        text = line.strip()
        for word in words[: len(names) or not marked]:
            text = text.removeprefix(word).lstrip()
        yield number, names if marked or names else words[:1], text


def _names(words: Sequence[str]) -> list[str]:
    """The labels that are marked in front of a line, empty ones among them."""
    return [word.removeprefix(_MARK) for word in takewhile(lambda word: word.startswith(_MARK), words)]


def _json_rows(lines: Iterator[str], path: Path, columns: TableColumns) -> Iterator[Row]:
    for number, _, item in json_objects(lines, str(path)):
        values, (text, label) = list(item.values()), _places_of_keys(list(item), f"{path}:{number}", columns)
        labels = values[label] if isinstance(values[label], list) else [values[label]]
        if not isinstance(values[text], str) or not all(isinstance(one, str | int) for one in labels):
            raise DataError(
                f'{path}:{number} should be an object like {{"label": "x", "text": "..."}}, or with a list of labels, '
                f"but has {json.dumps([values[label], values[text]])[1:60]}: correct it."
            )
        # true and false are read as JSON writes them
        yield number, [one if isinstance(one, str) else json.dumps(one) for one in labels], values[text]


def _places_of_keys(keys: Sequence[str], place: str, columns: TableColumns) -> list[int]:
    """Places of text and label among the keys of an object; DataError where it lacks one."""
    columns = columns._replace(usual=(TEXT_COLUMNS, ("labels", *LABEL_COLUMNS)))
    if (found := columns.find(keys, place, keys=True)) is None:
        missing = "label" if columns.find(keys, place, [0], keys=True) else "text"
        raise DataError(
            f'{place} should be an object like {{"label": "x", "text": "..."}}, but has no {missing} '
            f"({', '.join(keys)[:60] or 'no key'}): rename its key, or choose columns."
        )
    return found[0]


def _first(rows: Iterator[tuple[int, AnyRow]]) -> list[tuple[int, AnyRow]]:
    """The rows that are looked at to tell what is in them: ``_PEEK`` of them, or fewer long ones."""
    first, length = list[tuple[int, AnyRow]](), 0
    for number, row in rows:
        first.append((number, row))
        length += sum(map(len, row))
        if len(first) == _PEEK or length > LONGEST:
            break
    return first


def _places(path: Path, first: Sequence[tuple[int, list[str]]], columns: TableColumns) -> tuple[int, int, int]:
    """Places of text and label in the first rows of a table, and how many of these are a heading."""
    if found := columns.find(first[0][1], f"{path}:1"):
        return found[0][0], found[0][1], int(found[1])
    heads = [cell.strip().lower() for cell in first[0][1]]
    label, text = _named(heads, LABEL_COLUMNS), _named(heads, TEXT_COLUMNS)
    if len(heads) == 2 and (label is None) != (text is None) and _is_heading(first):
        if label is not None:
            text = 1 - label
        elif text is not None:
            label = 1 - text
    has_heading = label is not None and text is not None
    if label is None or text is None:
        if len(heads) != 2:
            raise DataError(
                f"{path}:1 should be a header with the columns label and text, or the rows should have two columns, "
                f"but it has {counted(len(heads), 'column')} ({', '.join(heads)[:60]}): name the columns."
            )
        pairs = [row for _, row in first if len(row) == 2]
        distinct = [len({row[column] for row in pairs}) for column in (0, 1)]
        arrays = [2 * sum(map(_is_array, (row[column] for row in pairs))) > len(pairs) for column in (0, 1)]
        label = arrays.index(False) if arrays[0] != arrays[1] else int(distinct[0] > distinct[1])
        text = 1 - label
        has_heading = (arrays[text] and not _is_array(heads[text])) or _is_unlike(pairs, label)
    return text, label, int(has_heading)


def _table(path: Path, rows: Iterator[tuple[int, list[str]]], columns: TableColumns) -> Iterator[Row]:
    first = _first(rows)
    if not first:
        return
    heads = first[0][1]
    text, label, has_heading = _places(path, first, columns)
    for number, row in chain(first[has_heading:], rows):
        if not any(row):
            continue
        if len(row) != len(heads):
            raise DataError(
                f"{path}:{number} has {counted(len(row), 'column')}, but line 1 has {len(heads)}: give every row the "
                f"same columns."
            )
        if has_heading and row == first[0][1]:
            raise DataError(f"{path}:{number} repeats the heading in line 1: remove the line.")
        yield number, [row[label]], row[text]


def _is_array(cell: str) -> bool:
    return cell.strip().lower().endswith(".npy")


def _is_heading(rows: Sequence[tuple[int, list[str]]]) -> bool:
    """Whether the first row is words that no other row has in the same column; never where it is the only one."""
    (_, heads), *others = rows
    return bool(others) and all(
        len(head.split()) == 1 and all(row[place : place + 1] != [head] for _, row in others)
        for place, head in enumerate(heads)
    )


def _is_unlike(rows: Sequence[Sequence[str]], label: int) -> bool:
    """True if the first row is a few words, and its label is the only one, or nearly, that occurs once."""
    heads, *others = rows
    counts = Counter(row[label].strip() for row in others)
    is_alone = heads[label].strip() not in counts and [*counts.values()].count(1) <= max(1, RARE * len(others))
    are_words = all(0 < len(cell.split()) <= 3 and not cell.strip().isnumeric() for cell in heads)
    return is_alone and are_words and len(others) >= _FEWEST


def _named(heads: Sequence[str], names: Sequence[str]) -> int | None:
    return next((heads.index(name) for name in names if name in heads), None)
