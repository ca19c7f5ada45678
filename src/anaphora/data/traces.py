"""Real-valued sequences: the training, validation and test splits of a corpus, each file read through once.

A FOLDER holds ``train``, ``val`` (or ``valid``, ``dev``) and any ``test*``, each a file or a folder of files; a FILE,
or a folder with files alone, is trained on. Files are known by their endings (``READERS``).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anaphora.data.corpora import Splits, fingerprint
from anaphora.data.examples import ExampleCorpus, example_splits
from anaphora.data.finding import Names, SplitFiles, demand_data, demand_path, ending_of, split_name
from anaphora.data.labelled import hold_vectors
from anaphora.errors import DataError
from anaphora.events import Report, silent
from anaphora.formats.arrays import ArrayFile, Sequences
from anaphora.formats.ink_xml import read_ink_xml
from anaphora.formats.labelled_vectors import read_vectors
from anaphora.formats.lines import read_lines, write_lines
from anaphora.formats.strings import holds_strings
from anaphora.formats.stroke_json import read_stroke_json
from anaphora.formats.traces import Trace
from anaphora.wording import inflect


def read_arrays(path: Path) -> Iterator[Trace]:
    """The sequences of ``values`` and ``lengths``, with their ``texts`` if there are any: see ``arrays.Sequences``.

    Raises DataError with its place for a fault.
    """
    file = ArrayFile(path)
    sequences = Sequences(file)
    texts = file.strings("texts") if "texts" in file.names else [""] * len(sequences)
    if len(texts) != len(sequences):
        raise DataError(
            f"{path} has {inflect(len(texts), 'text')}, but {inflect(len(sequences), 'sequence')}: give each a text."
        )
    for number, text in enumerate(texts):
        yield Trace(f"{path}: sequence {number + 1}", sequences[number].astype(np.float64), None, text)


def read_number_table(path: Path) -> Iterator[Trace]:
    """Yield the sequences of a table of numbers: see ``formats.labelled_vectors.read_vectors``."""
    return (Trace(place, values_TD.astype(np.float64), None) for place, values_TD in read_vectors(path))


def read_named_arrays(path: Path) -> Iterator[Trace]:
    """Yield the sequences of a table: the path of an ``.npy`` file beside it, a tab and the text.

    A first row without such a path is a heading. Raises DataError with its line for a fault.
    """
    for number, line in enumerate(read_lines(path, any_format=True), 1):
        name, *cells = line.split("\t")
        is_array = name.strip().lower().endswith(".npy")
        if not line.strip() or (number == 1 and not is_array):
            continue
        if not is_array or len(cells) > 1:
            raise DataError(
                f"{path}:{number} should be the path of an .npy file, a tab and a text, but is {line!r:.60}: correct "
                f"it."
            )
        [(_, values_TD)] = read_vectors(path.parent / name.strip())
        yield Trace(f"{path}:{number}", values_TD.astype(np.float64), None, cells[0].strip() if cells else "")


READERS: Mapping[str, Callable[[Path], Iterator[Trace]]] = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), read_stroke_json),
    **dict.fromkeys((".inkml", ".xml"), read_ink_xml),
    **dict.fromkeys((".npz", ".safetensors"), read_arrays),
    ".tsv": read_named_arrays,
    ".csv": read_number_table,
}
"""Readers by the ending of a name, ``.gz`` aside."""


def read_traces(path: Path) -> Iterator[Trace]:
    """Return the sequences of a file; DataError for an unknown ending, and with its place for a fault."""
    if not (ending := ending_of(path, [*READERS])):
        raise DataError(f"{path} should end in {', '.join(READERS)}: name it so, or convert it.")
    return READERS[ending](path)


def are_traces(data: Sequence[Path]) -> bool:
    """True if data is real-valued sequences and no text, by the names of its files and the first lines of tables."""
    files = [file for path in data for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()]
    are_read = (ending_of(file, [*READERS]) not in ("", ".tsv", ".csv") and not holds_strings(file) for file in files)
    return any(are_read) or hold_vectors(data)


@dataclass(frozen=True)
class TraceCorpus(ExampleCorpus[Trace]):
    """Sequences from one or more files."""

    def read(self, path: Path) -> Iterator[Trace]:
        return read_traces(path)

    def held_out_key(self, example: Trace) -> str:
        """Text and points."""
        return f"{example.text} {example.values_TD.tolist()}"

    def write(self, examples: Sequence[Trace], folder: Path, name: str) -> None:
        """JSON lines, or arrays without a pen."""
        if examples[0].ends_T is not None:
            write_lines(folder / f"{name}.jsonl", map(json_line, examples))
        else:
            values = np.concatenate([trace.values_TD for trace in examples])
            lengths = [len(trace.values_TD) for trace in examples]
            np.savez(folder / f"{name}.npz", values=values, lengths=lengths, texts=[trace.text for trace in examples])


def json_line(trace: Trace) -> str:
    """Return a sequence of strokes as a line of JSON that ``read_stroke_json`` reads."""
    assert trace.ends_T is not None
    text = {"text": trace.text} if trace.text else {}
    if trace.offsets is None:
        rows = [[*row, int(end)] for row, end in zip(trace.values_TD.tolist(), trace.ends_T, strict=True)]
        return json.dumps({**text, "points": rows}, ensure_ascii=False)
    cuts = np.flatnonzero(trace.ends_T)[:-1] + 1
    return json.dumps(
        {**text, "strokes": [part.tolist() for part in np.split(trace.values_TD, cuts)]}, ensure_ascii=False
    )


def trace_splits(data: Sequence[Path], names: Names, report: Report = silent) -> Splits[TraceCorpus]:
    """The splits; without a validation split a tenth is held out by a hash of text and points, which a Note reports.

    Raises DataError for a missing file, a fault in one, and a split with nothing in it.
    """
    demand_data(data)
    found: SplitFiles[Path] = SplitFiles()
    for path in data:
        demand_path(path)
        listing = {} if path.is_file() else _listing(path)
        if names.train not in listing:
            found.train += _files(path)
            continue
        found.train += _files(listing[names.train])
        found.valid += next((_files(listing[name]) for name in names.validation() if name in listing), [])
        for stem, entry in listing.items():
            if stem.startswith(names.test):
                found.tests.setdefault(stem, []).extend(_files(entry))
    return example_splits(found, names, _read, "sequence", report)


def trace_corpus(path: Path) -> TraceCorpus:
    """The sequences of a file, or of all files of a known ending below a folder; errors as for ``trace_splits``."""
    demand_path(path)
    return _read(path.name, _files(path))


def _read(name: str, files: Sequence[Path]) -> TraceCorpus:
    return TraceCorpus(name, tuple(files), fingerprint(files)).with_count("sequence")


def _listing(folder: Path) -> dict[str, Path]:
    """Return the entries of a folder by their names less a known ending."""
    entries = (entry for entry in sorted(folder.iterdir()) if not entry.name.startswith("."))
    return {split_name(entry, [*READERS]): entry for entry in entries if entry.is_dir() or ending_of(entry, [*READERS])}


def _files(path: Path) -> list[Path]:
    """Return a file, or all files of a known ending below a folder."""
    if path.is_file():
        return [path]
    found = [entry for entry in sorted(path.rglob("*")) if entry.is_file() and ending_of(entry, [*READERS])]
    if not found:
        raise DataError(f"{path} should hold files that end in {', '.join(READERS)}, but holds none: check the path.")
    return found
