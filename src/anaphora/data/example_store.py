"""Examples of a split encoded once, field by field, into columns of numbers (``data/columns.py``)."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from anaphora.data.columns import EVERY, Bound, Column, Integers, Table, Writer
from anaphora.data.fields.field import Field
from anaphora.data.fields.tokens import Tokens
from anaphora.data.ragged import Ragged
from anaphora.errors import DataError
from anaphora.events import Report, Skipped, silent
from anaphora.wording import inflect, plural

_CHARACTERS = 1 << 20
"""Characters of lines that are encoded together at most, but for one longer line."""

Line = TypeVar("Line")

Transform = Callable[[list[Ragged]], list[Ragged]]
"""Function of the rows of every field, a block of examples at a time in their order, to the rows that are stored."""


class Examples(Protocol):
    """A split of a corpus, read again as often as needed."""

    @property
    def name(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def count(self) -> int: ...
    def examples(self) -> Iterator[Any]:
        """Return the examples in their order."""

    def place(self, example: Any) -> str:
        """Return the place of an example, for errors: ``train.tsv:7``."""


@dataclass(frozen=True)
class ExampleStore:
    """Encoded examples."""

    table: Table
    fields: Sequence[Field[Any]]
    numbers: Integers | Column
    """[rows]: the place of each row in the corpus."""

    def __len__(self) -> int:
        return len(self.numbers)

    def rows(self, field: Field[Any]) -> Any:
        """Return the rows of a field."""
        return field.from_store(self.table)

    def all_rows(self) -> list[Any]:
        """Return the rows of each field."""
        return list(map(self.rows, self.fields))


def example_store(
    corpus: Examples,
    fields: Sequence[Field[Any]],
    folder: Path,
    *,
    noun: str,
    longest: int = 0,
    bounded: Sequence[Field[Any]] = (),
    transform: Transform | None = None,
    threads: int = 0,
    report: Report = silent,
) -> ExampleStore:
    """Return the corpus as numbers: from ``folder`` if it was encoded there before in the same way, else encoded now.

    With ``longest`` > 0, examples with more positions in any of the fields ``bounded``, or in any field where none is
    named, are left out (a Skipped, which calls an example by its ``noun``). ``transform`` changes encoded rows before
    that; it should be a function of the corpus and the identities of the fields alone. A large corpus is encoded by
    ``threads`` processes; 0 for one on each processor. Raises DataError for a value that a field refuses, when no
    example is left, and when the folder cannot be written.
    """
    fields = list({field.name: field for field in fields}.values())  # those of one name share their columns
    measured = {field.name for field in bounded or fields}
    first, *others = bounded or fields
    alike = any(field.unit == first.unit for field in others) and len(measured) > 1
    unit = inflect(longest, first.unit) + (" on a side" if alike else "")

    def encode(into: Writer) -> dict[str, int]:
        skipped = done = 0
        appenders = [field.appender(into) for field in fields]
        for rows in _encode(corpus, fields, threads or os.cpu_count() or 1):
            numbers = np.arange(done, done + len(rows[0].lengths))
            done += len(numbers)
            rows = transform(rows) if transform else rows
            pairs = zip(fields, rows, strict=True)
            lengths = np.max([of_field.lengths for field, of_field in pairs if field.name in measured], axis=0)
            if longest and (long := lengths > longest).any():
                kept = np.flatnonzero(~long)
                numbers, rows = numbers[kept], [of_field.rows(kept) for of_field in rows]
                skipped += int(long.sum())
            into.write("numbers", numbers)
            for append, of_field in zip(appenders, rows, strict=True):
                append(of_field)
            into.tell(done)
        return {"skipped": skipped}

    identity = [corpus.fingerprint, *([field.name, *field.identity] for field in fields), longest]
    columns: dict[str, Bound] = {"numbers": max(1, corpus.count)}
    for field in fields:
        columns |= field.columns
    task = f"encoding {corpus.name}"
    table = Table(folder, identity, columns, encode, task=task, total=corpus.count, report=report)
    if skipped := table.facts["skipped"]:
        report(Skipped(f"{plural(noun)} of more than {unit} were left out of {corpus.name}", skipped))
    if not len(table["numbers"]):
        raise DataError(f"Every {noun} of {corpus.name} has more than {unit}: raise data.max_length.")
    return ExampleStore(table, fields, table["numbers"])


def _encode(corpus: Examples, fields: Sequence[Field[Any]], threads: int) -> Iterator[list[Ragged]]:
    """Yield the rows of each field for a block of examples; tokens are encoded by several processes where it pays."""
    from anaphora.data.encoding import encode_blocks  # which predictions do without

    texts = [field for field in fields if isinstance(field, Tokens)]
    waiting = deque[list[Any]]()

    def sides() -> Iterator[list[list[str]]]:
        for block in blocks(corpus.examples(), lambda example: sum(len(field.get(example)) for field in texts)):
            waiting.append(block)
            yield [list(map(field.get, block)) for field in texts]

    tokenizers = [field.tokenizer for field in texts]
    with closing(encode_blocks(tokenizers, sides(), threads, corpus.count)) as found:
        for rows in found:
            block = waiting.popleft()
            tokens = iter(rows)

            def place(number: int, block: Sequence[Any] = block) -> str:
                return corpus.place(block[number])

            yield [
                field.truncate(next(tokens))
                if isinstance(field, Tokens)
                else field.encode(list(map(field.get, block)), place)
                for field in fields
            ]


def blocks(lines: Iterable[Line], length: Callable[[Line], int]) -> Iterator[list[Line]]:
    """Yield examples that are encoded together: to the next multiple of ``EVERY``, or fewer long ones."""
    block, characters = list[Line](), 0
    for number, line in enumerate(lines, 1):
        block.append(line)
        characters += length(line)
        if number % EVERY == 0 or characters > _CHARACTERS:
            yield block
            block, characters = [], 0
    if block:
        yield block
