"""Pairs of strings in CSV and JSON lines, as the lines with tabs that ``formats.strings`` reads.

    "color";"colour"                                    rows of CSV, perhaps below a heading
    {"source": "color", "target": "colour"}             objects, perhaps with features: a string or a list of them
    ["color", "colour"]                                 arrays, in the order of columns

A heading and the keys of objects may have any order and other columns among them. Lines keep their numbers.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from anaphora.errors import DataError
from anaphora.formats.headings import is_heading
from anaphora.formats.json_text import any_json
from anaphora.formats.lines import read_lines
from anaphora.formats.table_columns import TableColumns
from anaphora.formats.table_rows import TableRow, is_table, table_rows

SIDES = ("source", "target", "features")
SIDE_NAMES = (
    ("source", "input", "word", "spelling", "grapheme", "graphemes", "lemma"),
    ("target", "output", "pronunciation", "phones", "phoneme", "phonemes", "transcription", "form"),
    ("features", "tags"),
)
"""What headings and keys call source, target and features."""
ENDINGS = (".csv", ".jsonl", ".ndjson")
"""Of files that are read so, ``.gz`` aside."""
_JSON = ENDINGS[1:]
STRINGS = TableColumns(SIDE_NAMES)
"""Columns of source, target and features by their usual names."""
_SPACES = str.maketrans("\t\r\n", "   ")


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a file; errors as for ``read_lines``."""
    return read_lines(path, any_format=is_table(path.name, *ENDINGS))


def string_lines(lines: Iterable[str], file: str, columns: TableColumns = STRINGS) -> Iterator[str]:
    """The lines of a file, that of a heading empty; of CSV and JSON lines each row with tabs between its cells.

    Of JSON objects, these are source, target and perhaps features alone. Raises DataError with its line for a row that
    is no pair.
    """
    last = width = 0
    for row in string_rows(lines, file):
        place = f"{file}:{row.number}"
        cells = row.cells if row.separator else _strings(row, place, columns)
        is_first, width = not width, width or len(cells)
        if is_first and cells and row.separator and (sides_in(row, place, columns)[1] or is_heading(cells)):
            cells = []
        missing = 0 if row.separator else width - len(cells)  # features, of arrays
        yield from [""] * (row.number - last - 1)
        yield "\t".join([*(cell.translate(_SPACES) for cell in cells), *[""] * missing])
        last = row.number


def string_rows(lines: Iterable[str], file: str) -> Iterator[TableRow]:
    """The rows of CSV, of JSON lines, whose items are objects or arrays, or of lines with tabs."""
    if not is_table(file, *_JSON):
        yield from table_rows(lines, file)
        return
    for number, line in enumerate(lines, 1):
        if line.strip():
            item = any_json(line, f"{file}:{number}")
            cells = [*item.values()] if isinstance(item, dict) else item if isinstance(item, list) else [item]
            yield TableRow(number, line, cells, [*item] if isinstance(item, dict) else None)


def sides_in(row: TableRow, place: str, columns: TableColumns = STRINGS) -> tuple[list[int], bool]:
    """Places of source, target and perhaps features in a first row, none where nothing says; True for a heading.

    Errors as for ``TableColumns.find``.
    """
    if not row.separator and row.keys is None:
        return [], False
    sides = [range(len(columns.chosen))] if columns.chosen else [range(3), range(2)]
    found = (columns.find(row.heads, place, of_these, keys=row.keys is not None) for of_these in sides)
    return next((one for one in found if one is not None), ([], False))


def holds_strings(path: Path) -> bool:
    """Whether JSON lines hold pairs of strings, by the first one."""
    if not is_table(path.name, *_JSON):
        return False
    row = next(string_rows(lines_of(path), str(path)), None)
    return row is not None and (bool(sides_in(row, str(path))[0]) or (row.keys is None and _are_strings(row.cells)))


def _strings(row: TableRow, place: str, columns: TableColumns) -> list[str]:
    """The cells of an array, or those of source, target and perhaps features in an object."""
    cells = row.cells
    if row.keys is not None:
        found = [row.cells[side] for side in sides_in(row, place, columns)[0]]
        cells = [";".join(value) if _are_strings(value, 0) else value for value in found]
    if not _are_strings(cells):
        raise DataError(
            f'{place} should be an object like {{"source": "color", "target": "colour"}} or an array of strings, but '
            f"is {row.lines.strip()[:60]}: correct the line."
        )
    return list(cells)


def _are_strings(value: Any, least: int = 2) -> bool:
    return isinstance(value, list) and len(value) >= least and all(isinstance(one, str) for one in value)
