"""Real-valued sequences: the training, validation and test splits of a corpus, each file read through once.

A FOLDER holds ``train``, ``val`` (or ``valid``, ``dev``) and any ``test*``, each a file or a folder of files; a FILE,
or a folder with files alone, is trained on. Files are known by their endings (``READERS``).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from anaphora.data.corpora import fingerprint
from anaphora.data.finding import Names
from anaphora.data.holdout import in_tenth
from anaphora.errors import DataError
from anaphora.events import Note, Report, silent
from anaphora.formats.arrays import ArrayFile, Sequences
from anaphora.formats.ink_xml import read_ink_xml
from anaphora.formats.lines import write_lines
from anaphora.formats.stroke_json import read_stroke_json
from anaphora.formats.traces import Trace


def read_arrays(path: Path) -> Iterator[Trace]:
    """The sequences of ``values`` and ``lengths``, with their ``texts`` if there are any: see ``arrays.Sequences``.

    Raises DataError with its place for a fault.
    """
    file = ArrayFile(path)
    sequences = Sequences(file)
    texts = file.strings("texts") if "texts" in file.names else [""] * len(sequences)
    if len(texts) != len(sequences):
        raise DataError(f"{path} has {len(texts):,} texts, but {len(sequences):,} sequences: give each a text.")
    for number, text in enumerate(texts):
        yield Trace(f"{path}: sequence {number + 1}", sequences[number].astype(np.float64), None, text)


READERS: Mapping[str, Callable[[Path], Iterator[Trace]]] = {
    ".jsonl": read_stroke_json,
    ".ndjson": read_stroke_json,
    ".json": read_stroke_json,
    ".inkml": read_ink_xml,
    ".xml": read_ink_xml,
    ".npz": read_arrays,
    ".safetensors": read_arrays,
}
"""By the ending of a name, ``.gz`` aside."""


def every(trace: Trace) -> bool:
    """Keep the sequence."""
    return True


def read_traces(path: Path) -> Iterator[Trace]:
    """The sequences of a file; DataError for an unknown ending, and with its place for a fault."""
    ending = ending_of(path)
    if ending not in READERS:
        raise DataError(f"{path} should end in {', '.join(READERS)}: name it so, or convert it.")
    return READERS[ending](path)


def ending_of(path: Path) -> str:
    """The ending of a name, ``.gz`` aside."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


@dataclass(frozen=True)
class TraceCorpus:
    """Sequences from one or more files, those that ``keep`` wants."""

    name: str
    paths: tuple[Path, ...]
    fingerprint: str
    """A sha256 of the files' bytes and of what was chosen from them."""
    count: int = 0
    """Sequences in the corpus."""
    keep: Callable[[Trace], bool] = every

    def traces(self) -> Iterator[Trace]:
        """The sequences, read again; DataError with the place of a fault."""
        for path in self.paths:
            yield from filter(self.keep, read_traces(path))

    def __iter__(self) -> Iterator[str]:
        """The texts, read again."""
        return (trace.text for trace in self.traces())

    lines = __iter__

    def located(self) -> Iterator[tuple[Path, int, str]]:
        """The texts with their files and lines: see ``corpora.LocatedCorpus``."""
        for trace in self.traces():
            path, colon, line = trace.place.rpartition(":")
            yield (
                (Path(path), int(line), trace.text)
                if colon and line.isdecimal()
                else (Path(trace.place), 1, trace.text)
            )

    def write_sample(self, folder: Path, name: str, limit: int) -> int:
        """The first sequences as JSON lines, or as arrays without a pen: see ``corpora.LocatedCorpus``."""
        sample = list(islice(self.traces(), limit))
        if sample[0].ends_T is not None:
            write_lines(folder / f"{name}.jsonl", map(json_line, sample))
        else:
            values = np.concatenate([trace.values_TD for trace in sample])
            lengths = [len(trace.values_TD) for trace in sample]
            np.savez(folder / f"{name}.npz", values=values, lengths=lengths, texts=[trace.text for trace in sample])
        return len(sample)


