"""Rows of tables with their lines as they stand in the file, so that a row can be written back with one cell more."""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from anaphora.errors import DataError
from anaphora.formats.json_text import json_objects
from anaphora.formats.lines import BOM, LONGEST
from anaphora.formats.tagged import content_of, split_end
from anaphora.wording import inflect

_QUOTED = re.compile(r'(?:^|(?<=[,;\t\n]))"(?:[^"]|"")*"')
"""A cell in double quotes, perhaps of several lines."""
_STATED = re.compile(rf'{BOM}?"?sep=(.)"?\s*')
"""A line that states what stands between cells."""
_LOOKED_AT = 20
"""Lines that tell what stands between values."""


def csv_records(lines: Iterable[str], where: str) -> Iterator[tuple[int, list[str], str, str]]:
    """The rows of the file ``where``: the number of the first line, the cells, the lines as given, and the delimiter.

    A first line that states the delimiter, as for Excel (``sep=;``), is a line of the first row. Lines have their ends
    or not. Raises DataError with the line for wrong quotes.
    """
    begin, length, taken = 0, 0, list[str]()
    rest = iter(lines)
    first = list(islice(rest, _LOOKED_AT))
    if stated := _STATED.fullmatch(first[0]) if first else None:
        taken.append(first.pop(0))
        begin = 1
    delimiter, above = stated[1] if stated else _delimiter(first), begin

    def fed() -> Iterator[str]:
        nonlocal length
        for line in chain(first, rest):
            taken.append(line)
            length += len(line) + 1
            if length > LONGEST:
                raise DataError(
                    f"{where}:{begin + 1} begins a row of more than {LONGEST:,} characters: check its quotes."
                )
            text = line.removeprefix(BOM)
            yield text if text.endswith("\n") else text + "\n"

    reader = csv.reader(fed(), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            yield begin + 1, row, "".join(taken), delimiter
            begin, length = above + reader.line_num, 0
            taken.clear()
    except csv.Error as error:
        raise DataError(f"{where}:{begin + 1} is no CSV that can be read ({error}): check its quotes.") from None


def _delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter of most lines; a comma where that cannot be found."""
    text = "".join(line if line.endswith("\n") else line + "\n" for line in lines).removeprefix(BOM)
    bare = _QUOTED.sub("", text).split("\n")
    counts = {one: Counter(line.count(one) for line in bare) for one in ",;\t"}
    return max(counts, key=lambda one: max((rows for count, rows in counts[one].items() if count), default=0))


_JSON = (".jsonl", ".ndjson", ".json")
ENDINGS = (".tsv", ".csv", *_JSON)
"""Endings of files that are tables, ``.gz`` aside."""


def is_table(file: str, *endings: str) -> bool:
    """True if the name of a file says that it is a table, of one of these kinds."""
    return file.lower().removesuffix(".gz").endswith(endings or ENDINGS)


@dataclass(frozen=True)
class TableRow:
    """A row of a table, or a blank line."""

    number: int
    """The number of its first line, from 1."""
    lines: str
    """Lines as they were read."""
    cells: Sequence[Any]
    """Values: those of CSV and of lines with tabs are strings. None in a blank line."""
    keys: Sequence[str] | None = None
    """Keys of a JSON object."""
    separator: str = ""
    """The separator of cells; empty in JSON."""
    quotes: bool = False
    """True if cells may stand in double quotes."""

    @property
    def heads(self) -> Sequence[str]:
        """The keys of an object, else the cells, which may be a heading."""
        return self.cells if self.keys is None else self.keys

    def with_cell(self, value: str | Sequence[str], name: str) -> str:
        """Return the lines of the row with one value more, whose key is ``name`` in an object.

        A cell holds one string.
        """
        content, end = split_end(self.lines)
        if not self.separator:
            inner = content.rstrip()
            key = "" if self.keys is None else f"{json.dumps(name, ensure_ascii=False)}: "
            more = f"{key}{json.dumps(value, ensure_ascii=False)}"
            return f"{inner[:-1].rstrip()}, {more}{inner[-1]}{end}"
        cell, given = str(value), content.removeprefix(BOM)
        if not self.quotes:
            cell = cell.replace("\t", " ")
        elif (given.startswith('"') and given.endswith('"')) or any(one in cell for one in f'{self.separator}"\r\n'):
            cell = '"' + cell.replace('"', '""') + '"'
        return f"{content}{self.separator}{cell}{end}"


def table_rows(lines: Iterable[str], file: str, *, arrays: bool = False) -> Iterator[TableRow]:
    """Yield the rows of a table: CSV and JSON by the name of the ``file``, else lines with tabs between their cells.

    ``lines`` may have their ends and a byte order mark. With ``arrays``, rows of JSON may be arrays of strings.
    Raises DataError with the line for what is no CSV or JSON.
    """
    if is_table(file, *_JSON):
        for number, line, item in json_objects(lines, file, arrays=arrays):
            keyed = isinstance(item, dict)
            yield TableRow(number, line, [*item.values()] if keyed else item, [*item] if keyed else None)
    elif is_table(file, ".csv"):
        for number, cells, text, separator in csv_records(lines, file):
            yield TableRow(number, text, cells, separator=separator, quotes=True)
    else:
        for number, line in enumerate(lines, 1):
            content = content_of(line)
            yield TableRow(number, line, content.split("\t") if content.strip() else [], separator="\t")


def read_sides(
    rows: Iterable[TableRow], where: str, find: Callable[[TableRow, str], tuple[Sequence[int], bool]]
) -> Iterator[tuple[TableRow, list[Any] | None]]:
    """Yield the rows of the table ``where``, each with its values in some columns; None for a heading and blank lines.

    ``find`` returns the places of these columns in a first row, or an object, which stands at a place, and True if it
    is a heading. Raises DataError with its line for a row of another width than the first, and for a second heading.
    """
    first: TableRow | None = None
    for row in rows:
        place = f"{where}:{row.number}"
        if row.keys is None and not any(row.cells):
            yield row, None
            continue
        if first is None or row.keys is not None:
            first, (places, headed) = row, find(row, place)
        elif headed and row.cells == first.cells:
            raise DataError(f"{place} repeats the heading in line {first.number}: remove the line.")
        if len(row.cells) != len(first.cells):
            raise DataError(
                f"{place} has {inflect(len(row.cells), 'column')}, but line {first.number} has {len(first.cells)}: "
                f"give every row the same columns."
            )
        yield row, None if headed and row is first and row.keys is None else [row.cells[number] for number in places]
