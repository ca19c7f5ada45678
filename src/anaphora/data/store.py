"""Corpora encoded once, into columns of ids (``data/columns.py``), in the memory of some lines."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch

from anaphora.data.captioned import CaptionCorpus
from anaphora.data.columns import EVERY, UNBOUNDED, Column, Integers, Table, Writer
from anaphora.data.corpora import PairCorpus, TextCorpus
from anaphora.data.encoding import Encoding, Rows
from anaphora.data.examples import ExampleCorpus
from anaphora.data.ragged import Ragged
from anaphora.errors import DataError
from anaphora.events import Report, Skipped, silent
from anaphora.text.tokenizer import Tokenizer
from anaphora.wording import counted

_CHARACTERS = 1 << 20
"""Characters of lines that are encoded together at most, but for one longer line."""

Line = TypeVar("Line")

Annotate = Callable[[int, list[int], list[int]], list[int]]
"""The number of a pair and the ids of its sides to other ids of its target."""


@dataclass(frozen=True)
class PairStore:
    """Encoded pairs, without marks; the rows of both sides belong together."""

    sources: Ragged
    targets: Ragged
    numbers: Integers | Column
    """[rows]: the place of each row in the corpus."""
    digest: str
    """SHA-256 of all that is in it."""

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True)
class TextStore:
    """An encoded running text: ``</s>``, then every line with its ``</s>``."""

    ids: Integers | Column
    """[1 + tokens + lines]; every id but the first is there to be predicted."""
    characters: int
    """Code points of the text as it was read, a line end counted as one."""


def pair_store(
    corpus: PairCorpus,
    source: Tokenizer,
    target: Tokenizer,
    folder: Path,
    *,
    longest: int = 0,
    annotate: Annotate | None = None,
    report: Report = silent,
) -> PairStore:
    """The corpus as ids: from ``folder`` if it was encoded there before with the same tokenizers, else encoded now.

    With ``longest`` > 0, pairs with more tokens than that on either side are left out (a Skipped). ``annotate`` changes
    the ids of a target, given the number of the pair and the ids of both sides; what it does should be a function of
    the tokenizers and the corpus alone. Raises DataError when
    no pair is left, or the folder cannot be written.
    """

    def encode(into: Writer) -> dict[str, int]:
        skipped = done = 0
        blocks = _blocks(corpus, lambda pair: len(pair[0]) + len(pair[1]))
        with Encoding((source, target), torch.get_num_threads(), corpus.count) as encoding:
            for sources, targets in encoding.rows([*zip(*pairs, strict=True)] for pairs in blocks):
                numbers = np.arange(done, done + len(sources.lengths))
                if annotate is not None:
                    rows = zip(numbers.tolist(), sources.each(), targets.each(), strict=True)
                    targets = Rows.of([annotate(*row) for row in rows])
                done += len(numbers)
                if longest and (long := np.maximum(sources.lengths, targets.lengths) > longest).any():
                    numbers, sources, targets = numbers[~long], sources.kept(~long), targets.kept(~long)
                    skipped += int(long.sum())
                into.write("numbers", numbers)
                into.extend("source", *sources)
                into.extend("target", *targets)
                into.tell(done)
        return {"skipped": skipped}

    identity = [corpus.fingerprint, source.fingerprint, target.fingerprint, longest]
    sizes = {"source.ids": source.symbols.size, "target.ids": target.symbols.size, "numbers": max(1, corpus.count)}
    columns = sizes | {"source.ends": UNBOUNDED, "target.ends": UNBOUNDED}
    table = Table(folder, identity, columns, encode, task=f"encoding {corpus.name}", total=corpus.count, report=report)
    if skipped := table.facts["skipped"]:
        report(
            Skipped(
                f"pairs with more than {counted(longest, 'token')} on a side were left out of {corpus.name}", skipped
            )
        )
    if not len(table["numbers"]):
        raise DataError(
            f"Every pair of {corpus.name} has more than {counted(longest, 'token')} on a side: raise data.max_length."
        )
    return PairStore(
        Ragged(table["source.ids"], table["source.ends"]),
        Ragged(table["target.ids"], table["target.ends"]),
        table["numbers"],
        table.digest,
    )


def text_store(
    corpus: TextCorpus | ExampleCorpus[Any] | CaptionCorpus,
    tokenizer: Tokenizer,
    folder: Path,
    *,
    report: Report = silent,
) -> TextStore:
    """The text as ids: from ``folder`` if it was encoded there before with the same tokenizer, else encoded now.

    Raises DataError when the folder cannot be written.
    """
    end = tokenizer.symbols.eos

    def encode(into: Writer) -> dict[str, int]:
        characters = done = 0

        def counted_blocks() -> Iterator[list[list[str]]]:
            nonlocal characters
            for lines in _blocks(corpus, len):
                characters += sum(map(len, lines)) + len(lines)
                yield [lines]

        into.write("text.ids", [end])
        with Encoding((tokenizer,), torch.get_num_threads(), corpus.count) as encoding:
            for (rows,) in encoding.rows(counted_blocks()):
                into.write("text.ids", np.insert(rows.numbers, np.cumsum(rows.lengths), end))
                done += len(rows.lengths)
                into.tell(done)
        return {"characters": characters}

    identity = [corpus.fingerprint, tokenizer.fingerprint]
    columns = {"text.ids": tokenizer.symbols.size}
    table = Table(folder, identity, columns, encode, task=f"encoding {corpus.name}", total=corpus.count, report=report)
    return TextStore(table["text.ids"], table.facts["characters"])


def _blocks(corpus: Iterable[Line], length: Callable[[Line], int]) -> Iterator[list[Line]]:
    """Lines, or pairs of them, that are encoded together: to the next multiple of ``EVERY``, or fewer long ones."""
    block, characters = list[Line](), 0
    for number, line in enumerate(corpus, 1):
        block.append(line)
        characters += length(line)
        if number % EVERY == 0 or characters > _CHARACTERS:
            yield block
            block, characters = [], 0
    if block:
        yield block
