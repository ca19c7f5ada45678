"""Pairs of strings in CSV and JSON lines, as the lines with tabs that ``formats.strings`` reads.

    "color";"colour"                                    rows of CSV, perhaps below a heading
    {"source": "color", "target": "colour"}             objects, perhaps with features: a string or a list of them
    ["color", "colour"]                                 arrays, in the order of columns

A heading and the keys of objects may have any order and other columns among them. Lines keep their numbers.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from anaphora.errors import DataError
from anaphora.formats.csv_rows import csv_rows
from anaphora.formats.json_text import any_json
from anaphora.formats.lines import read_lines
from anaphora.formats.table_columns import TableColumns

SIDES = ("source", "target", "features")
SIDE_NAMES = (
    ("source", "input", "word", "spelling", "grapheme", "graphemes", "lemma"),
    ("target", "output", "pronunciation", "phones", "phoneme", "phonemes", "transcription", "form"),
    ("features", "tags"),
)
"""What headings and keys call source, target and features."""
ENDINGS = (".csv", ".jsonl", ".ndjson")
"""Of files that are read so, ``.gz`` aside."""


STRINGS = TableColumns(SIDE_NAMES)
"""Columns of source, target and features by their usual names."""
_SPACES = str.maketrans("\t\r\n", "   ")


def string_lines(path: Path, columns: TableColumns = STRINGS) -> Iterator[str]:
    """The lines of a file, that of a heading empty; of CSV and JSON lines each row with tabs between its cells.

    Of JSON objects, these are source, target and perhaps features alone. Raises DataError as ``read_lines``, and with
    its line for a row that is no pair.
    """
    rows = _rows(path, columns)
    if rows is None:
        for number, line in enumerate(read_lines(path), 1):
            is_heading = number == 1 and sides_in(line.split("\t"), f"{path}:1", columns)[1]
            yield "" if is_heading else line
        return
    last = 0
    for number, cells in rows:
        yield from [""] * (number - last - 1)
        is_heading = not last and not _is_json(path) and sides_in(cells, f"{path}:{number}", columns)[1]
        yield "" if is_heading else "\t".join(cell.translate(_SPACES) for cell in cells)
        last = number


def first_cells(path: Path) -> tuple[list[str], bool]:
    """The cells of the first row of a file, or the keys of its first object, and True for keys."""
    if _is_json(path):
        first: Any = next((item for _, item in _items(path)), [])
        return [*map(str, first)] if isinstance(first, dict | list) else [], isinstance(first, dict)
    rows = _rows(path, STRINGS) or ((0, line.split("\t")) for line in read_lines(path))
    return next(rows, (0, list[str]()))[1], False


def sides_in(cells: Sequence[str], place: str, columns: TableColumns, *, keys: bool = False) -> tuple[list[int], bool]:
    """Places of source, target and perhaps features in a first row, none where nothing says; True for a heading.

    Errors as for ``TableColumns.find``.
    """
    sides = [range(len(columns.chosen))] if columns.chosen else [range(3), range(2)]
    found = (columns.find(cells, place, of_these, keys=keys) for of_these in sides)
    return next((one for one in found if one is not None), ([], False))


def holds_strings(path: Path) -> bool:
    """Whether JSON lines hold pairs of strings, by the first one."""
    if not _is_json(path):
        return False
    first = next((item for _, item in _items(path)), None)
    return bool(sides_in([*first], str(path), STRINGS)[0]) if isinstance(first, dict) else _are_strings(first)


def _rows(path: Path, columns: TableColumns) -> Iterator[tuple[int, list[str]]] | None:
    """The rows with their lines; None for a file that is neither CSV nor JSON lines."""
    if _is_json(path):
        return _json_rows(path, columns)
    if _ends(path, ".csv"):
        return csv_rows(read_lines(path, any_format=True), str(path))
    return None


def _json_rows(path: Path, columns: TableColumns) -> Iterator[tuple[int, list[str]]]:
    """Those of JSON lines, all as wide as the first at least."""
    width = 0
    for number, item in _items(path):
        cells = _cells(item, f"{path}:{number}", columns)
        width = width or len(cells)
        yield number, [*cells, *[""] * (width - len(cells))]


def _items(path: Path) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(read_lines(path, any_format=True), 1):
        if line.strip():
            yield number, any_json(line, f"{path}:{number}")


def _cells(item: Any, place: str, columns: TableColumns) -> list[str]:
    cells = item
    if isinstance(item, dict):
        values = list(item.values())
        found = [values[side] for side in sides_in([*item], place, columns, keys=True)[0]]
        cells = [";".join(value) if _are_strings(value, 0) else value for value in found]
    if not _are_strings(cells):
        raise DataError(
            f'{place} should be an object like {{"source": "color", "target": "colour"}} or an array of strings, but '
            f"is {json.dumps(item, ensure_ascii=False)[:60]}: correct the line."
        )
    return list(cells)


def _are_strings(value: Any, least: int = 2) -> bool:
    return isinstance(value, list) and len(value) >= least and all(isinstance(one, str) for one in value)


def _is_json(path: Path) -> bool:
    return _ends(path, *ENDINGS[1:])


def _ends(path: Path, *endings: str) -> bool:
    return path.name.lower().removesuffix(".gz").endswith(endings)
