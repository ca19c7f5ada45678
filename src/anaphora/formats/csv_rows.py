"""Rows of values between commas, semicolons or tabs, quoted or not, over one line or several."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from anaphora.errors import DataError
from anaphora.formats.lines import BOM, LONGEST

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_LOOKED_AT = 20
"""Lines that tell what stands between values."""


def csv_records(lines: Iterable[str], where: str) -> Iterator[tuple[int, list[str], str, str]]:
    """The rows of the file ``where``: the number of the first line, the cells, the lines as given, and the delimiter.

    Lines have their ends or not. Raises DataError with the line for wrong quotes.
    """
    begin, length, taken = 0, 0, list[str]()
    rest = iter(lines)
    first = list(islice(rest, _LOOKED_AT))
    delimiter = _delimiter(first)

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
            begin, length = reader.line_num, 0
            taken.clear()
    except csv.Error as error:
        raise DataError(f"{where}:{begin + 1} is no CSV that can be read ({error}): check its quotes.") from None


def _delimiter(lines: Sequence[str]) -> str:
    """What stands between the values of most lines, a comma where that cannot be told."""
    bare = [_QUOTED.sub("", line) for line in lines]
    counts = {one: Counter(line.count(one) for line in bare) for one in ",;\t"}
    return max(counts, key=lambda one: max((rows for count, rows in counts[one].items() if count), default=0))
