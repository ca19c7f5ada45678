"""Corpora as streams: walked as often as needed, never held in memory, known by a fingerprint of their files."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Generic, TypeVar

from anaphora.data.filters import Filters
from anaphora.errors import DataError, refuse_os_errors
from anaphora.files import sha256
from anaphora.formats.entries.kinds import is_backward, read_entries
from anaphora.formats.lines import check_regular, read_lines
from anaphora.formats.strings import COLUMNS, STRINGS, StringFormat, lines_of, read_format, string_lines
from anaphora.formats.table_columns import TableColumns
from anaphora.formats.tsv import PLAIN, Layout, Rejected, Row, ignore, read_pairs
from anaphora.text.special_tokens import without_special_tokens

Pair = tuple[str, str]


@dataclass(frozen=True)
class AlignedFiles:
    """Two files whose lines belong together."""

    source: Path
    target: Path

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.source, self.target)

    def __iter__(self) -> Iterator[Pair]:
        """Return the pairs of lines without their special tokens; errors as for ``rows``."""
        return map(plain_pair, self.rows())

    lines = __iter__

    def rows(self, rejected: Rejected = ignore) -> Iterator[Row]:
        """Yield the pairs of lines as they are written, none of them ``rejected``.

        DataError with both counts, after the last common line, when they differ.
        """
        common, more = 0, [0, 0]
        for source, target in zip_longest(read_lines(self.source), read_lines(self.target)):
            if source is not None and target is not None:
                common += 1
                yield Row(common, source, target)
            else:
                more[1 if source is None else 0] += 1
        if any(more):
            counts = [common + count for count in more]
            raise DataError(
                f"Line-aligned files should have as many lines as each other, but {self.source} has {counts[0]:,} and "
                f"{self.target} has {counts[1]:,}: find the line that was lost or added."
            )


_CHOICE = "--columns {0} (data.columns = [{0}])"


@dataclass(frozen=True)
class PairFile:
    """One file of two columns: the first is the source, the second the target."""

    path: Path
    layout: Layout = PLAIN
    sides: tuple[str, str] = ("", "")
    """The languages of source and target, as a heading may call them."""

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.path,)

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the choices made within the file, for fingerprints."""
        return () if self.layout == PLAIN else (repr(self.layout),)

    def rows(self, rejected: Rejected = ignore) -> Iterator[Row]:
        """Return the pairs as they are written; ``rejected`` as for ``formats.tsv.read_pairs``."""
        return read_pairs(self.path, self.layout, sides=self.sides, rejected=rejected, choice=_CHOICE)

    def __iter__(self) -> Iterator[Pair]:
        """Return the pairs, lines of other than two columns left out."""
        return (pair for pair in self.lines() if pair is not None)

    def lines(self) -> Iterator[Pair | None]:
        """Yield the pair of every line, None for one of other than two columns."""
        between: list[None] = []
        for row in self.rows(lambda line, why: between.append(None)):
            yield from between
            between.clear()
            yield plain_pair(row)
        yield from between


@dataclass(frozen=True)
class StringFile(PairFile):
    """One file of pairs of strings, in its own format."""

    format: StringFormat = COLUMNS
    table: TableColumns = STRINGS
    """The columns by which it is read where it is a table."""
    found: TableColumns = STRINGS
    """Columns that the file has."""

    @classmethod
    def of(cls, path: Path, table: TableColumns = STRINGS) -> "StringFile":
        """Return a file in the format that its content tells; errors as for ``formats.strings.read_format``."""
        format_, found = read_format(lines_of(path), str(path), table)
        return cls(path, format=format_, table=table, found=found)

    @property
    def choices(self) -> tuple[str, ...]:
        """The format."""
        return (repr(self.format),)

    def rows(self, rejected: Rejected = ignore) -> Iterator[Row]:
        """Return the pairs with their lines; DataError for a line that is not in the format."""
        lines = string_lines(lines_of(self.path), str(self.path), self.table, rejected)
        return self.format.read(lines, str(self.path))


@dataclass(frozen=True)
class EntryFile(PairFile):
    """A translation memory, a document or a table with a heading: entries of two languages."""

    kind: str = ""
    """Kind of its files, one of ``formats.entries.kinds``."""

    @property
    def choices(self) -> tuple[str, ...]:
        """The kind, the languages that are taken, where a table has them, and whether a file goes the other way."""
        way = ("backward",) if is_backward(self.path, self.kind, self.sides) else ()
        return repr((self.kind, self.sides, self.layout)), *way

    def rows(self, rejected: Rejected = ignore) -> Iterator[Row]:
        """The pairs with the lines of their entries, other entries ``rejected``; errors as for ``read_entries``."""
        for entry in read_entries(self.path, self.kind, self.sides, self.layout):
            if entry.skipped:
                rejected(entry.line, entry.skipped)
            else:
                yield Row(entry.line, entry.source, entry.target)


def plain_pair(row: Row) -> Pair:
    """Return a pair without the special tokens at the ends of its lines."""
    return without_special_tokens(row.source), without_special_tokens(row.target)


PairFiles = AlignedFiles | PairFile


def every_pair(source: str, target: str) -> bool:
    return True


def both_sides(source: str, target: str) -> bool:
    """True if neither side is empty or white space."""
    return bool(source.strip()) and bool(target.strip())


