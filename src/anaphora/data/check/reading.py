"""The lines of a corpus with the file and number of each, so that a fault can be named where it stands."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from anaphora.data.check.findings import Place
from anaphora.data.corpora import AlignedFiles, PairCorpus, PairFile, PairFiles, TextCorpus
from anaphora.formats.lines import read_lines
from anaphora.formats.tsv import read_pairs


class PairLine(NamedTuple):
    """A pair and where each side of it stands; ``kept`` when the part has it."""

    source_file: Path
    target_file: Path
    line: int
    source: str
    target: str
    kept: bool


class TextLine(NamedTuple):
    """A line of running text and where it stands."""

    file: Path
    line: int
    text: str


def _ignore(place: Place) -> None:
    """Let a rejected line pass without a word."""


def pair_lines(corpus: PairCorpus, rejected: Callable[[Place], None] = _ignore) -> Iterator[PairLine]:
    """Every pair of the corpus's files, those left out as well; ``rejected`` is told lines that are no pair."""
    for file in corpus.files:
        source_file, target_file = file.paths[0], file.paths[-1]
        for line, source, target in _numbered(file, rejected):
            yield PairLine(source_file, target_file, line, source, target, corpus.keep(source, target))


def text_lines(corpus: TextCorpus) -> Iterator[TextLine]:
    """Every line of the corpus."""
    seen = 0
    for file in corpus.files:
        for line, text in enumerate(read_lines(file), 1):
            if seen >= corpus.start + corpus.count:
                return
            if seen >= corpus.start:
                yield TextLine(file, line, text)
            seen += 1


def _numbered(file: PairFiles, rejected: Callable[[Place], None]) -> Iterator[tuple[int, str, str]]:
    if isinstance(file, AlignedFiles):
        for line, (source, target) in enumerate(file, 1):
            yield line, source, target
        return
    assert isinstance(file, PairFile)

    def tell(line: int, columns: int) -> None:
        rejected(Place(file.path, line, f"{columns} columns"))

    for row in read_pairs(file.path, rejected=tell):
        yield row.line, row.source, row.target
