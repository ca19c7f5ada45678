"""Labelled texts: tables with a header, ``label text`` lines, fastText's ``__label__``, JSON, a folder per class.

The format is known by the ending of the name (``.tsv``, ``.csv``, ``.jsonl``; ``.gz`` aside) and by the first line.
Where a text may have several labels, they are several ``__label__`` in front of it or behind it, a list of JSON, or one
cell or word with a separator between them; it may also have none.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, takewhile
from pathlib import Path
from typing import NamedTuple

from anaphora.errors import DataError
from anaphora.formats.arrays import Floats
from anaphora.formats.evidence import RARE, Evidence
from anaphora.formats.lines import LONGEST, bound_lines, read_lines
from anaphora.formats.table_columns import TableColumns
from anaphora.formats.table_rows import TableRow, is_table, read_sides, table_rows
from anaphora.formats.tagged import is_label
from anaphora.wording import inflect

TABLES = (".tsv", ".csv")
"""Endings of tables."""
LABEL_COLUMNS = ("labels", "label", "class", "category", "intent", "sentiment", "rating", "y")
TEXT_COLUMNS = ("text", "sentence", "question", "review", "comment", "input", "x", "file", "path")
TEXTS = TableColumns((TEXT_COLUMNS, LABEL_COLUMNS))
"""Columns of labelled texts by their usual names: text and label."""
_MARK = "__label__"
_PEEK = 1000
"""Rows that are compared to tell the label of a table without a header: it has fewer distinct values."""
_FEWEST = 10
"""Rows that tell a heading of unknown names."""

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
    """The vectors of a sequence in place of a text."""

    @property
    def vectors(self) -> Floats:
        """Those, of an example that has them."""
        assert self.values_TD is not None
        return self.values_TD


def read_labelled(
    path: Path, *, encoding: str = "utf-8", separator: str | None = None, columns: TableColumns = TEXTS
) -> Iterator[Example]:
    """Yield the examples of a file, or of a folder with one folder of ``.txt`` files for each class.

    ``columns`` are those of text and label in a table.
    Without a ``separator`` every text has one label. With one it may have several, which the separator stands between
    where they share a cell or a word; an empty one splits nothing.

    Raises DataError, with the line, for a row that is not in the format of the others, or has no label or no text; and
    as ``read_lines`` does.
    """
    if path.is_dir():
        yield from _class_folders(path, encoding)
        return
    first, rows = _open(path, encoding)
    read = partial(_table, columns) if is_table(path.name) else _plain
    for number, labels, text in read(path, first, rows):
        yield _check(f"{path}:{number}", labels, text, separator)


def columns_read(path: Path, *, encoding: str = "utf-8", columns: TableColumns = TEXTS) -> TableColumns:
    """Return the columns of text and label that a table has; ``columns`` of what is no table."""
    if path.is_dir() or not is_table(path.name):
        return columns
    first, _ = _open(path, encoding)
    found = ((row.heads, _find(columns, first, row, f"{path}:{row.number}")) for row in first if any(row.heads))
    return next((columns.found_in(heads, places, headed=headed) for heads, (places, headed) in found), columns)


def class_folders(path: Path) -> list[Path]:
    """Return the folders of a folder's classes, sorted; none where it holds anything but folders of ``.txt`` files."""
    folders = sorted(entry for entry in path.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    if len(folders) < 2 or any(entry.is_dir() for folder in folders for entry in folder.iterdir()):
        return []
    return folders


def _class_folders(path: Path, encoding: str) -> Iterator[Example]:
    for folder in class_folders(path):
        files = sorted([*folder.glob("*.txt"), *folder.glob("*.txt.gz")])
        if not files:
            raise DataError(f"The class {folder} is empty: put .txt files into it, or remove the folder.")
        for file in files:
            text = " ".join(
                line.strip() for line in bound_lines(read_lines(file, encoding=encoding), str(file), LONGEST)
            )
            yield _check(str(file), [folder.name], text, "")


def split_labels(place: str, labels: Sequence[str], separator: str | None) -> tuple[str, ...]:
    """Return the labels of what stands at ``place``; ``separator`` and errors as for ``read_labelled``."""
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


def _check(place: str, labels: Sequence[str], text: str, separator: str | None) -> Example:
    if not text.strip():
        raise DataError(f"{place} has an empty text: fill it in, or remove it.")
    return Example(place, split_labels(place, labels, separator), text.strip())


def _open(path: Path, encoding: str) -> tuple[list[TableRow], Iterator[TableRow]]:
    """The rows that are looked at to tell what is in a file, ``_PEEK`` of them or fewer long ones, and the others."""
    rows = table_rows(read_lines(path, encoding=encoding, any_format=True), str(path))
    first, length = list[TableRow](), 0
    for row in rows:
        first.append(row)
        length += len(row.lines)
        if len(first) == _PEEK or length > LONGEST:
            break
    return first, rows


def _plain(path: Path, first: Sequence[TableRow], rows: Iterator[TableRow]) -> Iterator[Row]:
    kinds = (_MARK if any(_split_marked(row.lines)[0]) else "" for row in first if row.cells)
    marked = not Evidence(Counter(kinds)).is_rare(_MARK)
    for row in chain(first, rows):
        names, text = _split_marked(row.lines)
        if not names and not text:
            continue
        if any(names) and not marked:
            raise DataError(f"{path}:{row.number} has {_MARK}, as few others do: write all labels in one way.")
        if not marked and not names:
            [first_word, *_] = text.split()
            names, text = [first_word], text.removeprefix(first_word).lstrip()
        yield row.number, names, text


def _split_marked(line: str) -> tuple[list[str], str]:
    """Return the labels that are marked in front of a line or at its end, empty ones among them, and its text."""
    words, text = line.split(), line.strip()
    before = list(takewhile(_is_marked, words))
    after = list(takewhile(_is_marked, reversed(words[len(before) :])))
    for word in before:
        text = text.removeprefix(word).lstrip()
    for word in after:
        text = text.removesuffix(word).rstrip()
    return [word.removeprefix(_MARK) for word in (*before, *reversed(after))], text


def _is_marked(word: str) -> bool:
    return word.startswith(_MARK)


def _table(columns: TableColumns, path: Path, first: Sequence[TableRow], rows: Iterator[TableRow]) -> Iterator[Row]:
    for row, values in read_sides(chain(first, rows), str(path), partial(_find, columns, first)):
        if values is None:
            continue
        text, label = values
        labels = label if isinstance(label, list) else [label]
        if not isinstance(text, str) or not all(isinstance(one, str | int) for one in labels):
            raise DataError(
                f'{path}:{row.number} should be an object like {{"label": "x", "text": "..."}}, or with a list of '
                f"labels, but has {json.dumps([label, text])[1:60]}: correct it."
            )
        # true and false are read as JSON writes them
        yield row.number, [one if isinstance(one, str) else json.dumps(one) for one in labels], text


def _find(columns: TableColumns, first: Sequence[TableRow], row: TableRow, place: str) -> tuple[list[int], bool]:
    """The places of text and label in a row, and True if it is a heading: by its names, or by the ``first`` rows."""
    heads, is_object = row.heads, row.keys is not None
    if found := columns.find(heads, place, keys=is_object):
        return found
    sides = {side: one[0][0] for side in (0, 1) if (one := columns.find(heads, place, [side], keys=is_object))}
    if is_object or len(heads) != 2:
        needed = "a header with the columns label and text, or two columns"
        if is_object:
            needed = f'an object like {{"label": "x", "text": "..."}} with a {"label" if 0 in sides else "text"}'
        there = f"{inflect(len(heads), 'column')} ({', '.join(heads)[:60] or 'no key'})"
        remedy = "name those of text and label with the option columns, as in message,level"
        raise DataError(f"{place} should be {needed}, but it has {there}: {remedy}.")
    both = [*zip(*(one.cells for one in first if len(one.cells) == 2), strict=True)]
    are_alone = all(len(head.split()) == 1 and head not in others for head, *others in both)
    if len(sides) == 1 and are_alone and len(first) > 1:
        [(side, number)] = sides.items()
        return [number, 1 - number] if side == 0 else [1 - number, number], True
    distinct = [len({*column}) for column in both]
    arrays = [2 * sum(map(_is_array, column)) > len(column) for column in both]
    label = arrays.index(False) if arrays[0] != arrays[1] else int(distinct[0] > distinct[1])
    is_unlike = _is_unlike(heads, label, both[label][1:])
    return [1 - label, label], (arrays[1 - label] and not _is_array(heads[1 - label])) or is_unlike


def _is_array(cell: str) -> bool:
    return cell.strip().lower().endswith(".npy")


def _is_unlike(heads: Sequence[str], label: int, others: Sequence[str]) -> bool:
    """True if a first row looks like a heading: few words a cell, and a label that, unlike others, no row repeats."""
    counts = Counter(map(str.strip, others))
    is_alone = heads[label].strip() not in counts and [*counts.values()].count(1) <= max(1, RARE * len(others))
    are_words = all(0 < len(cell.split()) <= 3 and not cell.strip().isnumeric() for cell in heads)
    return is_alone and are_words and len(others) >= _FEWEST
