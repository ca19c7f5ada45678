"""Tagged sentences: the training, validation and test splits of a corpus for taggers, each file read through once.

A FOLDER holds one file for each split, known by its name less its ending: ``train.conllu``, ``en_ewt-ud-train.conllu``
or ``eng.train``; a FILE is trained on. Anything may be gzipped, and several are put together.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from anaphora.data.corpora import Splits, fingerprint
from anaphora.data.finding import Found, Names, ending_of, find_files
from anaphora.data.holdout import in_tenth
from anaphora.errors import DataError
from anaphora.events import Note, Report, silent
from anaphora.formats.lines import read_lines, writing_text
from anaphora.formats.tagged import Sentence, TaggedFormat

_ENDINGS = (".conllu", ".conll", ".tsv", ".txt", ".iob", ".iob2", ".bio", ".bioes", ".jsonl", ".json")


def every(sentence: Sentence) -> bool:
    return True


@dataclass(frozen=True)
class TaggedCorpus:
    """Tagged sentences from one or more files, those that ``keep`` wants."""

    name: str
    paths: tuple[Path, ...]
    format: TaggedFormat
    fingerprint: str
    """A sha256 of the files' bytes and of what was chosen from them."""
    count: int = 0
    """Sentences in the corpus."""
    keep: Callable[[Sentence], bool] = every

    def sentences(self) -> Iterator[tuple[Path, Sentence]]:
        """The sentences with their files, read again; DataError with the line for one that is not in the format."""
        for path in self.paths:
            for sentence in self.format.read(exact_lines(path), str(path), labelled=True):
                if sentence.words and self.keep(sentence):
                    yield path, sentence

    def __iter__(self) -> Iterator[str]:
        """The words of each sentence with spaces between them, read again."""
        return (" ".join(sentence.words) for _, sentence in self.sentences())

    lines = __iter__

    def located(self) -> Iterator[tuple[Path, int, str]]:
        """The words of each sentence with its file and first line: see ``corpora.LocatedCorpus``."""
        for path, sentence in self.sentences():
            yield path, sentence.line_of(0), " ".join(sentence.words)

    def write_sample(self, folder: Path, name: str, limit: int) -> int:
        """The first sentences as a file: see ``corpora.LocatedCorpus``."""
        sample = list(islice(self.sentences(), limit))
        with writing_text(folder / f"{name}{ending_of(self.paths[0], _ENDINGS) or '.conll'}") as write:
            for _, sentence in sample:
                write("".join(sentence.lines))
        return len(sample)


def exact_lines(path: Path) -> Iterator[str]:
    """The lines of a file with their ends; errors as for ``formats.lines.read_lines``."""
    return read_lines(path, exact=True, any_format=True)


def find_tagged(data: Sequence[Path], names: Names) -> Found[Path]:
    """The files of the splits; errors as for ``finding.find_files``."""
    return find_files(data, names, _ENDINGS)


def tagged_splits(
    data: Sequence[Path], names: Names, format_: TaggedFormat, report: Report = silent
) -> Splits[TaggedCorpus]:
    """The splits; without a validation split a tenth is held out by a hash of the words, which a Note reports.

    Raises DataError for a missing file, a faulty line, and a split with nothing in it.
    """
    found = find_tagged(data, names)
    train, valid, tests = found.train, found.valid, found.tests
    whole = _corpus(names.train, train, format_)
    of_tests = {name: _corpus(name, files, format_) for name, files in tests.items()}
    if valid:
        return Splits(whole, _corpus(names.valid, valid, format_), of_tests)
    held = sum(_held_out(sentence) for _, sentence in whole.sentences())
    if not 0 < held < whole.count:
        raise DataError(f"{train[0]} has too few sentences to hold some out for validation: give a validation split.")
    report(
        Note(f"{held:,} of {whole.count:,} training sentences are held out for validation (by a hash of their words).")
    )
    rest, part = (
        fingerprint(train, repr(format_), choice) for choice in ("without the held-out tenth", "the held-out tenth")
    )
    return Splits(
        replace(whole, fingerprint=rest, count=whole.count - held, keep=_kept),
        replace(whole, name="valid", fingerprint=part, count=held, keep=_held_out),
        of_tests,
    )


def _corpus(name: str, files: Sequence[Path], format_: TaggedFormat) -> TaggedCorpus:
    corpus = TaggedCorpus(name, tuple(files), format_, fingerprint(files, repr(format_)))
    count = sum(1 for _ in corpus.sentences())
    if not count:
        raise DataError(f"{', '.join(map(str, files))} has no sentence for the split '{name}': add some, or remove it.")
    return replace(corpus, count=count)


def _held_out(sentence: Sentence) -> bool:
    return in_tenth(" ".join(sentence.words))


def _kept(sentence: Sentence) -> bool:
    return not _held_out(sentence)
