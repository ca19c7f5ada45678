"""Pen strokes as JSON: a document, or an object or array a line (``.jsonl``, ``.ndjson``).

    {"text": "hi", "strokes": [[[x, y], [x, y], ..], ..]}     points of strokes; also {"x": .., "y": ..}, and with times
    {"word": "cat", "drawing": [[[x, ..], [y, ..]], ..]}      QuickDraw, simplified or raw (with times)
    [[dx, dy, lifted], ..]  or  {"points": [..]}              sketch-rnn's rows of 3, or of 5 with three pen bits
    [[[x, y], ..], ..]                                        strokes alone

A document holds one sequence, an array of them, or an object of arrays by split, of which the first is taken.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from anaphora.errors import DataError
from anaphora.formats.json_text import any_json, json_document
from anaphora.formats.lines import read_lines
from anaphora.formats.traces import Trace, ink, pen_rows

_KEYS = ("strokes", "drawing", "points")
_TEXTS = ("text", "word", "label")
_EXPECTED = 'an object like {"text": "..", "strokes": [[[x, y], ..], ..]}, or an array of strokes or of pen rows'


def read_stroke_json(path: Path) -> Iterator[Trace]:
    """Yield the sequences of a file; DataError with the line or number of the sequence, and as ``read_lines`` does."""
    if path.name.lower().removesuffix(".gz").endswith((".jsonl", ".ndjson")):
        for number, line in enumerate(read_lines(path, any_format=True), 1):
            if line.strip():
                yield _trace(any_json(line, f"{path}:{number}"), f"{path}:{number}")
        return
    whole = json_document(path)
    if isinstance(whole, Mapping) and not any(key in whole for key in _KEYS):
        whole = next((value for value in whole.values() if isinstance(value, list)), None)
    if _is_one(whole):
        yield _trace(whole, str(path))
        return
    if not isinstance(whole, list | None):
        raise DataError(f"{path} should be {_EXPECTED}, but is {whole!r:.40}.")
    for number, item in enumerate(whole or [], 1):
        yield _trace(item, f"{path}: sequence {number}")


def _is_one(value: Any) -> bool:
    """True if a document is one sequence: an object, pen rows, or strokes; not an array of sequences of pen rows."""
    depth = _depth(value)
    return isinstance(value, Mapping) or 0 < depth < 3 or (depth == 3 and not all(map(_has_bits, value)))


def _has_bits(rows: Any) -> bool:
    """True if rows end in pen bits, where strokes would have times."""
    return isinstance(rows, list) and all(
        isinstance(row, list) and row[2:] and all(bit in (0, 1) for bit in row[2:]) for row in rows
    )


def _depth(value: Any) -> int:
    """Levels of arrays above the first number, which an object of a point stands for too; 0 where there is none."""
    levels = 0
    while isinstance(value, list) and value:
        value, levels = value[0], levels + 1
    if isinstance(value, Mapping):
        return levels + 1 if "x" in value else 99
    return levels if isinstance(value, int | float) else 0


def _trace(item: Any, place: str) -> Trace:
    text, key = "", ""
    if isinstance(item, Mapping):
        text = next((item[name] for name in _TEXTS if isinstance(item.get(name), str)), "")
        key = next((name for name in _KEYS if name in item), "")
        item = item.get(key)
    if not isinstance(item, list) or not item:
        raise DataError(f"{place} should be {_EXPECTED}, with at least one stroke.")
    depth = 3 if key == "drawing" or [] in item else _depth(item)
    if depth == 2 and isinstance(item[0], list) and len(item[0]) in (3, 5):
        return pen_rows(place, item, text)
    if depth == 2:
        return ink(place, [item], text)
    if depth != 3 or not all(isinstance(stroke, list) for stroke in item):
        raise DataError(f"{place} should be {_EXPECTED}.")
    if key == "drawing" or _are_columns(item):
        item = [_points(stroke, f"{place}: stroke {number}") for number, stroke in enumerate(item, 1)]
    return ink(place, item, text)


def _are_columns(strokes: list[Any]) -> bool:
    """True if strokes are arrays of x, of y and perhaps of times, rather than of points."""
    return all(len(stroke) in (2, 3) and all(isinstance(one, list) for one in stroke) for stroke in strokes) and any(
        len(stroke[0]) > 3 for stroke in strokes
    )


def _points(columns: list[Any], place: str) -> list[list[float]]:
    if not all(isinstance(column, list) for column in columns) or len(columns) not in (2, 3):
        raise DataError(f"{place} should be an array of x, one of y and perhaps one of times.")
    if len({len(column) for column in columns}) > 1:
        raise DataError(f"{place} has {', '.join(str(len(column)) for column in columns)} numbers: give each as many.")
    return [list(point) for point in zip(*columns, strict=True)]
