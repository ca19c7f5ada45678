r"""ARPA files: back-off n-gram models as text, as every n-gram toolkit reads and writes them.

    \data\
    ngram 1=3
    ngram 2=1

    \1-grams:
    -99	<s>	-0.30103
    -0.4771213	</s>
    -0.1760913	a

    \2-grams:
    -0.1	<s> a

    \end\

A line has log10 p, the words, and log10 of the back-off weight where that is not 0, with tabs between the three. The
empty lines may be missing, and ``<s>``, which is never predicted, may have -inf.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

from anaphora.errors import DataError
from anaphora.formats.lines import packed_by_name, read_lines
from anaphora.formats.replacing import replacing
from anaphora.wording import counted

NEVER = -99.0
"""log10 p of what is never predicted, as these files write it."""

CAPITAL_UNKNOWN = "<UNK>"
"""What some toolkits call ``<unk>``, and others read as such."""

_BEGIN = "<s>"
_PACKED = "mmap lm "  # the first bytes of a KenLM binary
_DAMAGED = "the file is damaged; make or fetch it again"
_SPACES = re.compile("[ \t]+")  # a word may hold any other
_COUNT = re.compile("[0-9]{1,15}")
_LEAST = -1e37  # what is less is -inf as a float32


Lines = Iterator[tuple[int, str]]
"""Lines of a file with their numbers."""

Ahead = list[tuple[int, str]]
"""The line that was read too far, where there was one."""


class ArpaGram(NamedTuple):
    log10: float
    """log10 p of its last word after the others."""
    words: tuple[str, ...]
    backoff: float
    """log10 of the weight with which it backs off as a context; 0 where the file says nothing."""


def read_arpa(path: Path) -> list[list[ArpaGram]]:
    """The n-grams of every order, from 1 up, in the order of the file, which may be gzipped.

    Raises DataError, with the line, for a file that is not one or not whole, that lists an n-gram twice, or that gives
    one of the highest order a back-off weight.
    """
    lines = enumerate(read_lines(path), 1)
    counts, ahead = _header(lines, path)
    orders = []
    for order, count in enumerate(counts, 1):
        grams, ahead = _section(chain(ahead, lines), order, count, path, is_last=order == len(counts))
        orders.append(grams)
    for number, line in chain(ahead, lines):
        if line.strip() == "\\end\\":
            break
        if line.strip():
            raise _fault(path, number, "\\end\\", line)
    else:
        raise DataError(f"{path} should end with \\end\\, but breaks off: it is not whole; make or fetch it again.")
    for number, line in lines:  # to the last byte, whose checksum an archive ends with
        if line.strip():
            raise _fault(path, number, "nothing after \\end\\", line)
    return orders


def write_arpa(path: Path, orders: Sequence[Sequence[ArpaGram]]) -> None:
    """Write a model whole or not at all, gzipped where the name ends in ``.gz``; DataError when that fails."""
    with replacing(path) as plain, packed_by_name(path, plain) as stream:
        _write(stream, orders)


def _write(stream: BinaryIO, orders: Sequence[Sequence[ArpaGram]]) -> None:
    text = TextIOWrapper(stream, encoding="utf-8", newline="\n", write_through=True)
    text.write("\\data\\\n")
    text.writelines(f"ngram {order}={len(grams)}\n" for order, grams in enumerate(orders, 1))
    for order, grams in enumerate(orders, 1):
        text.write(f"\n\\{order}-grams:\n")
        text.writelines(_lines(grams))
    text.write("\n\\end\\\n")
    text.flush()
    text.detach()


def _lines(grams: Iterable[ArpaGram]) -> Iterator[str]:
    for log10, words, backoff in grams:
        behind = f"\t{backoff:.7g}" if backoff else ""
        yield f"{log10:.7g}\t{' '.join(words)}{behind}\n"


def _header(lines: Lines, path: Path) -> tuple[list[int], Ahead]:
    """How many n-grams there are of every order."""
    for number, line in lines:
        if line.strip() == "\\data\\":
            break
        if number == 1 and line.startswith(_PACKED):
            raise DataError(f"{path} is a KenLM binary, which KenLM alone reads: give the ARPA file it was made from.")
    else:
        raise DataError(f"{path} should be an ARPA file, but has no line \\data\\: is it a model in that format?")
    counts: list[int] = []
    for number, line in lines:
        if counts and _ends_a_part(line):
            return counts, [(number, line)]
        if not line.strip():
            continue
        name, _, count = line.partition("=")
        if name.split() != ["ngram", str(len(counts) + 1)] or not _COUNT.fullmatch(count.strip()):
            raise _fault(path, number, f"ngram {len(counts) + 1}=COUNT", line)
        counts.append(int(count))
    raise DataError(f"{path} breaks off in its header: it is not whole; make or fetch it again.")


def _section(lines: Lines, order: int, count: int, path: Path, *, is_last: bool) -> tuple[list[ArpaGram], Ahead]:
    for number, line in lines:
        if line.strip() == f"\\{order}-grams:":
            break
        if line.strip():
            raise _fault(path, number, f"\\{order}-grams:", line)
    grams, seen, ahead = list[ArpaGram](), set[tuple[str, ...]](), Ahead()
    for number, line in lines:
        if _ends_a_part(line):
            ahead = [(number, line)]
            break
        gram = _gram(line, order, f"{path}:{number}", backs_off=not is_last)
        if gram.words in seen:
            raise DataError(f"{path}:{number} repeats the n-gram '{' '.join(gram.words)[:60]}': {_DAMAGED}.")
        seen.add(gram.words)
        grams.append(gram)
    if len(seen) != count:
        raise DataError(
            f"{path} should have {counted(count, 'n-gram')} of order {order}, as its header says, but has "
            f"{len(seen):,}: "
            f"{_DAMAGED}."
        )
    return grams, ahead


def _ends_a_part(line: str) -> bool:
    """Whether a line is empty, or names the next part."""
    return not line.strip() or line.lstrip().startswith("\\")


def _gram(line: str, order: int, where: str, *, backs_off: bool) -> ArpaGram:
    fields = _SPACES.split(line.strip(" \t"))
    try:
        log10 = float(fields[0])
        backoff = float(fields[order + 1]) if len(fields) == order + 2 else 0.0
    except (ValueError, IndexError):
        log10 = backoff = 1.0
    if log10 == -math.inf and fields[1:2] == [_BEGIN] and order == 1:
        log10 = NEVER
    # nan is in no range
    if not _LEAST < log10 <= 0 or len(fields) - order not in (1, 2) or not -200 < backoff < 200:
        raise DataError(
            f"{where} should read LOG10 {'WORD ' * order}[BACKOFF], finite numbers, the first at most 0 and the last "
            f"between -200 and 200, but is '{line[:60]}': {_DAMAGED}."
        )
    if backoff and not backs_off:
        raise DataError(
            f"{where} should have no back-off weight, since no n-gram is longer, but has {fields[-1]}: {_DAMAGED}."
        )
    return ArpaGram(log10, tuple(fields[1 : order + 1]), backoff)


def _fault(path: Path, number: int, expected: str, line: str) -> DataError:
    return DataError(f"{path}:{number} should read {expected}, but is '{line[:60]}': {_DAMAGED}.")
