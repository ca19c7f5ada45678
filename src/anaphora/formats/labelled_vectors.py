"""Labelled sequences of vectors: an array file, or a table that names an ``.npy`` file for each.

An ``.npz`` or ``.safetensors`` file has ``values`` and ``lengths`` (``arrays.Sequences``) and ``labels``, strings or
whole numbers, one a sequence, or one a vector. A table is one of ``formats.labelled`` whose texts are paths beside it,
of arrays steps x width, or width for one vector; the labels of vectors share a cell, spaces between them.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from anaphora.errors import DataError
from anaphora.formats.arrays import ArrayFile, Floats, Sequences
from anaphora.formats.labelled import Example, read_labelled, split_labels
from anaphora.formats.tagged import is_label
from anaphora.wording import counted

ENDINGS = (".npz", ".safetensors")
"""Of array files."""


def is_array_file(path: Path) -> bool:
    """Whether a name is that of an array file."""
    return path.name.lower().endswith(ENDINGS)


def read_vectors(path: Path) -> Iterator[tuple[str, Floats]]:
    """The place and the vectors of each sequence of an array file, labelled or not, or of one ``.npy`` file.

    Raises DataError, with its place, for a fault.
    """
    if path.name.lower().endswith(".npy"):
        yield str(path), _array(path)
        return
    sequences = Sequences(ArrayFile(path))
    for number in range(len(sequences)):
        yield f"{path}: sequence {number + 1}", sequences[number]


def read_labelled_vectors(path: Path, *, separator: str | None = None, steps: bool = False) -> Iterator[Example]:
    """The labelled sequences of a file; the ``text`` of each is a digest of its vectors.

    With ``steps`` each vector has one label of its own, else ``separator`` is as for ``read_labelled``. Raises
    DataError, with its line or place, for a fault.
    """
    if not is_array_file(path):
        for example in read_labelled(path, separator=None if steps else separator):
            values_TD = _array(path.parent / example.text)
            if steps:
                found = _one_each(example.place, " ".join(example.labels).split(), values_TD)
                example = example._replace(labels=found)
            yield example._replace(text=_digest(values_TD), values_TD=values_TD)
        return
    labels, sequences = _labels(ArrayFile(path)), Sequences(ArrayFile(path))
    expected, what = (sum(sequences.lengths), "vector") if steps else (len(sequences), "sequence")
    if len(labels) != expected:
        raise DataError(
            f"{path} has {counted(len(labels), 'label')}, but {counted(expected, what)}: give each {what} one label."
        )
    begin = 0
    for number, length in enumerate(sequences.lengths):
        place, values_TD = f"{path}: sequence {number + 1}", sequences[number]
        if steps:
            found = _one_each(place, labels[begin : begin + length], values_TD)
        else:
            found = split_labels(place, [labels[number]], separator)
        begin += length
        yield Example(place, found, _digest(values_TD), values_TD)


def _one_each(place: str, labels: Sequence[str], values_TD: Floats) -> tuple[str, ...]:
    """The label of each vector; DataError for another number of them, and for an empty one."""
    if len(labels) != len(values_TD):
        raise DataError(
            f"{place} has {counted(len(labels), 'label')}, but {counted(len(values_TD), 'vector')}: give each vector "
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
        raise DataError(f"{file.path} has no array 'labels', which training and evaluation need: add one.")
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


def _digest(values_TD: Floats) -> str:
    return sha256(values_TD.tobytes()).hexdigest()
