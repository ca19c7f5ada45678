"""Rows of values between commas, semicolons or tabs, quoted or not, over one line or several."""

import csv
from collections.abc import Iterator
from itertools import chain

from anaphora.errors import DataError
from anaphora.formats.lines import LONGEST


def csv_rows(lines: Iterator[str], where: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of the file ``where``, each with the number of its first line; DataError with it for wrong quotes."""
    begin = length = 0
    first = next(lines, "")
    delimiter = _delimiter(first)

    def fed() -> Iterator[str]:
        nonlocal length
        for line in chain([first], lines):
            length += len(line) + 1
            if length > LONGEST:
                raise DataError(
                    f"{where}:{begin + 1} begins a row of more than {LONGEST:,} characters: check its quotes."
                )
            yield line + "\n"

    reader = csv.reader(fed(), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            yield begin + 1, row
            begin, length = reader.line_num, 0
    except csv.Error as error:
        raise DataError(f"{where}:{begin + 1} is no CSV that can be read ({error}): check its quotes.") from None


def _delimiter(line: str) -> str:
    """What stands between the values of a line, a comma where it has one value or none that can be told."""
    try:
        return next((one for one in ",;\t" if len(next(csv.reader([line], delimiter=one))) > 1), ",")
    except csv.Error:
        return ","  # reading the row says what is wrong
