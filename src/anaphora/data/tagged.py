"""Tagged sentences: the training, validation and test splits of a corpus for taggers, each file read through once.

A FOLDER holds one file for each split, known by its name less its ending: ``train.conllu``, ``en_ewt-ud-train.conllu``
or ``eng.train``; a FILE is trained on. Anything may be gzipped, and several are put together.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from anaphora.data.corpora import fingerprint
from anaphora.data.finding import Names, refuse_packed
from anaphora.data.holdout import in_tenth
from anaphora.errors import DataError
from anaphora.events import Note, Report, silent
from anaphora.formats.lines import read_lines, writing_text
from anaphora.formats.tagged import Sentence, TaggedFormat

HELD_OUT = "none"
"""The name of a validation split that is held out of training, whatever other files there are."""

_ENDINGS = (".conllu", ".conll", ".tsv", ".txt", ".iob", ".iob2", ".bio", ".bioes", ".jsonl", ".json")


def every(sentence: Sentence) -> bool:
    """Keep the sentence."""
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
        with writing_text(folder / f"{name}{_ending(self.paths[0]) or '.conll'}") as write:
            for _, sentence in sample:
                write("".join(sentence.lines))
        return len(sample)


@dataclass(frozen=True)
class TaggedParts:
    """The splits; ``tests`` by name, perhaps none."""

    train: TaggedCorpus
    valid: TaggedCorpus
    tests: dict[str, TaggedCorpus]


def exact_lines(path: Path) -> Iterator[str]:
    """The lines of a file with their ends; errors as for ``formats.lines.read_lines``."""
    return read_lines(path, exact=True, any_format=True)


def find_tagged(data: Sequence[Path], names: Names) -> tuple[list[Path], list[Path], dict[str, list[Path]]]:
    """The files of the training, validation and test splits. Raises DataError for a path or a split that is missing."""
    if not data:
        raise DataError("Training needs data, but none was given: pass --data FOLDER or --data FILE.")
    train, valid, tests = list[Path](), list[Path](), dict[str, list[Path]]()
    for path in data:
        if path.is_file():
            train.append(path)
            continue
        if not path.is_dir():
            raise DataError(f"--data should be a folder or a file, but there is no {path}: check the path.")
        files = [entry for entry in sorted(path.iterdir()) if entry.is_file() and not entry.name.startswith(".")]
        found = _called(files, names.train)
        if not found:
            refuse_packed(path)
            there = ", ".join(file.name for file in files[:8]) or "nothing"
            raise DataError(f"{path} should hold {names.train}.conllu or the like, but holds {there}: name the files.")
        train += found
        if names.valid != HELD_OUT:
            valid += next(filter(None, (_called(files, name) for name in names.validation())), [])
        for file in files:
            if _split_of(file).startswith(names.test) and file not in (*train, *valid):
                tests.setdefault(_split_of(file), []).append(file)
    if not valid and names.valid not in (HELD_OUT, "val", "valid", "dev"):
        raise DataError(f"data.valid = '{names.valid}' names no file in {data[0]}: check the name, or leave it out.")
    return train, valid, tests


def tagged_parts(data: Sequence[Path], names: Names, format_: TaggedFormat, report: Report = silent) -> TaggedParts:
    """The splits; without a validation split a tenth is held out by a hash of the words, which a Note reports.

    Raises DataError for a missing file, a faulty line, and a split with nothing in it.
    """
    train, valid, tests = find_tagged(data, names)
    whole = _corpus(names.train, train, format_)
    of_tests = {name: _corpus(name, files, format_) for name, files in tests.items()}
    if valid:
        return TaggedParts(whole, _corpus(names.valid, valid, format_), of_tests)
    held = sum(_held_out(sentence) for _, sentence in whole.sentences())
    if not 0 < held < whole.count:
        raise DataError(f"{train[0]} has too few sentences to hold some out for validation: give a validation split.")
    report(
        Note(f"{held:,} of {whole.count:,} training sentences are held out for validation (by a hash of their words).")
    )
    rest, part = (
        fingerprint(train, repr(format_), choice) for choice in ("without the held-out tenth", "the held-out tenth")
    )
    return TaggedParts(
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


def _ending(path: Path) -> str:
    """The ending of a known format; empty for none."""
    name = path.name.lower().removesuffix(".gz")
    return next((end for end in _ENDINGS if name.endswith(end)), "")


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz")[: -len(_ending(path)) or None]


def _split_of(path: Path) -> str:
    """The last part of a name: "train" of en_ewt-ud-train.conllu and of eng.train."""
    return re.split(r"[-._]", _stem(path))[-1]


def _called(files: Sequence[Path], name: str) -> list[Path]:
    """The file of a split: called so as a whole, or by the last part of its name; DataError where there are several."""
    fitting = [file for file in files if _stem(file) == name] or [file for file in files if _split_of(file) == name]
    if len(fitting) > 1:
        several = " and ".join(file.name for file in fitting)
        raise DataError(f"{fitting[0].parent} should hold one {name} split, not {several}: keep one of them there.")
    return fitting
