"""Lines of a corpus with their file and number, so that a fault can be located."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from anaphora.data.corpora import EntryFile, LocatedCorpus, PairCorpus, PairFiles, TextCorpus
from anaphora.datacheck.findings import Place
from anaphora.formats.lines import read_lines
from anaphora.formats.tsv import HEADING


class Row(NamedTuple):
    """A line of running text, or a pair of lines, and the place of each."""

    texts: tuple[str, ...]
    places: tuple[Place, ...]
    kept: bool = True
    """True if the corpus has this row; its files may have others."""


def rows(
    corpus: PairCorpus | TextCorpus, rejected: Callable[[str, Place], None] = lambda kind, place: None
) -> Iterator[Row]:
    """Yield every line of a running text, or every pair in a corpus's files.

    ``rejected`` receives those that are no pair: the kind of their finding, and where and what they are.
    """
    if isinstance(corpus, LocatedCorpus):
        for file, number, text in corpus.located():
            yield Row((text,), (Place(file, number),))
        return
    if isinstance(corpus, TextCorpus):
        lines = ((file, *line) for file in corpus.files for line in enumerate(read_lines(file), 1))
        for file, number, text in islice(lines, corpus.start, corpus.start + corpus.count):
            yield Row((text,), (Place(file, number),))
        return
    keeps = corpus.kept()
    for pair_file in corpus.files:
        source_file, target_file = pair_file.paths[0], pair_file.paths[-1]
        for number, source, target in _pairs(pair_file, rejected):
            places = Place(source_file, number), Place(target_file, number)
            yield Row((source, target), places, keeps(source, target))


def _pairs(file: PairFiles, rejected: Callable[[str, Place], None]) -> Iterator[tuple[int, str, str]]:
    def reject(line: int, why: str) -> None:
        kind = "header" if why == HEADING else why if isinstance(file, EntryFile) else "columns"
        rejected(kind, Place(file.paths[0], line, why))

    return ((row.line, row.source, row.target) for row in file.rows(reject))
