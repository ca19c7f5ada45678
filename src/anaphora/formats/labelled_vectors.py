"""Labelled sequences of vectors: an array file, or a table that names an ``.npy`` file for each.

An ``.npz`` or ``.safetensors`` file has ``values`` and ``lengths`` (``arrays.Sequences``) and ``labels``, strings or
whole numbers, one a sequence. A table is one of ``formats.labelled`` whose texts are paths beside it, of arrays steps x
width, or width for one vector.
"""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from anaphora.errors import DataError
from anaphora.formats.arrays import ArrayFile, Floats, Sequences
from anaphora.formats.labelled import Example, read_labelled, split_labels

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


def read_labelled_vectors(path: Path, *, separator: str | None = None) -> Iterator[Example]:
    """The labelled sequences of a file; the ``text`` of each is a digest of its vectors.

    ``separator`` is as for ``read_labelled``. Raises DataError, with its line or place, for a fault.
    """
    if not is_array_file(path):
        for example in read_labelled(path, separator=separator):
            values_TD = _array(path.parent / example.text)
            yield example._replace(text=_digest(values_TD), values_TD=values_TD)
        return
    labels = _labels(ArrayFile(path))
    for number, (place, values_TD) in enumerate(read_vectors(path)):
        if number >= len(labels):
            break
        found = split_labels(place, [labels[number]], separator)
        yield Example(place, found, _digest(values_TD), values_TD)
    if len(labels) != number + 1:
        raise DataError(f"{path} has {len(labels):,} labels, but another number of sequences: give each one label.")


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
