"""Word vectors as text (word2vec, GloVe, the ``.vec`` of fastText): a word and its numbers a line, with spaces between.

The first line may be a header with two numbers, how many vectors follow and how many numbers each has. How many follow
is not looked at, so that a file may be cut short behind any line. A word may hold spaces.
"""

import math
from collections.abc import Container, Iterator
from pathlib import Path

from anaphora.errors import DataError
from anaphora.formats.lines import read_lines


def read_vectors(path: Path, size: int, wanted: Container[str]) -> Iterator[tuple[str, list[float]]]:
    """The vectors of those words without a space that are ``wanted``, in the order of the file, a line at a time.

    Raises DataError as ``read_lines`` does, but for bytes that are no UTF-8, which no wanted word holds; for vectors of
    another ``size``; and for a line that is no word with so many numbers, as far as it has to be read.
    """
    for number, line in enumerate(read_lines(path, replace_invalid=True), 1):
        word, _, rest = line.rstrip(" \t").partition(" ")
        numbers = rest.count(" ") + 1 if rest else 0
        if number == 1 and numbers:
            is_header = numbers == 1 and word.isdecimal() and rest.isdecimal()
            _check_size(int(rest) if is_header else numbers, size, path)
            if is_header:
                continue
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


def _check_size(came: int, size: int, path: Path) -> None:
    if came != size:
        raise DataError(
            f"{path} should hold vectors of {size} numbers, but its first line speaks of {came}: give other vectors, "
            f"or set embedding.size = {came}."
        )


def _fault(path: Path, number: int, size: int, line: str) -> DataError:
    return DataError(
        f"{path}:{number} should be a word and {size} finite numbers, with a space between them, but reads "
        f"'{line[:60]}': mend or remove it."
    )
