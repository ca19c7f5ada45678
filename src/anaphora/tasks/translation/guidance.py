"""The word links that attention is guided by, as units of a translator's training pairs: given in a file, or learnt."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from anaphora.data.corpora import PairCorpus, fingerprint
from anaphora.data.ragged import Ragged
from anaphora.data.store import PairStore
from anaphora.evaluation.alignment import words_of
from anaphora.events import Report
from anaphora.formats.lines import write_lines
from anaphora.formats.pharaoh import Links, check_links, each_links, read_links, to_pharaoh, words_between_spaces
from anaphora.models.alignment.aligner import Aligner, AlignerModelConfig
from anaphora.models.guide import GivenGuide, LearntGuide
from anaphora.prediction.arguments import pieces_of
from anaphora.text.coder import TextCoder


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

    def units(self, store: PairStore, source: TextCoder, target: TextCoder) -> Ragged:
        """The links between the units of every stored pair, in the layout of ``flat``."""
        return flat(self._between_units(store, source, target))

    def _between_units(self, store: PairStore, source: TextCoder, target: TextCoder) -> Iterator[Links]:
        rows = {number: row for row, number in enumerate(store.numbers.tolist())}
        for number, texts in enumerate(self._corpus):
            if (row := rows.get(number)) is None:
                continue
            of_word: list[dict[int, list[int]]] = [{}, {}]
            sides = ((source, store.sources), (target, store.targets))
            for words, text, (coder, ids) in zip(of_word, texts, sides, strict=True):
                for unit, word in enumerate(words_of(pieces_of(coder, text, ids[row].tolist()))):
                    if word is not None:
                        words.setdefault(word, []).append(unit)
            yield frozenset(
                (i, j)
                for from_word, to_word in self._links[number]
                for i in of_word[0].get(from_word, ())
                for j in of_word[1].get(to_word, ())
            )


def learnt_links(
    guide: LearntGuide, store: PairStore, source: TextCoder, target: TextCoder, path: Path, report: Report
) -> Ragged:
    """The links that an aligner finds between the units of every stored pair; from ``path`` if it has done so before.

    They are found and written a block at a time, and held as numbers alone. Errors as for ``write_lines``.
    """
    if not path.exists():
        aligner = Aligner(AlignerModelConfig(aligner=guide.aligner), source.symbols, target.symbols)
        aligner.fit(store.sources, store.targets, report)
        links = aligner.each(store.sources, store.targets, guide.aligner.symmetrization)
        write_lines(path, map(to_pharaoh, links))
    return flat(each_links(path, len(store)))


def flat(links: Iterable[Links]) -> Ragged:
    """Links in order, row by row: i_0 j_0 i_1 j_1 .."""
    return Ragged.of(list(chain.from_iterable(sorted(row))) for row in links)
