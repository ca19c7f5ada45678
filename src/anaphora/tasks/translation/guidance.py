"""Alignment supervision of attention: links between tokens of the training pairs, given in a file or learnt."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from anaphora.data.columns import UNBOUNDED, Table, Writer
from anaphora.data.corpora import PairCorpus, fingerprint
from anaphora.data.ragged import Ragged
from anaphora.data.store import PairStore
from anaphora.evaluation.alignment import words_of
from anaphora.events import Report
from anaphora.formats.pharaoh import Links, check_links, read_links, words_between_spaces
from anaphora.models.alignment.aligner import Aligner, AlignerModelConfig
from anaphora.models.alignment.groups import LONGEST
from anaphora.models.guide import GivenGuide, LearntGuide
from anaphora.prediction.arguments import pieces_of
from anaphora.text.tokenizer import Tokenizer


class GivenLinks:
    """A file of links, checked against the training pairs that it belongs to."""

    def __init__(self, guide: GivenGuide, corpus: PairCorpus) -> None:
        """Read the file; DataError when it has another number of lines, or a link to a word that is not there."""
        self._path, self._corpus = Path(guide.file), corpus
        lengths = [
            None if pair is None else (len(words_between_spaces(pair[0])), len(words_between_spaces(pair[1])))
            for pair in corpus.lines()
        ]
        links = read_links(self._path, len(lengths))
        check_links(self._path, links, lengths)
        self._links = [found for found, words in zip(links, lengths, strict=True) if words is not None]

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the file."""
        return fingerprint([self._path])

    def tokens(self, store: PairStore, source: Tokenizer, target: Tokenizer) -> Ragged:
        """The links between the tokens of every stored pair, in the layout of ``flat``."""
        return flat(self._between_tokens(store, source, target))

    def _between_tokens(self, store: PairStore, source: Tokenizer, target: Tokenizer) -> Iterator[Links]:
        rows = {number: row for row, number in enumerate(store.numbers[:].tolist())}
        for number, texts in enumerate(self._corpus):
            if (row := rows.get(number)) is None:
                continue
            of_word: list[dict[int, list[int]]] = [{}, {}]
            sides = ((source, store.sources), (target, store.targets))
            for words, text, (tokenizer, ids) in zip(of_word, texts, sides, strict=True):
                for token, word in enumerate(words_of(pieces_of(tokenizer, text, ids[row].tolist()))):
                    if word is not None:
                        words.setdefault(word, []).append(token)
            yield frozenset(
                (i, j)
                for from_word, to_word in self._links[number]
                for i in of_word[0].get(from_word, ())
                for j in of_word[1].get(to_word, ())
            )


def learnt_links(
    guide: LearntGuide, store: PairStore, source: Tokenizer, target: Tokenizer, path: Path, report: Report
) -> Ragged:
    """The links that an aligner finds between the tokens of every stored pair, in the layout of ``flat``.

    They are found and written a block at a time into the folder ``path``, and read from there if that was done before.
    Errors as for ``Table``.
    """

    def fill(into: Writer) -> Mapping[str, int]:
        aligner = Aligner(AlignerModelConfig(aligner=guide.aligner), source.symbols, target.symbols)
        aligner.fit(store.sources, store.targets, report)
        links = aligner.each(store.sources, store.targets, guide.aligner.symmetrization)
        for number, row in enumerate(links, 1):
            into.add("links", _in_order(row))
            into.tell(number)
        return {}

    identity = [store.digest, guide.aligner.model_dump(mode="json")]
    columns = {"links.ids": LONGEST, "links.ends": UNBOUNDED}
    table = Table(path, identity, columns, fill, task="aligning the training pairs", total=len(store), report=report)
    return Ragged(table["links.ids"], table["links.ends"])


def flat(links: Iterable[Links]) -> Ragged:
    """Links in order, row by row: i_0 j_0 i_1 j_1 .."""
    return Ragged.of(map(_in_order, links))


def _in_order(links: Links) -> list[int]:
    return list(chain.from_iterable(sorted(links)))