@dataclass(frozen=True)
class TraceSplits:
    """The splits; ``tests`` by name, perhaps none."""

    train: TraceCorpus
    valid: TraceCorpus
    tests: dict[str, TraceCorpus]


def json_line(trace: Trace) -> str:
    """A sequence of strokes as a line of JSON that ``read_stroke_json`` reads."""
    assert trace.ends_T is not None
    text = {"text": trace.text} if trace.text else {}
    if trace.offsets is None:
        rows = [[*row, int(end)] for row, end in zip(trace.values_TD.tolist(), trace.ends_T, strict=True)]
        return json.dumps({**text, "points": rows}, ensure_ascii=False)
    cuts = np.flatnonzero(trace.ends_T)[:-1] + 1
    return json.dumps(
        {**text, "strokes": [part.tolist() for part in np.split(trace.values_TD, cuts)]}, ensure_ascii=False
    )


def trace_splits(data: Sequence[Path], names: Names, report: Report = silent) -> TraceSplits:
    """The splits; without a validation split a tenth is held out by a hash of text and points, which a Note reports.

    Raises DataError for a missing file, a fault in one, and a split with nothing in it.
    """
    if not data:
        raise DataError("Training needs data, but none was given: pass --data FOLDER or --data FILE.")
    train, valid, tests = list[Path](), list[Path](), dict[str, list[Path]]()
    for path in data:
        if not path.exists():
            raise DataError(f"--data should be a folder or a file, but there is no {path}: check the path.")
        listing = {} if path.is_file() else _listing(path)
        if names.train not in listing:
            train += _files(path)
            continue
        train += _files(listing[names.train])
        valid += next((_files(listing[name]) for name in names.validation() if name in listing), [])
        for stem, entry in listing.items():
            if stem.startswith(names.test):
                tests.setdefault(stem, []).extend(_files(entry))
    whole = _read(names.train, train)
    of_tests = {name: _read(name, files) for name, files in tests.items()}
    if valid:
        return TraceSplits(whole, _read(names.valid, valid), of_tests)
    held = sum(map(_held_out, whole.traces()))
    if not 0 < held < whole.count:
        raise DataError(f"{train[0]} has too few sequences to hold some out for validation: give a validation split.")
    report(Note(f"No validation split was given, so {held:,} of {whole.count:,} sequences are held out (by hash)."))
    rest, part = (fingerprint(train, choice) for choice in ("without the held-out tenth", "the held-out tenth"))
    return TraceSplits(
        replace(whole, fingerprint=rest, count=whole.count - held, keep=_kept),
        replace(whole, name="valid", fingerprint=part, count=held, keep=_held_out),
        of_tests,
    )


def _read(name: str, files: Sequence[Path]) -> TraceCorpus:
    corpus = TraceCorpus(name, tuple(files), fingerprint(files))
    count = sum(1 for _ in corpus.traces())
    if not count:
        raise DataError(f"{', '.join(map(str, files))} has no sequence for the split '{name}': add some, or remove it.")
    return replace(corpus, count=count)


def _held_out(trace: Trace) -> bool:
    return in_tenth(f"{trace.text} {trace.values_TD.tolist()}")


def _kept(trace: Trace) -> bool:
    return not _held_out(trace)


def _listing(folder: Path) -> dict[str, Path]:
    """The entries of a folder by their names less a known ending."""
    entries = (entry for entry in sorted(folder.iterdir()) if not entry.name.startswith("."))
    return {_stem(entry): entry for entry in entries if entry.is_dir() or ending_of(entry) in READERS}


def _stem(entry: Path) -> str:
    return entry.name if entry.is_dir() else entry.name.removesuffix(".gz")[: -len(ending_of(entry))]


def _files(path: Path) -> list[Path]:
    """A file, or all files of a known ending below a folder."""
    if path.is_file():
        return [path]
    found = [entry for entry in sorted(path.rglob("*")) if entry.is_file() and ending_of(entry) in READERS]
    if not found:
        raise DataError(f"{path} should hold files that end in {', '.join(READERS)}, but holds none: check the path.")
    return found
