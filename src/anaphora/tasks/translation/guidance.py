"""Alignment supervision of attention: links between tokens of the training pairs, given in a file or learnt.

They are made a pair at a time, and written into columns of small integers (``data/columns.py``).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice, tee
from pathlib import Path
from typing import cast

import numpy as np

from anaphora.data.columns import EVERY, UNBOUNDED, Table, Writer
from anaphora.data.corpora import Pair, PairCorpus, file_digests, fingerprint_of
from anaphora.data.example_store import ExampleStore
from anaphora.data.fields.tokens import Tokens
from anaphora.data.ragged import Ragged
from anaphora.data.readings import Facts, known_or_read
from anaphora.evaluation.alignment import words_of
from anaphora.events import Report
from anaphora.formats.pharaoh import Links, each_links, words_between_spaces
from anaphora.models.alignment.aligner import Aligner, AlignerModelConfig
from anaphora.models.alignment.groups import LONGEST
from anaphora.models.guide import GivenGuide, LearntGuide
from anaphora.prediction.arguments import pieces_of


class GivenLinks:
    """A file of links, checked against the training pairs that it belongs to."""

    def __init__(self, guide: GivenGuide, corpus: PairCorpus, report: Report) -> None:
        """Read the file; DataError when it has another number of lines, or a link to a word that is not there."""
        self._path, self._corpus = Path(guide.file), corpus

        def read(report: Report) -> Facts:
            for _ in self._pairs():
                pass
            return {"digests": file_digests([self._path])}

        facts = known_or_read([self._path, *corpus.paths], ["links", corpus.fingerprint], read, report)
        self.fingerprint = fingerprint_of(facts["digests"])
        """SHA-256 of the file."""

    def tokens(self, store: ExampleStore, folder: Path, report: Report) -> Ragged:
        """Return the links between the tokens of every stored pair, as for ``stored``."""
        links = partial(self._between_tokens, store)
        return stored(links, store, [self.fingerprint], folder, "reading word alignments", report)

    def _pairs(self) -> Iterator[tuple[Pair, Links]]:
        """Yield the training pairs with their links; errors as for ``each_links``."""
        pairs, again = tee(self._corpus.lines())
        for pair, links in zip(pairs, each_links(self._path, map(_words, again)), strict=True):
            if pair is not None:
                yield pair, links

    def _between_tokens(self, store: ExampleStore) -> Iterator[Links]:
        sides = [(cast(Tokens, field).tokenizer, store.rows(field)) for field in store.fields]
        rows = enumerate(
            chain.from_iterable(store.numbers[start : start + EVERY].tolist() for start in range(0, len(store), EVERY))
        )
        row, wanted = next(rows)
        for number, (texts, links) in enumerate(self._pairs()):
            if number != wanted:
                continue
            of_word: list[dict[int, list[int]]] = [{}, {}]
            for words, text, (tokenizer, ids) in zip(of_word, texts, sides, strict=True):
                for token, word in enumerate(words_of(pieces_of(tokenizer, text, ids[row].tolist()))):
                    if word is not None:
                        words.setdefault(word, []).append(token)
            yield frozenset(
                (i, j)
                for from_word, to_word in links
                for i in of_word[0].get(from_word, ())
                for j in of_word[1].get(to_word, ())
            )
            row, wanted = next(rows, (row, -1))


def learnt_links(guide: LearntGuide, store: ExampleStore, folder: Path, report: Report) -> Ragged:
    """Return the links that an aligner finds between the tokens of every stored pair, as for ``stored``."""

    def links() -> Iterator[Links]:
        source, target = (cast(Tokens, field).tokenizer.symbols for field in store.fields)
        aligner = Aligner(AlignerModelConfig(aligner=guide.aligner), source, target)
        sources, targets = store.all_rows()
        aligner.fit(sources, targets, report)
        yield from aligner.each(sources, targets, guide.aligner.symmetrization)

    options = guide.aligner.model_dump(mode="json")
    return stored(links, store, [options], folder, "aligning the training pairs", report)


def stored(
    links: Callable[[], Iterable[Links]],
    store: ExampleStore,
    made_by: Sequence[object],
    folder: Path,
    task: str,
    report: Report,
) -> Ragged:
    """Return the ``links`` of every stored pair in order, row by row: i_0 j_0 i_1 j_1 ..

    They are read from ``folder`` if they were written there before, for the same pairs and ``made_by`` (JSON) the same;
    else some lines at a time are made and written, which Progress of ``task`` reports. Errors as for ``Table``.
    """

    def fill(into: Writer) -> Mapping[str, int]:
        lines, done = map(_in_order, links()), 0
        while len(rows := Ragged.of(islice(lines, EVERY))):
            into.extend("links", np.asarray(rows.ids), rows.lengths)
            done += len(rows)
            into.tell(done)
        return {}

    longest = max(int(side.lengths.max()) for side in store.all_rows())
    columns = {"links.ids": max(LONGEST, longest), "links.ends": UNBOUNDED}
    table = Table(folder, [store.digest, *made_by], columns, fill, task=task, total=len(store), report=report)
    return Ragged(table["links.ids"], table["links.ends"])


def _words(pair: Pair | None) -> tuple[int, int] | None:
    """Return the number of words on both sides of a pair; None for one that training leaves out."""
    return None if pair is None else (len(words_between_spaces(pair[0])), len(words_between_spaces(pair[1])))


def _in_order(links: Links) -> list[int]:
    return list(chain.from_iterable(sorted(links)))
