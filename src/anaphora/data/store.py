"""Stores of pairs of sentences and of running text."""

from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from anaphora.data.columns import Column, Integers
from anaphora.data.corpora import PairCorpus, TextCorpus
from anaphora.data.encoding import Rows
from anaphora.data.example_store import example_store
from anaphora.data.fields.tokens import RunningText, Tokens
from anaphora.data.ragged import Ragged
from anaphora.events import Report, silent
from anaphora.text.tokenizer import Tokenizer

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
    """Return the corpus as ids: see ``example_store``.

    With ``longest`` > 0, pairs with more tokens than that on either side are left out. ``annotate`` changes the ids of
    a target, given the number of the pair and the ids of both sides.
    """

    def annotated(numbers: Integers, rows: list[Rows]) -> list[Rows]:
        assert annotate is not None
        sources, targets = rows
        pairs = zip(numbers.tolist(), sources.each(), targets.each(), strict=True)
        return [sources, Rows.of([annotate(*pair) for pair in pairs])]

    fields = [Tokens("source", source, itemgetter(0)), Tokens("target", target, itemgetter(1))]
    rewrite = annotated if annotate else None
    store = example_store(corpus, fields, folder, noun="pair", longest=longest, rewrite=rewrite, report=report)
    sources, targets = map(store.rows, fields)
    return PairStore(sources, targets, store.numbers, store.table.digest)


def text_store(corpus: TextCorpus, tokenizer: Tokenizer, folder: Path, *, report: Report = silent) -> Column:
    """Return a running text as ids: ``</s>``, then every line with its ``</s>``; see ``example_store``.

    Every id but the first is there to be predicted.
    """
    field = RunningText("text", tokenizer)
    ids: Column = example_store(corpus, [field], folder, noun="line", report=report).rows(field)
    return ids
