"""Labelled texts: the training, validation and test splits of a corpus for classifiers, each file read through once.

A FOLDER holds ``train``, ``val`` (or ``valid``, ``dev``) and any ``test*`` as files of ``formats.labelled``, or as
folders with a folder per class; a FILE, or a folder with a folder per class, is trained on.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from anaphora.data.corpora import Splits, fingerprint
from anaphora.data.finding import Names, refuse_packed
from anaphora.data.holdout import in_tenth
from anaphora.errors import DataError
from anaphora.events import Note, Report, silent
from anaphora.formats.labelled import Example, class_folders, read_labelled
from anaphora.formats.lines import write_lines
from anaphora.wording import agreeing, counted

_ENDINGS = (".tsv", ".csv", ".txt", ".jsonl", ".ndjson", ".json")


def every(example: Example) -> bool:
    return True


@dataclass(frozen=True)
class LabelledCorpus:
    """Labelled texts from one or more files, those that ``keep`` wants."""

    name: str
    paths: tuple[Path, ...]
    fingerprint: str
    count: int
    encoding: str = "utf-8"
    keep: Callable[[Example], bool] = every

    def examples(self) -> Iterator[Example]:
        """The examples, read again."""
        for path in self.paths:
            yield from filter(self.keep, read_labelled(path, encoding=self.encoding))

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
        rows = (f"{one.label}\t{' '.join(one.text.split())}" for one in sample)
        write_lines(folder / f"{name}.tsv", chain(["label\ttext"], rows))
        return len(sample)


@dataclass(frozen=True)
class LabelledSplits(Splits[LabelledCorpus]):
    """The splits, and the classes of training and validation in the order of their names."""

    labels: tuple[str, ...]


def labelled_splits(
    data: Sequence[Path], names: Names, *, encoding: str = "utf-8", report: Report = silent
) -> LabelledSplits:
    """The splits; without a validation split a tenth of the texts is held out by a hash of each, which a Note reports.

    Raises DataError for a missing file, a faulty line, fewer than two classes, and a split with nothing in it.
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
            refuse_packed(path)
            there = ", ".join(sorted(listing)[:8]) or "nothing"
            raise DataError(f"{path} should hold {names.train}.tsv or the like, but it holds {there}: name the files.")
        prefix = stem.removesuffix(names.train)
        train.append(found)
        valid += next(([file] for name in names.validation() if (file := listing.get(prefix + name))), [])
        for stem, file in sorted(listing.items()):
            if stem.startswith(prefix + names.test) and file not in (*train, *valid):
                tests.setdefault(stem, []).append(file)
    whole, labels = _read(names.train, train, encoding)
    if len(labels) < 2:
        raise DataError(f"{train[0]} has the one class '{labels[0]}': a classifier needs two or more.")
    of_tests = {name: _read(name, files, encoding, known=labels)[0] for name, files in tests.items()}
    if valid:
        return LabelledSplits(whole, _read(names.valid, valid, encoding, known=labels)[0], of_tests, labels)
    held = sum(map(_held_out, whole.examples()))
    if not 0 < held < whole.count:
        raise DataError(f"{train[0]} has too few texts to hold some out for validation: give a validation split.")
    report(
        Note(
            f"No validation split was given, so {held:,} of {counted(whole.count, 'text')} "
            f"{agreeing(held, 'are')} held out for it (by hash)."
        )
    )
    files = tuple(train)
    return LabelledSplits(
        LabelledCorpus(names.train, files, fingerprint(_files(files), "rest"), whole.count - held, encoding, _kept),
        LabelledCorpus(names.valid, files, fingerprint(_files(files), "held"), held, encoding, _held_out),
        of_tests,
        labels,
    )


def check_labels(examples: Iterator[Example], known: Sequence[str]) -> Iterator[Example]:
    """The same examples; DataError at the first whose label is none of ``known``."""
    classes = frozenset(known)
    for example in examples:
        if example.label not in classes:
            shown = ", ".join(sorted(classes)[:8]) + (", ..." if len(classes) > 8 else "")
            raise DataError(
                f"{example.place} has the label '{example.label}', which training does not have ({shown}): correct it, "
                f"or remove the line."
            )
        yield example


def _read(
    name: str, files: Sequence[Path], encoding: str, known: Sequence[str] = ()
) -> tuple[LabelledCorpus, tuple[str, ...]]:
    corpus = LabelledCorpus(name, tuple(files), fingerprint(_files(files), encoding), 0, encoding)
    count, labels = 0, set[str]()
    for example in check_labels(corpus.examples(), known) if known else corpus.examples():
        count += 1
        labels.add(example.label)
    if not count:
        raise DataError(f"{files[0]} has no labelled text: add some, or remove the file.")
    return LabelledCorpus(name, corpus.paths, corpus.fingerprint, count, encoding), tuple(sorted(labels))


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
