"""Rows of values between commas, semicolons or tabs, quoted or not, over one line or several."""

import csv
from collections.abc import Iterable, Iterator
from itertools import chain

from anaphora.errors import DataError
from anaphora.formats.lines import BOM, LONGEST


def csv_rows(lines: Iterable[str], where: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of the file ``where``, each with the number of its first line; DataError with it for wrong quotes."""
    return ((number, cells) for number, cells, _, _ in csv_records(lines, where))


def csv_records(lines: Iterable[str], where: str) -> Iterator[tuple[int, list[str], str, str]]:
    """The same with the lines of each row as they were given, with ends or without, and the delimiter."""
    begin, length, taken = 0, 0, list[str]()
    rest = iter(lines)
    first = next(rest, "")
    delimiter = _delimiter(first.removeprefix(BOM))

    def fed() -> Iterator[str]:
        nonlocal length
        for line in chain([first], rest):
            taken.append(line)
            length += len(line) + 1
            if length > LONGEST:
                raise DataError(
                    f"{where}:{begin + 1} begins a row of more than {LONGEST:,} characters: check its quotes."
                )
            text = line.removeprefix(BOM) if line is first else line
            yield text if text.endswith("\n") else text + "\n"

    reader = csv.reader(fed(), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            yield begin + 1, row, "".join(taken), delimiter
            begin, length = reader.line_num, 0
            taken.clear()
    except csv.Error as error:
        raise DataError(f"{where}:{begin + 1} is no CSV that can be read ({error}): check its quotes.") from None


def _delimiter(line: str) -> str:
    """What stands between the values of a line, a comma where it has one value or none that can be told."""
    try:
        return next((one for one in ",;\t" if len(next(csv.reader([line], delimiter=one))) > 1), ",")
    except csv.Error:
        return ","  # reading the row says what is wrong