@dataclass(frozen=True)
class PairCorpus:
    """Pairs of sentences from one or more files, those that ``keep`` wants; a pair's number is its place among them."""

    name: str
    files: tuple[PairFiles, ...]
    fingerprint: str
    """A sha256 of the files' bytes and of what was chosen from them."""
    count: int
    """Pairs in the corpus."""
    keep: Callable[[str, str], bool] = every_pair
    filters: Filters | None = None
    """Further filters of the pairs that have both sides."""
    pairs: tuple[Pair, ...] | None = field(default=None, kw_only=True, repr=False)
    """All of its pairs, where they are few among many that need not be read for them."""
    languages: tuple[str, str] = field(default=("", ""), kw_only=True)
    """Languages of source and target, where they are known."""
    synthetic: bool = field(default=False, kw_only=True)
    """True if a program wrote one of the sides."""
    members: "tuple[PairCorpus, ...]" = field(default=(), kw_only=True)
    """The corpora that it is put together from."""

    @property
    def parts(self) -> "tuple[PairCorpus, ...]":
        """The corpora that it is put together from, in their order, or itself."""
        return self.members or (self,)

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(path for file in self.files for path in file.paths)

    def __iter__(self) -> Iterator[Pair]:
        """Return the pairs, read again unless they are few."""
        if self.pairs is not None:
            return iter(self.pairs)
        return (pair for pair in self.lines() if pair is not None)

    examples = __iter__

    def place(self, example: Pair) -> str:
        """Return the place of a pair, for errors."""
        return self.name

    def lines(self) -> Iterator[Pair | None]:
        """Yield the pair of every line of the files, None for a line that is left out."""
        yield from chain.from_iterable(part.lines() for part in self.members)
        keeps = self.make_filter()
        for file in () if self.members else self.files:
            for pair in file.lines():
                yield pair if pair is not None and keeps(*pair) else None

    def make_filter(self) -> Callable[[str, str], bool]:
        """True if pairs are part of the corpus; to be called for every pair of the files once, in order."""
        if self.filters is None:
            return self.keep
        reason = self.filters.begin()

        def keeps(source: str, target: str) -> bool:
            dropped = both_sides(source, target) and reason(source, target)
            return not dropped and self.keep(source, target)

        return keeps

    def sources(self) -> Iterator[str]:
        """Return the source sides, read again."""
        return (source for source, _ in self)

    def targets(self) -> Iterator[str]:
        """Return the target sides, read again."""
        return (target for _, target in self)


def put_together(name: str, parts: Sequence[PairCorpus]) -> PairCorpus:
    """Return corpora one after the other, of other languages or written by a program; one alone as it is."""
    if len(parts) == 1:
        return parts[0]
    files = tuple(file for part in parts for file in part.files)
    digest = fingerprint_of([part.fingerprint for part in parts], [[*part.languages, part.synthetic] for part in parts])
    return PairCorpus(name, files, digest, sum(part.count for part in parts), members=tuple(parts))


@dataclass(frozen=True)
class TextCorpus:
    """Running text: the lines ``start`` to ``start + count`` of some files, one after the other."""

    name: str
    paths: tuple[Path, ...]
    fingerprint: str
    """A sha256 of the files' bytes and of what was chosen from them."""
    count: int
    """Lines in the corpus."""
    start: int = 0

    def __iter__(self) -> Iterator[str]:
        """Return the lines without their special tokens, read again; empty ones are part of the text."""
        every_line = (without_special_tokens(line) for path in self.paths for line in read_lines(path))
        return islice(every_line, self.start, self.start + self.count)

    lines = examples = __iter__

    def place(self, example: str) -> str:
        """Return the name of the corpus, for errors."""
        return self.name


Corpus = TypeVar("Corpus")


@dataclass(frozen=True)
class Splits(Generic[Corpus]):
    """Corpora to train, validate and test on; ``tests`` by name, perhaps none."""

    train: Corpus
    valid: Corpus
    tests: Mapping[str, Corpus]


def by_direction(splits: Splits[PairCorpus]) -> Iterator[Splits[PairCorpus]]:
    """Yield the splits of each pair of languages, without synthetic pairs."""
    valid = {part.languages: part for part in splits.valid.parts}
    for train in splits.train.parts:
        if not train.synthetic:
            tests = {name: one for name, one in splits.tests.items() if one.languages == train.languages}
            yield Splits(train, valid[train.languages], tests)


def file_digests(paths: Sequence[Path]) -> list[str]:
    """Return the SHA-256 of each file's bytes; DataError for one that cannot be read."""
    digests = []
    for path in paths:
        check_regular(path)
        with refuse_os_errors(f"The file {path} cannot be read: "), path.open("rb") as stream:
            digests.append(hashlib.file_digest(stream, "sha256").hexdigest())
    return digests


def fingerprint_of(digests: Sequence[str], *choices: object) -> str:
    """Return the SHA-256 of the digests of files, in order, and of what was chosen from them."""
    return sha256(json.dumps([digests, *choices]).encode())


def fingerprint(paths: Sequence[Path], *choices: object) -> str:
    """Return the SHA-256 of the files' bytes, in order, and of what was chosen from them."""
    return fingerprint_of(file_digests(paths), *choices)
