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

Files have millions of lines, so blocks of them are parsed into arrays. A block in which anything is unusual is read
again line by line, which finds what is wrong and where.
"""

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anaphora.errors import DataError
from anaphora.formats.lines import read_blocks, writing_text
from anaphora.wording import inflect

NEVER = -99.0
"""log10 p of what is never predicted, as these files write it."""

CAPITAL_UNKNOWN = "<UNK>"
"""Other spelling of ``<unk>``, which some toolkits write and read."""

Places = np.ndarray[Any, np.dtype[np.int32]]
Floats = np.ndarray[Any, np.dtype[np.float64]]

_BEGIN = "<s>"
_PACKED = "mmap lm "  # the first bytes of a KenLM binary
_DAMAGED = "the file is damaged; make or fetch it again"
_SPACES = re.compile("[ \t]+")  # a word may hold any other
_COUNT = re.compile("[0-9]{1,15}")
_PART_END = re.compile(rb"^\s*?[\n\\]", re.MULTILINE)
_LEAST = -1e37  # what is less is -inf as a float32
_SPACE, _TAB, _LINE_FEED = b" \t\n"
_IN_WORDS = (b"\r", b"\x0b", b"\x0c")  # bytes are split there too
_WRITTEN = 1 << 16  # n-grams that are written at once
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no column of a hash is lost


class ArpaGram(NamedTuple):
    log10: float
    """log10 p of its last word after the others."""
    words: tuple[str, ...]
    backoff: float
    """log10 of the weight with which it backs off as a context; 0 where the file says nothing."""


class ArpaOrder(NamedTuple):
    """The n-grams of one order, in the order of the file."""

    places_NK: Places
    """int32: the words of each, as positions in ``Arpa.words``."""
    log10_N: Floats
    """log10 p of the last word after the others."""
    backoffs_N: Floats
    """log10 of the weight with which each backs off as a context; 0 where the file says nothing."""


class Arpa(NamedTuple):
    """A model as a file has it."""

    words: Sequence[str]
    """Every word once. Those of a file that was read come in the order in which they first occur, so those of order 1
    come first."""
    orders: Sequence[ArpaOrder]
    """Orders from 1 up."""

    def grams(self, order: int) -> Iterator[ArpaGram]:
        """Yield the n-grams of one order as words."""
        places_NK, log10_N, backoffs_N = self.orders[order - 1]
        for start in range(0, len(places_NK), _WRITTEN):
            columns = (numbers[start : start + _WRITTEN].tolist() for numbers in (log10_N, places_NK, backoffs_N))
            for log10, places, backoff in zip(*columns, strict=True):
                yield ArpaGram(log10, tuple(self.words[place] for place in places), backoff)


def read_arpa(path: Path) -> Arpa:
    """Return the n-grams of a file, which may be gzipped.

    Raises DataError, with the line, for a file that is not one or not whole, that lists an n-gram twice, or that gives
    one of the highest order a back-off weight.
    """
    lines, vocabulary = _Lines(path), _Vocabulary()
    counts = _header(lines)
    orders = [
        _section(lines, order, count, vocabulary, is_last=order == len(counts)) for order, count in enumerate(counts, 1)
    ]
    for line in lines:
        if line.strip() == "\\end\\":
            break
        if line.strip():
            raise _fault(lines, "\\end\\", line)
    else:
        raise DataError(f"{path} should end with \\end\\, but breaks off: it is not whole; make or fetch it again.")
    for line in lines:  # to the last byte, whose checksum an archive ends with
        if line.strip():
            raise _fault(lines, "nothing after \\end\\", line)
    return Arpa([word.decode() for word in vocabulary], orders)


def write_arpa(path: Path, model: Arpa) -> None:
    """Write a model whole or not at all, gzipped where the name ends in ``.gz``; DataError when that fails."""
    with writing_text(path) as write:
        write("\\data\\\n")
        for order, grams in enumerate(model.orders, 1):
            write(f"ngram {order}={len(grams.log10_N)}\n")
        for order in range(1, len(model.orders) + 1):
            write(f"\n\\{order}-grams:\n")
            for log10, words, backoff in model.grams(order):
                behind = f"\t{backoff:.7g}" if backoff else ""
                write(f"{log10:.7g}\t{' '.join(words)}{behind}\n")
        write("\n\\end\\\n")


class _Vocabulary(dict[bytes, int]):
    """The position of every word in the order in which they first occur."""

    def __missing__(self, word: bytes) -> int:
        self[word] = len(self)
        return self[word]


class _Lines:
    """The lines of a file, one by one, or as many at once as a part has of a block."""

    def __init__(self, path: Path) -> None:
        self.path, self.number = path, 0
        """``number`` is that of the last line that was read."""
        self._blocks, self._block, self._at = read_blocks(path), b"", 0

    def __iter__(self) -> Iterator[str]:
        while self._fill():
            end = self._block.index(b"\n", self._at)
            line = self._block[self._at : end].decode()
            self._at, self.number = end + 1, self.number + 1
            yield line

    def unread(self, line: str) -> None:
        """Give back the last line, which is the next again."""
        self._at, self.number = self._at - len(line.encode()) - 1, self.number - 1

    def of_part(self) -> bytes:
        """Lines up to one that is empty or begins with a backslash, which are read; none where that comes next."""
        end = _PART_END.search(self._block, self._at) if self._fill() else None
        part = self._block[self._at : end.start() if end else len(self._block)]
        self._at, self.number = self._at + len(part), self.number + part.count(b"\n")
        return part

    def _fill(self) -> bool:
        """True if there is another line."""
        if self._at == len(self._block):
            self._block, self._at = next(self._blocks, b""), 0
        return bool(self._block)


def _header(lines: _Lines) -> list[int]:
    """Return the number of n-grams of every order."""
    path = lines.path
    for line in lines:
        if line.strip() == "\\data\\":
            break
        if lines.number == 1 and line.startswith(_PACKED):
            raise DataError(f"{path} is a KenLM binary, which KenLM alone reads: give the ARPA file it was made from.")
    else:
        raise DataError(f"{path} should be an ARPA file, but has no line \\data\\: is it a model in that format?")
    counts: list[int] = []
    for line in lines:
        if counts and (not line.strip() or line.lstrip().startswith("\\")):
            lines.unread(line)
            return counts
        if not line.strip():
            continue
        name, _, count = line.partition("=")
        if name.split() != ["ngram", str(len(counts) + 1)] or not _COUNT.fullmatch(count.strip()):
            raise _fault(lines, f"ngram {len(counts) + 1}=COUNT", line)
        counts.append(int(count))
    raise DataError(f"{path} breaks off in its header: it is not whole; make or fetch it again.")


def _section(lines: _Lines, order: int, count: int, vocabulary: _Vocabulary, *, is_last: bool) -> ArpaOrder:
    for line in lines:
        if line.strip() == f"\\{order}-grams:":
            break
        if line.strip():
            raise _fault(lines, f"\\{order}-grams:", line)
    path, first, blocks = lines.path, lines.number + 1, [_arrays([], order, vocabulary)]
    while part := lines.of_part():
        block = _parse(part, order, vocabulary, backs_off=not is_last)
        if block is None:
            numbered = enumerate(part.decode().split("\n")[:-1], lines.number + 1 - part.count(b"\n"))
            grams = [_gram(line, order, f"{path}:{number}", backs_off=not is_last) for number, line in numbered]
            block = _arrays(grams, order, vocabulary)
        blocks.append(block)
    found = ArpaOrder(*(np.concatenate(columns) for columns in zip(*blocks, strict=True)))
    repeated = _find_repeated(found.places_NK)
    if repeated is not None:
        words = list(vocabulary)
        gram = b" ".join(words[place] for place in found.places_NK[repeated]).decode()
        raise DataError(f"{path}:{first + repeated} repeats the n-gram '{gram[:60]}': {_DAMAGED}.")
    if len(found.log10_N) != count:
        raise DataError(
            f"{path} should have {inflect(count, 'n-gram')} of order {order}, as its header says, but has "
            f"{len(found.log10_N):,}: {_DAMAGED}."
        )
    return found


def _parse(part: bytes, order: int, vocabulary: _Vocabulary, *, backs_off: bool) -> ArpaOrder | None:
    """Many lines at once; None where one of them is not as most are."""
    if any(sign in part for sign in _IN_WORDS):
        return None
    signs, fields = np.frombuffer(part, np.uint8), np.array(part.split(), dtype=object)
    is_gap = (signs == _SPACE) | (signs == _TAB) | (signs == _LINE_FEED)
    ends = np.flatnonzero(is_gap[1:] & ~is_gap[:-1]) + 1
    sizes_N = np.diff(np.searchsorted(ends, np.flatnonzero(signs == _LINE_FEED), "right"), prepend=0)
    backing_N = sizes_N == order + 2
    if not (backing_N | (sizes_N == order + 1)).all():
        return None
    first_N = np.cumsum(sizes_N) - sizes_N
    backoffs_N = np.zeros(len(first_N))
    try:
        log10_N = np.array(list(map(float, fields[first_N])))
        backoffs_N[backing_N] = list(map(float, fields[first_N[backing_N] + order + 1]))
    except ValueError:
        return None
    if not ((log10_N > _LEAST) & (log10_N <= 0) & (abs(backoffs_N) < 200)).all() or (
        backoffs_N.any() and not backs_off
    ):
        return None
    words = fields[(first_N[:, None] + np.arange(1, order + 1)).ravel()]
    places = np.fromiter(map(vocabulary.__getitem__, words), np.int32, len(words))
    return ArpaOrder(places.reshape(-1, order), log10_N, backoffs_N)


def _arrays(grams: Sequence[ArpaGram], order: int, vocabulary: _Vocabulary) -> ArpaOrder:
    places = [vocabulary[word.encode()] for gram in grams for word in gram.words]
    log10_N, backoffs_N = np.array([(gram.log10, gram.backoff) for gram in grams]).reshape(-1, 2).T
    return ArpaOrder(np.array(places, np.int32).reshape(-1, order), log10_N, backoffs_N)


def _find_repeated(places_NK: Places) -> int | None:
    """Return the place of the first repeated n-gram."""
    keys_N = np.zeros(len(places_NK), np.uint64)
    for places_N in places_NK.T:
        keys_N = keys_N * _MULTIPLIER + places_N.astype(np.uint64)
    _, index_N, counts_N = np.unique(keys_N, return_inverse=True, return_counts=True)
    seen = set[tuple[int, ...]]()
    for candidate in np.flatnonzero(counts_N[index_N] > 1).tolist():  # equal hashes may be of different n-grams
        gram = tuple(places_NK[candidate].tolist())
        if gram in seen:
            return int(candidate)
        seen.add(gram)
    return None


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


def _fault(lines: _Lines, expected: str, line: str) -> DataError:
    return DataError(f"{lines.path}:{lines.number} should read {expected}, but is '{line[:60]}': {_DAMAGED}.")
