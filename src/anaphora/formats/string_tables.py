"""Pairs of strings in CSV and JSON lines, as the lines with tabs that ``formats.strings`` reads.

    "color";"colour"                                    rows of CSV, perhaps below a heading
    {"source": "color", "target": "colour"}             objects, perhaps with features: a string or a list of them
    ["color", "colour"]                                 arrays, in the order of columns

A heading and the keys of objects may have any order and other columns among them. Lines keep their numbers.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from anaphora.errors import DataError
from anaphora.formats.csv_rows import csv_rows
from anaphora.formats.json_text import any_json
from anaphora.formats.lines import read_lines

SIDES = ("source", "target", "features")
SIDE_NAMES = (
    ("source", "input", "word", "spelling", "grapheme", "graphemes", "lemma"),
    ("target", "output", "pronunciation", "phones", "phoneme", "phonemes", "transcription", "form"),
    ("features", "tags"),
)
"""What headings and keys call source, target and features."""
ENDINGS = (".csv", ".jsonl", ".ndjson")
"""Of files that are read so, ``.gz`` aside."""


class NamedColumns(NamedTuple):
    """Where a heading says that source, target and perhaps features are."""

    columns: tuple[int, ...]
    """Counted from 1; none where it does not name both sides."""
    width: int
    """Columns of a line."""


NO_COLUMNS = NamedColumns((), 0)
_SPACES = str.maketrans("\t\r\n", "   ")


def string_lines(path: Path) -> Iterator[str]:
    """The lines of a file; of CSV and JSON lines each row with tabs between its cells.

    Raises DataError as ``read_lines``, and with its line for a row that is no pair.
    """
    rows = _rows(path)
    if rows is None:
        yield from read_lines(path)
        return
    last = 0
    for number, cells in rows:
        yield from [""] * (number - last - 1)
        yield "\t".join(cell.translate(_SPACES) for cell in cells)
        last = number


def named_columns(path: Path) -> NamedColumns:
    """The columns that a heading or the keys of the first object of a file name."""
    if _is_json(path):
        first = next((item for _, item in _items(path)), None)
        keys = _keys(first) if isinstance(first, dict) else []
        return NamedColumns(tuple(range(1, len(keys) + 1)), len(keys))
    rows = _rows(path) or ((0, line.split("\t")) for line in read_lines(path))
    heads = next(rows, (0, []))[1]
    return NamedColumns(tuple(place + 1 for place in _places(heads)), len(heads))


def holds_strings(path: Path) -> bool:
    """Whether JSON lines hold pairs of strings, by the first one."""
    if not _is_json(path):
        return False
    first = next((item for _, item in _items(path)), None)
    return bool(_keys(first)) if isinstance(first, dict) else _are_strings(first)


def _places(heads: Sequence[Any]) -> list[int]:
    """Where a heading names source, target and perhaps features; none where it does not name both sides."""
    names = [str(head).strip().casefold() for head in heads]
    found = [next((names.index(name) for name in of_side if name in names), None) for of_side in SIDE_NAMES]
    return [] if None in found[:2] else [place for place in found if place is not None]


def _keys(item: dict[str, Any]) -> list[str]:
    keys = list(item)
    return [keys[place] for place in _places(keys)]


def _rows(path: Path) -> Iterator[tuple[int, list[str]]] | None:
    """The rows with their lines; None for a file that is neither CSV nor JSON lines."""
    if _is_json(path):
        return _json_rows(path)
    if _ends(path, ".csv"):
        return csv_rows(read_lines(path, any_format=True), str(path))
    return None


def _json_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Those of JSON lines, all as wide as the first at least."""
    width = 0
    for number, item in _items(path):
        cells = _cells(item, f"{path}:{number}")
        width = width or len(cells)
        yield number, [*cells, *[""] * (width - len(cells))]


def _items(path: Path) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(read_lines(path, any_format=True), 1):
        if line.strip():
            yield number, any_json(line, f"{path}:{number}")


def _cells(item: Any, place: str) -> list[str]:
    cells = item
    if isinstance(item, dict):
        keys = _keys(item)
        cells = [";".join(item[key]) if _are_strings(item[key], 0) else item[key] for key in keys]
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
