"""Word vectors as text (word2vec, GloVe, the ``.vec`` of fastText): a word and its numbers a line, with spaces between.

The first line may be a header with two numbers, how many vectors follow and how many numbers each has. How many follow
is not looked at, so that a file may be cut short after any line. A word may hold spaces.
"""

import math
import re
from collections.abc import Container, Iterator
from itertools import islice
from pathlib import Path

from anaphora.errors import DataError
from anaphora.formats.lines import read_lines
from anaphora.wording import inflect

_COUNT = re.compile("[0-9]{1,15}")


def check_vectors(path: Path, size: int) -> None:
    """Refuse a file that is not there, or whose first line speaks of vectors of another size than ``size``.

    Raises DataError.
    """
    for line in islice(read_lines(path, replace_invalid=True), 1):
        _is_header(line, size, path)


def read_vectors(path: Path, size: int, wanted: Container[str]) -> Iterator[tuple[str, list[float]]]:
    """Yield the vectors of those words without a space that are ``wanted``, in the order of the file, a line at a time.

    Raises DataError as ``read_lines`` does, but for bytes that are no UTF-8, which no wanted word holds; for vectors of
    another ``size``; and for a line that is no word with that many numbers, as far as it has to be read.
    """
    for number, line in enumerate(read_lines(path, replace_invalid=True), 1):
        if number == 1 and _is_header(line, size, path):
            continue
        word, rest, numbers = _fields(line)
        if numbers < size:
            raise _fault(path, number, size, line)
        if numbers == size and word in wanted:
            try:
                vector = [float(field) for field in rest.split(" ")]
            except ValueError:
                raise _fault(path, number, size, line) from None
            if not all(map(math.isfinite, vector)):
                raise _fault(path, number, size, line)
            yield word, vector


def _fields(line: str) -> tuple[str, str, int]:
    """Return a word, its numbers as text, and how many they are."""
    word, _, rest = line.rstrip(" \t").partition(" ")
    return word, rest, rest.count(" ") + 1 if rest else 0


def _is_header(line: str, size: int, path: Path) -> bool:
    """True if the first line is one; DataError where it speaks of another size."""
    word, rest, numbers = _fields(line)
    is_header = numbers == 1 and _COUNT.fullmatch(word) is not None and _COUNT.fullmatch(rest) is not None
    came = int(rest) if is_header else numbers
    if numbers and came != size:
        raise DataError(
            f"{path} has vectors of {inflect(came, 'number')}, not {size}: use others, or embedding.size = {came}."
        )
    return is_header


def _fault(path: Path, number: int, size: int, line: str) -> DataError:
    return DataError(f"{path}:{number} should be a word and {size} finite numbers, but is '{line[:60]}': correct it.")
