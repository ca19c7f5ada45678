"""Pairs of strings as their files have them: pronunciation dictionaries, tables of inflection, plain columns.

    dictionary   a word, white space, phones; perhaps probabilities between them. CMUdict (``;;;`` and `` #`` begin
                 comments, ``WORD(2)`` is another pronunciation of WORD) and MFA
    inflection   lemma, form and features between tabs, or features before form or lemma. UniMorph and SIGMORPHON
    columns      source and target between tabs, WikiPron; CSV, JSON lines, a JSON document

The format is known by what is in the file, never by its name. Features follow the lemma, a tab between them, so that
both are the source.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, tee
from pathlib import Path
from typing import Any, Literal, NamedTuple

from anaphora.errors import DataError
from anaphora.formats.json_text import any_json, json_document
from anaphora.formats.lines import read_lines
from anaphora.formats.table_columns import TableColumns, is_heading
from anaphora.formats.table_rows import TableRow, is_table, table_rows
from anaphora.formats.tsv import HEADING, Rejected, Row, ignore
from anaphora.languages import CODES
from anaphora.wording import inflect

SIDES = ("source", "target", "features")
SIDE_NAMES = (
    ("source", "src", "input", "word", "spelling", "grapheme", "graphemes", "lemma"),
    ("target", "tgt", "output", "pronunciation", "phones", "phoneme", "phonemes", "transcription", "form", "lemma"),
    ("features", "tags"),
)
"""Usual names of source, target and features in headings and keys."""
_JSON = (".json", ".jsonl", ".ndjson")
TABLE_ENDINGS = (".csv", *_JSON)
"""Endings of files that are read as tables, ``.gz`` aside."""
STRINGS = TableColumns(SIDE_NAMES)
"""Columns of source, target and features by their usual names."""
_SPACES = str.maketrans("\t\r\n", "   ")


def lines_of(path: Path) -> Iterator[str]:
    """Return the lines of a file, of a JSON document those of its items; errors as for ``read_lines``.

    A document is an array, or an object with the sources as its keys.
    """
    if is_table(path.name, ".json"):
        with suppress(DataError):  # it has lines, or its first is at fault
            document = json_document(path)
            items = [*document.items()] if isinstance(document, dict) else document
            return (json.dumps(item, ensure_ascii=False) for item in (items if isinstance(items, list) else [items]))
    return read_lines(path, any_format=is_table(path.name, *TABLE_ENDINGS))


def string_lines(
    lines: Iterable[str], file: str, columns: TableColumns = STRINGS, rejected: Rejected = ignore
) -> Iterator[str]:
    """Yield the lines of a file, that of a heading empty; of CSV and JSON lines each row with tabs between its cells.

    Of JSON objects, these are source, target and perhaps features alone. ``rejected`` receives a heading that names
    languages. Raises DataError with its line for a row that
    is no pair.

        "color";"colour"                                    rows of CSV, perhaps below a heading
        {"source": "color", "target": "colour"}             objects, perhaps with features: a string or a list of them
        ["color", "colour"]                                 arrays, in the order of columns

    A heading and the keys of objects may have any order and other columns among them. Lines keep their numbers.
    """
    last = width = 0
    for row in string_rows(lines, file):
        place = f"{file}:{row.number}"
        cells = row.cells if row.separator else _strings(row, place, columns)
        is_first, width = not width, width or len(cells)
        if is_first and cells and row.separator:
            if sides_in(row, place, columns)[1]:
                cells = []
            elif is_heading(cells) or (len(cells) == len({*cells}) == 2 and CODES.issuperset(cells)):
                cells = []
                rejected(row.number, HEADING)
        missing = 0 if row.separator else width - len(cells)  # features, of arrays
        yield from [""] * (row.number - last - 1)
        yield "\t".join([*(cell.translate(_SPACES) for cell in cells), *[""] * missing])
        last = row.number


def string_rows(lines: Iterable[str], file: str) -> Iterator[TableRow]:
    """Yield the rows of CSV, of JSON lines, whose items are objects or arrays, or of lines with tabs."""
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
    """True if JSON holds strings, by its first line or item, and neither strokes nor other numbers."""
    if not is_table(path.name, *_JSON):
        return False
    row = next(string_rows(lines_of(path), str(path)), None)
    others = (int, float, list) if row and row.keys is None else list  # objects have numbers besides
    return row is not None and not any(isinstance(cell, others) and not _are_strings(cell, 0) for cell in row.cells)


def _strings(row: TableRow, place: str, columns: TableColumns) -> list[str]:
    """Return the cells of an array, or those of source, target and perhaps features in an object."""
    cells = row.cells
    if row.keys is not None:
        found = [row.cells[side] for side in sides_in(row, place, columns)[0]]
        cells = [";".join(value) if _are_strings(value, 0) else value for value in found]
    if not _are_strings(cells):
        raise DataError(
            f'{place} should be an object like {{"source": "color", "target": "colour"}} or an array of strings, but '
            f"is {row.lines.strip()[:60]}: correct the line, or name its keys with the option columns."
        )
    return list(cells)


def _are_strings(value: Any, least: int = 2) -> bool:
    return isinstance(value, list) and len(value) >= least and all(isinstance(one, str) for one in value)


Kind = Literal["dictionary", "inflection", "columns"]

_SAMPLE = 1000
"""Lines that are looked at to recognise a format."""
_MOST = 0.9
"""Fraction of them that must look like it."""
_PHONES = 300
"""Different phones of a dictionary at most."""
_COMMENT = ";;;"
_REMARK = re.compile(r"\s#.*")
_VARIANT = re.compile(r"(.+)\(\d+\)")
_NUMBER = re.compile(r"(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE]-?\d++)?")
_FEATURES = re.compile(r"[A-Z0-9.+\-/{}()*_,|:=]+(?:;[A-Z0-9.+\-/{}()*_,|:=]*)*")


class StringFormat(NamedTuple):
    """Columns of the source, the target and perhaps the features in a line."""

    kind: Kind
    columns: tuple[int, ...] = (1, 2)
    """Columns of source, target and features between tabs, counted from 1; of a dictionary without tabs, those of word
    and first phone between spaces."""
    width: int = 2
    """Columns of a line; 0 where any number is right that has those."""
    tabs: bool = True
    """True if tabs stand between columns."""
    variants: bool = False
    """True if a number in parentheses marks another pronunciation of the word before it."""

    def read(self, lines: Iterable[str], where: str) -> Iterator[Row]:
        """Yield the pairs of lines that came from the file ``where``, comments and blank lines left out.

        Raises DataError, with the line, for one with other columns or with an empty source, target or features.
        """
        for number, line in enumerate(lines, 1):
            line = line if self.tabs else _REMARK.sub("", line)
            if not line.strip() or line.startswith(_COMMENT):
                continue
            cells = self._cells(line, f"{where}:{number}")
            for cell, name in zip(cells, SIDES, strict=False):
                if not cell.strip():
                    raise DataError(f"{where}:{number} has an empty {name}: fill it in, or remove the line.")
            word, target, *features = (cell.strip() for cell in cells)
            variant = _VARIANT.fullmatch(word) if self.variants else None
            yield Row(number, "\t".join([variant[1] if variant else word, *features]), target)

    def _cells(self, line: str, place: str) -> list[str]:
        """Source, target and perhaps features."""
        if not self.tabs:
            word, *rest = line.split()
            phones = rest[self.columns[1] - 2 :]
            if not phones:
                raise DataError(f"{place} should be a word and its phones, but has no phone: correct or remove it.")
            return [word, " ".join(phones)]
        cells = line.split("\t")
        while len(cells) > max(2, self.width) and not cells[-1].strip():
            cells.pop()
        needed = self.width or max(self.columns)
        if len(cells) < needed or (self.width and len(cells) > needed):
            raise DataError(
                f"{place} should have {inflect(needed, 'column')}{'' if self.width else ' or more'}, but has "
                f"{len(cells)}: correct the line, remove it, or name two with the option columns."
            )
        return [cells[column - 1] for column in self.columns]

    def describe(self, columns: Sequence[int | str] = ()) -> str:
        """Return how lines are read, in words; ``columns`` are those of the sides by name, where names are known."""
        named = zip(SIDES, columns or self.columns, strict=False)
        places = ", ".join(f"{name} in column {column}" for name, column in named)
        if not self.tabs:
            return "a pronunciation dictionary: a word and its phones between spaces"
        return f"{_NAMES[self.kind]}: {places}"


COLUMNS = StringFormat("columns")
"""Source and target between tabs."""

_NAMES: dict[Kind, str] = {
    "dictionary": "a pronunciation dictionary with probabilities",
    "inflection": "a table of inflection",
    "columns": "columns",
}


def read_format(lines: Iterable[str], file: str, columns: TableColumns = STRINGS) -> tuple[StringFormat, TableColumns]:
    """Return the format of a file by its first lines, and the columns that it has, none where it is no table.

    Errors as for ``recognize`` and ``string_lines``.
    """
    first, again = tee(lines)  # row by row, since a cell of CSV may have several lines
    row = next((row for row in string_rows(first, file) if row.cells), None)
    places, headed = sides_in(row, f"{file}:{row.number}", columns) if row else ([], False)
    numbers = [place + 1 for place in (range(len(places)) if row and row.keys else places)]
    found = recognize(islice(string_lines(again, file, columns), _SAMPLE), file, numbers)
    if row is None or (found.kind == "dictionary" and not places):
        return found, columns
    if places and not columns.chosen:
        found = found._replace(width=len(numbers) if row.keys else len(row.cells))
    places = places or [column - 1 for column in found.columns]
    return found, columns.found_in(row.heads, places, headed=headed)


def recognize(lines: Iterable[str], where: str, columns: Sequence[int] = ()) -> StringFormat:
    """Return the format of the file ``where`` by its first lines.

    ``columns`` name those of source, target and features.

    Raises DataError for a file of no format that is known.
    """
    sample = [line for line in lines if line.strip() and not line.startswith(_COMMENT)]
    if not sample:
        raise DataError(f"{where} should hold pairs of strings, but has none: add some, or name another file.")
    variants = _have_variants(sample)
    if columns:
        kind: Kind = "inflection" if len(columns) > 2 else "columns"
        return StringFormat(kind, tuple(columns), width=0, variants=variants)
    tabbed = [line.split("\t") for line in sample if "\t" in line]
    if len(tabbed) < len(sample) / 2:
        return _dictionary(sample, where)
    [(count, _)] = Counter(len(cells) for cells in tabbed).most_common(1)
    rows = [cells for cells in tabbed if len(cells) == count]
    if count > 2 and _are(_NUMBER, (cell for row in rows for cell in row[1:-1])):
        return StringFormat("dictionary", (1, count), count, variants=variants)
    for lemma, form, features in ((1, 2, 3), (1, 3, 2), (2, 3, 1)) if count >= 3 else ():
        cells = [row[features - 1].strip() for row in rows]
        if _are(_FEATURES, cells) and any(";" in cell for cell in cells):
            # a fourth column of UniMorph has the morphemes
            return StringFormat("inflection", (lemma, form, features), count)
    if count != 2:
        raise DataError(
            f"{where} has {inflect(count, 'column')} and is neither a dictionary nor a table of inflection: name those "
            f"of source, target and perhaps features with the option columns, by number or as in the first line."
        )
    return COLUMNS._replace(variants=variants)


def _dictionary(sample: Sequence[str], where: str) -> StringFormat:
    """Return a dictionary without tabs."""
    rows = [_REMARK.sub("", line).split() for line in sample]
    longest = max(map(len, rows))
    numbers = next(
        column
        for column in range(1, longest + 1)
        if not _are(_NUMBER, (row[column] for row in rows if len(row) > column))
    )
    phones = Counter(phone for row in rows for phone in row[numbers:])
    whole = sum(len(row) > numbers for row in rows)
    if whole < len(rows) / 2 or len(phones) > min(_PHONES, max(20, sum(phones.values()) / 2)):
        raise DataError(
            f"{where} is in no format that is known: expected a source, a tab and a target a line, a table of "
            f"inflection, or a pronunciation dictionary."
        )
    return StringFormat("dictionary", (1, numbers + 1), width=0, tabs=False, variants=True)


def _have_variants(sample: Sequence[str]) -> bool:
    """True if a word is there with a number in parentheses, and without."""
    words = {line.split("\t")[0].strip() for line in sample}
    found = (_VARIANT.fullmatch(word) for word in words)
    return any(variant and variant[1] in words for variant in found)


def _are(pattern: re.Pattern[str], cells: Iterable[str]) -> bool:
    """True if almost all cells that are not empty, at least one, are what a pattern says."""
    found = [bool(pattern.fullmatch(cell.strip())) for cell in cells if cell.strip()]
    return bool(found) and sum(found) >= _MOST * len(found)
