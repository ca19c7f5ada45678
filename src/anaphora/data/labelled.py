"""Labelled texts: the training, validation and test splits of a corpus for classifiers, each file read through once.

A FOLDER holds ``train``, ``val`` (or ``valid``, ``dev``) and any ``test*`` as files of ``formats.labelled``, or as
folders with a folder per class; a FILE, or a folder with a folder per class, is trained on.
Examples are texts, or sequences of vectors.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from anaphora.data.corpora import Splits, fingerprint
from anaphora.data.examples import ExampleCorpus
from anaphora.data.fields.label import refuse_unknown
from anaphora.data.finding import Names, demand_data, demand_path, refuse_packed, split_name
from anaphora.errors import DataError
from anaphora.events import Note, Report, silent
from anaphora.formats import labelled as formats
from anaphora.formats.evidence import Evidence
from anaphora.formats.labelled import Example, columns_read
from anaphora.formats.labelled_vectors import ENDINGS, holds_numbers, is_array_file, read_labelled_vectors
from anaphora.formats.lines import check_regular, read_lines, write_lines
from anaphora.formats.table_columns import TableColumns
from anaphora.formats.table_rows import is_table
from anaphora.formats.tagged import labels_of

ONE, SEVERAL, NONE = "with one label", "with several labels", "without a label"
"""Kinds of examples in ``LabelledSplits.found``."""
_NAMES_ARRAY = re.compile(r"\.npy[\"']?\s*(?:[\t,;]|$)", re.IGNORECASE)
_LOOKED_AT = 20
"""Rows of a table that tell whether it names arrays."""
_ENDINGS = (".tsv", ".csv", ".txt", ".jsonl", ".ndjson", ".json", *ENDINGS)


class LabelledFormat(NamedTuple):
    """Layout of labelled files."""

    encoding: str = "utf-8"
    separator: str | None = None
    """Separator of several labels, as for ``formats.labelled.read_labelled``."""
    vectors: bool = False
    """True if examples are sequences of vectors (``formats.labelled_vectors``)."""
    steps: bool = False
    """True if each of the vectors has its own tag; with a ``separator``, one of several labels."""
    columns: TableColumns = formats.TEXTS
    """Columns of text and label in tables."""

    def names_of(self, example: Example) -> Iterator[str]:
        if self.steps and self.separator is not None:
            return (label for tag in example.labels for label in labels_of(tag))
        return iter(example.labels)


PLAIN = LabelledFormat()
"""Texts of one class each, in UTF-8."""


@dataclass(frozen=True)
class LabelledCorpus(ExampleCorpus[Example]):
    """Labelled texts or sequences from one or more files."""

    format: LabelledFormat = PLAIN

    def read(self, path: Path) -> Iterator[Example]:
        encoding, separator, vectors, steps, columns = self.format
        if vectors:
            return read_labelled_vectors(path, separator=separator, steps=steps)
        return formats.read_labelled(path, encoding=encoding, separator=separator, columns=columns)

    def label_of(self, example: Example) -> str:
        return "" if self.format.steps else " ".join(sorted(example.labels))

    def labels_in(self, example: Example) -> Iterator[str]:
        return self.format.names_of(example)

    def write(self, examples: Sequence[Example], folder: Path, name: str) -> None:
        """Write a table with a heading, or arrays."""
        between = self.format.separator or ""
        if self.format.vectors:
            values = [one.vectors for one in examples]
            of_each = [one.labels if self.format.steps else (between.join(one.labels),) for one in examples]
            labels = list(chain.from_iterable(of_each))
            lengths = [len(one) for one in values]
            np.savez(folder / f"{name}.npz", values=np.concatenate(values), lengths=lengths, labels=labels)
            return
        rows = (f"{between.join(one.labels)}\t{' '.join(one.text.split())}" for one in examples)
        write_lines(folder / f"{name}.tsv", chain(["label\ttext"], rows))


@dataclass(frozen=True)
class LabelledSplits(Splits[LabelledCorpus]):
    """The splits, and the classes of training and validation in the order of their names."""

    labels: tuple[str, ...]
    found: Evidence
    """Training texts by how many labels each has."""

    @property
    def several(self) -> bool:
        """True if more training texts than a few have several labels or none, and some have several."""
        return bool(self.found.counts[SEVERAL]) and not self.found.is_rare(SEVERAL, NONE)


def labelled_splits(
    data: Sequence[Path], names: Names, format: LabelledFormat = PLAIN, report: Report = silent
) -> LabelledSplits:
    """The splits; without a validation split a tenth of the texts is held out by a hash of each, which a Note reports.

    Raises DataError for a missing file, a faulty line, fewer than two classes (or no label where there may be several),
    and a split with nothing in it.
    """
    demand_data(data)
    train, valid, tests = list[Path](), list[Path](), dict[str, list[Path]]()
    for path in data:
        listing = {} if path.is_file() else _listing(path)
        stem = _train_stem(listing, names.train)
        found = listing.get(stem)
        if path.is_file() or (not found and formats.class_folders(path)):
            train.append(path)
            continue
        if not found:
            refuse_packed(path)
            there = ", ".join(sorted(listing)[:8]) or "nothing"
            raise DataError(f"{path} should hold {names.train}.tsv or the like, but it holds {there}: name the files.")
        prefix = stem.removesuffix(names.train)
        train.append(found)
        valid += next(([file] for name in names.validation() if (file := listing.get(prefix + name))), [])
        for stem, file in sorted(listing.items()):
            if stem.startswith(prefix + names.test) and file not in (*train, *valid):
                tests.setdefault(stem, []).append(file)
    if not format.vectors:
        format = format._replace(columns=columns_read(train[0], encoding=format.encoding, columns=format.columns))
    whole, by_label, found_of = _read(names.train, train, format)
    labels = tuple(sorted(by_label.counts))
    if len(labels) < (1 if found_of.counts[SEVERAL] + found_of.counts[NONE] else 2):
        what = f"the one class '{labels[0]}'" if labels else "no label at all"
        raise DataError(f"{train[0]} has {what}: training needs two classes or more.")
    for file in (*train, *valid, *chain.from_iterable(tests.values())):
        if format.vectors and holds_numbers(file):
            continue
        found_in = columns_read(file, encoding=format.encoding, columns=format.columns)
        if is_table(file.name, *formats.TABLES) and found_in.header[:1] not in ((), ("1",)):
            report(Note(f"The first line of {file} names its columns and is left out."))
    if not format.steps:
        more = f"; {found_of}" if len(found_of.counts) > 1 else ""
        report(Note(f"Labels of the training split are {by_label}{more}."))
    of_tests = {name: _read(name, files, format, labels)[0] for name, files in tests.items()}
    if valid:
        held = _read(names.valid, valid, format, labels)[0]
        return LabelledSplits(whole, held, of_tests, labels, found_of)
    files = [] if format.vectors else _files(train)
    whose = [whole.fingerprint] if format.vectors else []
    rest, tenth = (fingerprint(files, *whose, choice) for choice in ("rest", "held"))
    noun = "sequence" if format.vectors else "text"
    return LabelledSplits(*whole.split(names.valid, rest, tenth, noun, report), of_tests, labels, found_of)


def labelled_corpus(path: Path, known: Sequence[str], format: LabelledFormat) -> LabelledCorpus:
    """One file, or a folder with a folder per class; DataError with its line for a fault or a label not ``known``."""
    if not path.is_file() and not (path.is_dir() and formats.class_folders(path)):
        raise DataError(f"{path} should be a file of labelled texts, or a folder with a folder per class: check it.")
    return _read(path.name, [path], format, known)[0]


def hold_vectors(data: Sequence[Path]) -> bool:
    """True if data is of vectors: array files, or a table of numbers, or most of whose first rows name such files."""
    files = [file for path in data for file in (sorted(path.iterdir()) if path.is_dir() else [path]) if file.is_file()]
    if any(map(is_array_file, files)) or any(map(holds_numbers, files)):
        return True
    tables = (
        islice(read_lines(file, any_format=True, replace_invalid=True), _LOOKED_AT)
        for file in files
        if is_table(file.name, *formats.TABLES)
    )
    named = ([bool(_NAMES_ARRAY.search(line)) for line in lines] for lines in tables)
    return any(2 * sum(rows) >= len(rows) > 0 for rows in named)


def _read(
    name: str, files: Sequence[Path], format: LabelledFormat, known: Sequence[str] = ()
) -> tuple[LabelledCorpus, Evidence, Evidence]:
    """Return the corpus, and its examples by their labels and by how many they have.

    DataError at the first example with a label that is none of ``known``, where any is.
    """
    corpus = LabelledCorpus(name, tuple(files), fingerprint(_files(files), format.encoding), format=format)
    digest = hashlib.sha256()
    by_label, found, classes = Evidence(), Evidence(), frozenset(known)
    for example in corpus.examples():
        labels = [*format.names_of(example)]
        if known:
            refuse_unknown(labels, classes, partial(corpus.place, example))
        for label in labels:
            by_label.add(label, example.place)
        if not format.steps:
            found.add((NONE, ONE, SEVERAL)[min(len(example.labels), 2)], example.place)
        digest.update(f"{example.labels} {example.text}".encode())
    if format.vectors:  # which may be in other files than those named
        corpus = replace(corpus, fingerprint=digest.hexdigest())
    return corpus.with_count("labelled text"), by_label, found


def _files(paths: Sequence[Path]) -> list[Path]:
    return [file for path in paths for file in (sorted(path.glob("*/*.txt*")) if path.is_dir() else [path])]


def _listing(path: Path) -> dict[str, Path]:
    if not path.is_dir():
        check_regular(path)
        demand_path(path)
    return {split_name(entry, _ENDINGS): entry for entry in sorted(path.iterdir()) if not entry.name.startswith(".")}


def _train_stem(listing: dict[str, Path], name: str) -> str:
    """``name``, or the one entry that ends in ``.name``, whose prefix the other splits share."""
    fitting = [name] if name in listing else [stem for stem in listing if stem.endswith(f".{name}")]
    if len(fitting) > 1:
        raise DataError(
            f"Several files are the split '{name}': {' and '.join(fitting)}; set data.train to one of them."
        )
    return fitting[0] if fitting else name
