"""Labelled texts: the training, validation and test splits of a corpus for classifiers, each file read through once.

A FOLDER holds ``train``, ``val`` (or ``valid``, ``dev``) and any ``test*`` as files of ``formats.labelled``, or as
folders with a folder per class; a FILE, or a folder with a folder per class, is trained on.
Examples are texts, or sequences of vectors.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from anaphora.data.corpora import Splits, fingerprint
from anaphora.data.finding import Names
from anaphora.data.holdout import in_tenth
from anaphora.errors import DataError
from anaphora.events import Note, Report, silent
from anaphora.formats.labelled import Example, class_folders, read_labelled
from anaphora.formats.labelled_vectors import ENDINGS, read_labelled_vectors
from anaphora.formats.lines import write_lines
from anaphora.wording import agreeing, counted

_ENDINGS = (".tsv", ".csv", ".txt", ".jsonl", ".ndjson", ".json", *ENDINGS)


def every(example: Example) -> bool:
    return True


class LabelledFormat(NamedTuple):
    """How labelled files are read."""

    encoding: str = "utf-8"
    separator: str | None = None
    """As for ``formats.labelled.read_labelled``."""
    vectors: bool = False
    """Whether examples are sequences of vectors (``formats.labelled_vectors``)."""

    def read(self, path: Path) -> Iterator[Example]:
        """The examples of a file."""
        if self.vectors:
            return read_labelled_vectors(path, separator=self.separator)
        return read_labelled(path, encoding=self.encoding, separator=self.separator)


PLAIN = LabelledFormat()
"""Texts of one class each, in UTF-8."""


@dataclass(frozen=True)
class LabelledCorpus:
    """Labelled texts or sequences from one or more files, those that ``keep`` wants."""

    name: str
    paths: tuple[Path, ...]
    fingerprint: str
    count: int
    format: LabelledFormat = PLAIN
    keep: Callable[[Example], bool] = every

    def examples(self) -> Iterator[Example]:
        """The examples, read again."""
        for path in self.paths:
            yield from filter(self.keep, self.format.read(path))

    def __iter__(self) -> Iterator[str]:
        """The texts, read again."""
        return (example.text for example in self.examples())

    lines = __iter__

    def located(self) -> Iterator[tuple[Path, int, str]]:
        """The texts with their files and lines: see ``corpora.LocatedCorpus``."""
        for example in self.examples():
            path, colon, line = example.place.rpartition(":")
            # a text of a class folder is a file of its own
            yield (
                (Path(path), int(line), example.text)
                if colon and line.isdecimal()
                else (
                    Path(example.place),
                    1,
                    example.text,
                )
            )

    def write_sample(self, folder: Path, name: str, limit: int) -> int:
        """The first examples as a table: see ``corpora.LocatedCorpus``."""
        sample = list(islice(self.examples(), limit))
        between = self.format.separator or ""
        if self.format.vectors:
            values = [one.vectors for one in sample]
            labels = [between.join(one.labels) for one in sample]
            np.savez(
                folder / f"{name}.npz", values=np.concatenate(values), lengths=list(map(len, values)), labels=labels
            )
            return len(sample)
        rows = (f"{between.join(one.labels)}\t{' '.join(one.text.split())}" for one in sample)
        write_lines(folder / f"{name}.tsv", chain(["label\ttext"], rows))
        return len(sample)


@dataclass(frozen=True)
class LabelledSplits(Splits[LabelledCorpus]):
    """The splits, and the classes of training and validation in the order of their names."""

    labels: tuple[str, ...]
    several: bool
    """Whether a training text has several labels, or none."""


def labelled_splits(
    data: Sequence[Path], names: Names, format: LabelledFormat = PLAIN, report: Report = silent
) -> LabelledSplits:
    """The splits; without a validation split a tenth of the texts is held out by a hash of each, which a Note reports.

    Raises DataError for a missing file, a faulty line, fewer than two classes (or no label where there may be several),
    and a split with nothing in it.
    """
    if not data:
        raise DataError("Training needs data, but none was given: pass --data FOLDER or --data FILE.")
    train, valid, tests = list[Path](), list[Path](), dict[str, list[Path]]()
    for path in data:
        listing = {} if path.is_file() else _listing(path)
        stem = _train_stem(listing, names.train)
        found = listing.get(stem)
        if path.is_file() or (not found and class_folders(path)):
            train.append(path)
            continue
        if not found:
            there = ", ".join(sorted(listing)[:8]) or "nothing"
            raise DataError(f"{path} should hold {names.train}.tsv or the like, but it holds {there}: name the files.")
        prefix = stem.removesuffix(names.train)
        train.append(found)
        valid += next(([file] for name in names.validation() if (file := listing.get(prefix + name))), [])
        for stem, file in sorted(listing.items()):
            if stem.startswith(prefix + names.test) and file not in (*train, *valid):
                tests.setdefault(stem, []).append(file)
    whole, labels, several = _read(names.train, train, format)
    if len(labels) < (1 if several else 2):
        what = f"the one class '{labels[0]}'" if labels else "no label at all"
        raise DataError(f"{train[0]} has {what}: a classifier needs two classes or more.")
    of_tests = {name: _read(name, files, format, labels)[0] for name, files in tests.items()}
    if valid:
        return LabelledSplits(whole, _read(names.valid, valid, format, labels)[0], of_tests, labels, several)
    held = sum(map(_held_out, whole.examples()))
    if not 0 < held < whole.count:
        raise DataError(f"{train[0]} has too few texts to hold some out for validation: give a validation split.")
    report(
        Note(
            f"No validation split was given, so {held:,} of {counted(whole.count, 'text')} "
            f"{agreeing(held, 'are')} held out for it (by hash)."
        )
    )
    files = [] if format.vectors else _files(train)
    more = [whole.fingerprint] if format.vectors else []
    rest, tenth = (
        replace(whole, name=name, fingerprint=fingerprint(files, *more, choice), count=count, keep=keep)
        for name, choice, count, keep in (
            (names.train, "rest", whole.count - held, _kept),
            (names.valid, "held", held, _held_out),
        )
    )
    return LabelledSplits(rest, tenth, of_tests, labels, several)


def labelled_corpus(path: Path, known: Sequence[str], format: LabelledFormat) -> LabelledCorpus:
    """One file, or a folder with a folder per class; DataError with its line for a fault or a label not ``known``."""
    if not path.is_file() and not (path.is_dir() and class_folders(path)):
        raise DataError(f"{path} should be a file of labelled texts, or a folder with a folder per class: check it.")
    return _read(path.name, [path], format, known)[0]


def check_labels(examples: Iterator[Example], known: Sequence[str]) -> Iterator[Example]:
    """The same examples; DataError at the first whose label is none of ``known``."""
    classes = frozenset(known)
    for example in examples:
        unseen = next((label for label in example.labels if label not in classes), None)
        if unseen is not None:
            shown = ", ".join(sorted(classes)[:8]) + (", ..." if len(classes) > 8 else "")
            raise DataError(
                f"{example.place} has the label '{unseen}', which training does not have ({shown}): correct it, "
                f"or remove the line."
            )
        yield example


def _read(
    name: str, files: Sequence[Path], format: LabelledFormat, known: Sequence[str] = ()
) -> tuple[LabelledCorpus, tuple[str, ...], bool]:
    corpus = LabelledCorpus(name, tuple(files), fingerprint(_files(files), format.encoding), 0, format)
    count, labels, several = 0, set[str](), False
    digest = hashlib.sha256()
    for example in check_labels(corpus.examples(), known) if known else corpus.examples():
        count += 1
        labels.update(example.labels)
        several = several or len(example.labels) != 1
        digest.update(f"{example.labels} {example.text}".encode())
    if not count:
        raise DataError(f"{files[0]} has no labelled text: add some, or remove the file.")
    if format.vectors:  # which files of their own may have
        corpus = replace(corpus, fingerprint=digest.hexdigest())
    return replace(corpus, count=count), tuple(sorted(labels)), several


def _held_out(example: Example) -> bool:
    return in_tenth(example.text)


def _kept(example: Example) -> bool:
    return not _held_out(example)


def _files(paths: Sequence[Path]) -> list[Path]:
    return [file for path in paths for file in (sorted(path.glob("*/*.txt*")) if path.is_dir() else [path])]


def _listing(path: Path) -> dict[str, Path]:
    if not path.is_dir():
        raise DataError(f"--data should be a folder or a file, but there is no {path}: check the path.")
    return {_stem(entry): entry for entry in sorted(path.iterdir()) if not entry.name.startswith(".")}


def _stem(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    return next((name.removesuffix(end) for end in _ENDINGS if name.lower().endswith(end)), name)


def _train_stem(listing: dict[str, Path], name: str) -> str:
    """``name``, or the one entry that ends in ``.name``, whose prefix the other splits share."""
    fitting = [name] if name in listing else [stem for stem in listing if stem.endswith(f".{name}")]
    if len(fitting) > 1:
        raise DataError(
            f"Several files are the split '{name}': {' and '.join(fitting)}; set data.train to one of them."
        )
    return fitting[0] if fitting else name
