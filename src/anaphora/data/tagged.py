"""Tagged sentences: the training, validation and test splits of a corpus for taggers, each file read through once.

A FOLDER holds one file for each split, known by its name less its ending: ``train.conllu``, ``en_ewt-ud-train.conllu``
or ``eng.train``; a FILE is trained on. Anything may be gzipped, and several are put together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from anaphora.data.corpora import Splits, fingerprint
from anaphora.data.examples import ExampleCorpus, example_splits
from anaphora.data.finding import Names, SplitFiles, ending_of, find_files
from anaphora.events import Note, Report, silent
from anaphora.formats.columns import Columns
from anaphora.formats.lines import read_lines, writing_text
from anaphora.formats.offsets import Offsets
from anaphora.formats.tagged import Sentence, TaggedFormat
from anaphora.wording import agreeing, inflect

_ENDINGS = (".conllu", ".conll", ".tsv", ".txt", ".iob", ".iob2", ".bio", ".bioes", ".jsonl", ".json")


class LocatedSentence(NamedTuple):
    """A sentence and its file."""

    path: Path
    sentence: Sentence

    @property
    def text(self) -> str:
        return " ".join(self.sentence.words)

    @property
    def place(self) -> str:
        return f"{self.path}:{self.sentence.line_of(0)}"


@dataclass(frozen=True)
class TaggedCorpus(ExampleCorpus[LocatedSentence]):
    """Tagged sentences with their files."""

    has_words = True

    format: TaggedFormat = field(kw_only=True)

    def read(self, path: Path) -> Iterator[LocatedSentence]:
        sentences = self.format.read(exact_lines(path), str(path), labelled=True)
        return (LocatedSentence(path, sentence) for sentence in sentences if sentence.words)

    def labels_in(self, example: LocatedSentence) -> Sequence[str]:
        return example.sentence.tags

    def faults(self, example: LocatedSentence) -> Iterator[tuple[str, str]]:
        return (("cut-words", word) for word in example.sentence.cut[:1])

    def write(self, examples: Sequence[LocatedSentence], folder: Path, name: str) -> None:
        """Write a file in the format of the corpus."""
        with writing_text(folder / f"{name}{ending_of(self.paths[0], _ENDINGS) or '.conll'}") as write:
            if isinstance(self.format, Columns) and self.format.table.header[:1] not in ((), ("1",)):
                write(("\t" if "\t" in examples[0].sentence.lines[0] else " ").join(self.format.table.header) + "\n")
            for _, sentence in examples:
                write("".join(sentence.lines))


def exact_lines(path: Path) -> Iterator[str]:
    """Return the lines of a file with their ends; errors as for ``formats.lines.read_lines``."""
    return read_lines(path, exact=True, any_format=True)


def find_tagged(data: Sequence[Path], names: Names) -> SplitFiles[Path]:
    """Return the files of the splits; errors as for ``finding.find_files``."""
    return find_files(data, names, _ENDINGS)


def tagged_splits(
    data: Sequence[Path], names: Names, format_: TaggedFormat, report: Report = silent
) -> Splits[TaggedCorpus]:
    """Return the splits; without a validation split a tenth is held out by a hash of the words, which a Note reports.

    Raises DataError for a missing file, a faulty line, and a split with nothing in it.
    """

    def corpus(name: str, files: Sequence[Path]) -> TaggedCorpus:
        digest = fingerprint(files, repr(format_))
        for path in files if isinstance(format_, Offsets) else ():
            sentences = format_.read(exact_lines(path), str(path), labelled=True)
            if lines := [sentence.line for sentence in sentences if not sentence.words]:
                left = f"{inflect(len(lines), 'text')} of {path} without a finished annotation"
                report(Note(f"{left} {agreeing(len(lines), 'are')} left out (the first is line {lines[0]}).", True))
        return TaggedCorpus(name, tuple(files), digest, format=format_).with_count("sentence")

    return example_splits(find_tagged(data, names), names, corpus, "sentence", report, repr(format_))
