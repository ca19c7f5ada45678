"""Labelled sequences of vectors: array files, tables of numbers, and tables of array files.

Labels are those of ``formats.labelled``, one or several a sequence, or one a vector.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from anaphora.errors import DataError
from anaphora.files import sha256
from anaphora.formats.arrays import ArrayFile, Floats, Sequences
from anaphora.formats.labelled import LABEL_COLUMNS, TABLES, TEXT_COLUMNS, Example, read_labelled, split_labels
from anaphora.formats.lines import read_lines
from anaphora.formats.table_rows import is_table, table_rows
from anaphora.formats.tagged import is_label
from anaphora.wording import inflect

ENDINGS = (".npz", ".safetensors")
"""Endings of array files."""
IDS = ("id", "sequence", "sequence_id", "series", "series_id")
"""Columns of a table of numbers that say which sequence the vector of a row is in."""
_LOOKED_AT = 20
"""Rows that tell a table of numbers."""


def is_array_file(path: Path) -> bool:
    """True if a name is that of an array file."""
    return path.name.lower().endswith(ENDINGS)


class _NumberColumns(NamedTuple):
    """Columns of a table of numbers, from 0."""

    label: int | None
    sequence: int | None
    values: list[int]

    @classmethod
    def of(cls, heads: Sequence[str]) -> "_NumberColumns":
        """Return those that a heading names; y beside x is a number."""
        names = [head.strip().casefold() for head in heads]
        labels = [one for one in LABEL_COLUMNS if one != "y" or "x" not in names]
        label, sequence = (next((names.index(one) for one in of if one in names), None) for of in (labels, IDS))
        return cls(label, sequence, [place for place in range(len(names)) if place not in (label, sequence)])


def holds_numbers(path: Path) -> bool:
    """True if a file is a table whose heading names a label, and whose other columns are numbers."""
    if not path.is_file() or not is_table(path.name, *TABLES):
        return False
    rows = table_rows(read_lines(path, any_format=True, replace_invalid=True), str(path))
    heads, *others = [*islice((row.cells for row in rows if any(row.cells)), _LOOKED_AT)] or [[]]
    label, sequence, values = _NumberColumns.of(heads)
    is_wide = label is not None and len(values) + (sequence is not None) > 1
    of_text = {heads[place].strip().casefold() for place in values} & {*TEXT_COLUMNS} - {"x"}
    found = [all(_number(cells[place]) is not None for place in values) for cells in others if len(cells) == len(heads)]
    return is_wide and not of_text and not any(map(_number, heads)) and 2 * sum(found) >= len(others) > 0


def _number(cell: str) -> float | None:
    """Return the number in a cell; None for none, and where float32 makes it infinite."""
    try:
        with np.errstate(over="ignore"):
            return float(cell) if np.isfinite(np.float32(cell)) else None
    except ValueError:
        return None


def _number_rows(path: Path, steps: bool) -> Iterator[tuple[str, list[str], Floats]]:
    """Yield the place, the labels of all steps (none without a column of them) and the vectors of each sequence.

    A row is a step of the sequence that its id names. Without ids, all rows are the ``steps`` of one sequence, or each
    is a sequence. Raises DataError, with its line, for a fault.
    """
    rows = (row for row in table_rows(read_lines(path, any_format=True), str(path)) if any(row.cells))
    heads = next((row.cells for row in rows), [])
    label, sequence, columns = _NumberColumns.of(heads)
    if not columns or any(_number(head) is not None for head in heads):
        raise DataError(f"{path} should begin with a heading that names columns of numbers, as in label,f0,f1: add it.")

    def vectors() -> Iterator[tuple[str | int, int, str, list[float]]]:
        for row in rows:
            if len(row.cells) != len(heads):
                there = inflect(len(row.cells), "column")
                raise DataError(f"{path}:{row.number} has {there}, but the heading {len(heads)}: correct it.")
            numbers = [_number(row.cells[place]) for place in columns]
            if None in numbers:
                place = columns[numbers.index(None)]
                raise DataError(
                    f"{path}:{row.number} should have a number in the column {heads[place]}, but has "
                    f"{row.cells[place]!r:.40}: correct it, or leave the row out."
                )
            name = steps or row.number if sequence is None else row.cells[sequence].strip()
            yield name, row.number, "" if label is None else row.cells[label].strip(), cast(list[float], numbers)

    seen = set[str | int]()
    for name, group in groupby(vectors(), lambda one: one[0]):
        _, lines, labels, values = zip(*group, strict=True)
        if name in seen:
            raise DataError(
                f"{path}:{lines[0]} continues the sequence '{name}' after another one: sort the rows by sequence."
            )
        seen.add(name)
        yield f"{path}:{lines[0]}", [] if label is None else [*labels], np.array(values, np.float32)


def read_vectors(path: Path, *, steps: bool = True) -> Iterator[tuple[str, Floats]]:
    """Yield the place and the vectors of each sequence of a file, labelled or not, or of one ``.npy`` file.

    Files and ``steps`` are those of ``read_labelled_vectors``. Raises DataError, with its place, for a fault.
    """
    if path.name.lower().endswith(".npy"):
        yield str(path), _array(path)
        return
    if is_table(path.name, *TABLES):
        yield from ((place, values_TD) for place, _, values_TD in _number_rows(path, steps))
        return
    sequences = Sequences(ArrayFile(path), single=not steps)
    for number in range(len(sequences)):
        yield f"{path}: sequence {number + 1}", sequences[number]


def read_labelled_vectors(path: Path, *, separator: str | None = None, steps: bool = False) -> Iterator[Example]:
    """Yield the labelled sequences of a file; the ``text`` of each is a digest of its vectors.

    With ``steps`` each vector has one label of its own, else ``separator`` is as for ``read_labelled``. Raises
    DataError, with its line or place, for a fault.

    An ``.npz`` or ``.safetensors`` file has ``values`` and ``lengths`` (``arrays.Sequences``) and ``labels``, strings
    or whole numbers, one a sequence, or one a vector; without ``steps``, each of ``values`` is a sequence where there
    are no ``lengths``.

    A table with a heading has numbers, a vector a row; a column of ``IDS`` names the sequence. Without one, the file is
    one sequence with ``steps``, and each row is one without. Any other table is one of ``formats.labelled`` whose texts
    are paths beside it, of arrays steps x width, or width for one vector; the labels of vectors share a cell, spaces
    between them.
    """
    for place, labels, values_TD in _sequences(path, separator, steps):
        found = _one_each(place, labels, values_TD) if steps else split_labels(place, labels, separator)
        yield Example(place, found, sha256(values_TD.tobytes()), values_TD)


def _sequences(path: Path, separator: str | None, steps: bool) -> Iterator[tuple[str, Sequence[str], Floats]]:
    """Yield the place, the labels as they stand there, and the vectors of each sequence."""
    if holds_numbers(path):
        for place, labels, values_TD in _number_rows(path, steps):
            if not steps and len({*labels}) > 1:
                raise DataError(f"{place} begins a sequence with labels {', '.join(sorted({*labels}))}: give it one.")
            yield place, labels if steps else labels[:1], values_TD
    elif not is_array_file(path):
        for example in read_labelled(path, separator=None if steps else separator):
            labels = " ".join(example.labels).split() if steps else list(example.labels)
            yield example.place, labels, _array(path.parent / example.text)
    else:
        labels, sequences = _labels(ArrayFile(path)), Sequences(ArrayFile(path), single=not steps)
        expected, what = (sum(sequences.lengths), "vector") if steps else (len(sequences), "sequence")
        if len(labels) != expected:
            there = f"{inflect(len(labels), 'label')}, but {inflect(expected, what)}"
            raise DataError(f"{path} has {there}: give each {what} one label.")
        rest = iter(labels)
        for number, length in enumerate(sequences.lengths):
            yield f"{path}: sequence {number + 1}", [*islice(rest, length if steps else 1)], sequences[number]


def _one_each(place: str, labels: Sequence[str], values_TD: Floats) -> tuple[str, ...]:
    """Return the label of each vector; DataError for another number of them, and for an empty one."""
    if len(labels) != len(values_TD):
        raise DataError(
            f"{place} has {inflect(len(labels), 'label')}, but {inflect(len(values_TD), 'vector')}: give each vector "
            f"one label."
        )
    for step, label in enumerate(labels, 1):
        if not is_label(label) or any(map(str.isspace, label)):
            raise DataError(
                f"{place}, vector {step}, should have a label without spaces, but has {label!r:.40}: correct it."
            )
    return tuple(labels)


def _labels(file: ArrayFile) -> list[str]:
    if "labels" not in file.names:
        there = ", ".join(file.names[:5])
        raise DataError(f"{file.path} has no array 'labels', which training and evaluation need, only {there}: add it.")
    try:
        return list(map(str, file.integers("labels")))
    except DataError:
        return file.strings("labels")


def _array(path: Path) -> Floats:
    file = ArrayFile(path)
    [name, *_] = file.names
    array = file.real(name)
    if len(array.shape) > 2:
        raise DataError(f"{array.where} should be steps x width, but its shape is {array.shape}: reshape it.")
    return array[:].reshape(-1, array.shape[-1])
