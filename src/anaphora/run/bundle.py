"""A bundle: one file with all that predictions need of a run, to hand on.

It is a safetensors file, so that nothing in it can execute and weights are mapped where they lie. Its tensors are

    weights/NAME   weights by their names in a checkpoint
    largest/NAME   of a matrix in int8: the largest number in size of each row
    files/NAME     bytes of a file of the run folder: inference.json, vocabulary/.., and where they are there
                   confidence.json, shortlist.safetensors and card.md, at whose end a NOTICE stands

and its metadata a ``Contents`` with the SHA-256 of all else. In bf16 and int8, matrices of products are stored as
products read them, and all other weights in fp32: so predictions are those of the run in that precision, to the byte.

A row w of a matrix in int8 is stored as the whole numbers q that its products make of it, and the largest |w| in it,
which their scale s = max |w| / 127 follows from. From q s, with that largest number itself where q is 127 or -127,
products make q and s again.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cached_property
from mmap import mmap
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from anaphora import files
from anaphora.errors import ConfigError, RunError
from anaphora.files import DamagedError
from anaphora.inference.matrices import matrices_of
from anaphora.kernels.compiled.gemm import INT8_LONGEST
from anaphora.records import Record
from anaphora.run.card import with_notice
from anaphora.run.checkpoint import Checkpoint
from anaphora.run.folder import Run, tokenizers_in
from anaphora.run.inference import Inference
from anaphora.run.layout import BUNDLE, INFERENCE
from anaphora.run.manifest import check_format
from anaphora.run.weights import (
    BFLOAT16,
    LARGEST,
    Array,
    Arrays,
    check_kinds,
    first_overflowing,
    parse,
    serialise,
    widen,
)
from anaphora.text.tokenizer import Tokenizer

BundlePrecision = Literal["fp32", "bf16", "int8"]

_FORMAT = 1
_METADATA = "anaphora"
_LARGEST_HEADER = 1 << 24
_WEIGHTS, _LARGEST, _FILES = "weights/", "largest/", "files/"
CARD, NOTICE = "card.md", "NOTICE"
_OPTIONAL = ("confidence.json", "shortlist.safetensors", CARD)


class Contents(Record, extra="forbid"):
    """The metadata of a bundle."""

    format: int
    precision: BundlePrecision
    checkpoint: str
    """Name of the checkpoint that it was made of."""
    weights: str
    """SHA-256 of the weights of that, by which the confidence knows them."""
    sha256: str
    """SHA-256 of the header without this metadata, and of all numbers."""


class Bundle:
    """A bundle, opened and verified."""

    def __init__(self, path: Path, contents: Contents, tensors: Arrays) -> None:
        """Use ``open``."""
        self.path, self.contents, self._tensors = path, contents, tensors

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file of a bundle and compare it with its SHA-256.

        Raises DamagedError where it is none or changed, and RunError for one of a newer format.
        """
        if not path.exists():
            raise RunError(f"A bundle should be at {path}, but nothing is there: check the path.")
        path = path.resolve()
        content = files.map_file(path, path.stat().st_size)
        header, data = _header(content, path)
        contents = _contents(header, path)
        if contents.sha256 != _digest(header, contents, data):
            raise DamagedError(f"{path} was changed or cut after it was written: its SHA-256 differs; get it again.")
        return cls(path, contents, parse(content, path))

    def file(self, name: str) -> bytes | None:
        """Return the content of a file of the run folder; None where it is not in it."""
        content = self._tensors.get(_FILES + name)
        return None if content is None else content.tobytes()

    @cached_property
    def inference(self) -> Inference:
        """Content for predictions beside vocabularies and weights."""
        content = self.file(INFERENCE)
        found = None if content is None else Inference.parse(content, self.path)
        if found is None or found.network is None:
            raise DamagedError(f"{self.path} has no network that this version of Anaphora reads: export the run again.")
        return found

    def tokenizers(self) -> dict[str, Tokenizer]:
        """Return the vocabularies by side; RunError for one that is damaged."""

        def read(path: Path, most: int) -> bytes:
            content = self.file(f"{path.parent.name}/{path.name}")
            if content is None or len(content) > most:
                raise DamagedError(f"{path} is missing.")
            return content

        return tokenizers_in(self.inference.options.get("text"), self.path, read)

    def weights(self) -> dict[str, Array]:
        """Return the weights as a network reads them: views of the file, those of a lower precision widened.

        Raises RunError for weights of another network, or that overflow.
        """
        kinds = self.inference.tensors
        names = (name for name in self._tensors if name.startswith(_WEIGHTS))
        found = {name: self._weight(name, kinds) for name in (name.removeprefix(_WEIGHTS) for name in names)}
        check_kinds(kinds, found, self.path)
        if broken := first_overflowing(found):
            raise DamagedError(f"{self.path} holds numbers in {broken} that are not finite or above {LARGEST:g}.")
        return found

    def _weight(self, name: str, kinds: Mapping[str, str]) -> Array:
        array, largest = self._tensors[_WEIGHTS + name], self._tensors.get(_LARGEST + name)
        if largest is not None:
            if (array.ndim, largest.shape) != (2, array.shape[:1]) or array.dtype.kind != "i":
                raise DamagedError(f"{self.path} has no matrix in int8 under the name {name}.")
            return _expand(array, largest)
        return array if kinds.get(name, "").endswith("bfloat16") else widen(array)


def is_bundle(path: Path) -> bool:
    """True if a path is named like a bundle, and is no folder."""
    return path.name.endswith(BUNDLE) and not path.is_dir()


def content_of(run: Path, name: str, most: int) -> bytes | None:
    """Return a file of a run folder or of a bundle; None where it has none. Errors as for ``files.read``."""
    if is_bundle(run):
        return Bundle.open(run).file(name)
    path = run / name
    return files.read(path, most) if path.exists() or path.is_symlink() else None


def write(path: Path, run: Run, found: Inference, checkpoint: Checkpoint, precision: BundlePrecision) -> None:
    """Write a bundle of a checkpoint, whole or not at all.

    Raises ConfigError for a network without a description and for another ending, OSError where there is no room.
    """
    if found.network is None:
        raise ConfigError(f"{run.path} is {found.noun} that needs the run folder: its network runs in PyTorch alone.")
    if not path.name.endswith(BUNDLE):
        raise ConfigError(f"A bundle is known by its name, so that {path} should end in {BUNDLE}: name it so.")
    matrices = matrices_of(found.network) if precision != "fp32" else set()
    tensors = dict[str, Array]()
    for name, array in checkpoint.model.items():
        tensors |= _rounded(name, array, precision if name in matrices else "fp32")
    vocabulary = [name for name in run.fingerprints if name.startswith("vocabulary/")]
    contents = {name: content_of(run.path, name, 1 << 30) for name in (*vocabulary, *_OPTIONAL)}
    contents[INFERENCE] = found.serialise()
    if notice := content_of(run.path, NOTICE, files.MEGABYTE):
        contents[CARD] = with_notice(contents[CARD] or b"", notice)
    tensors |= {
        _FILES + name: np.frombuffer(content, np.uint8) for name, content in contents.items() if content is not None
    }
    table = Contents(
        format=_FORMAT,
        precision=precision,
        checkpoint=checkpoint.path.name,
        weights=files.sha256(serialise(checkpoint.model)),
        sha256="",
    )
    header, data = _header(serialise(tensors), path)
    table = replace(table, sha256=_digest(header, table, data))
    files.replace_durably(path, serialise(tensors, {_METADATA: json.dumps(asdict(table))}))


def _header(content: bytes | mmap, path: Path) -> tuple[dict[str, Any], memoryview]:
    """Return the table of a safetensors file, of a size that has a bound, and the bytes after it."""
    end = 8 + int.from_bytes(content[:8], "little")
    if not 8 < end <= min(len(content), _LARGEST_HEADER):
        raise DamagedError(f"{path} is no bundle, or cut: its header should be of up to {_LARGEST_HEADER:,} bytes.")
    try:
        return files.parse_json(bytes(content[8:end]), path), memoryview(content)[end:]
    except DamagedError:
        raise DamagedError(f"{path} is no bundle, or was changed: its header is no JSON.") from None


def _contents(header: Mapping[str, Any], path: Path) -> Contents:
    metadata = header.get("__metadata__")
    text = metadata.get(_METADATA) if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise DamagedError(f"{path} is no bundle: it has weights alone; give one that anaphora export wrote.")
    table = files.parse_json(text.encode("utf-8", "replace"), path)
    check_format(table.get("format"), path, _FORMAT)
    return Contents.from_table(table, path, "a bundle")


def _digest(header: Mapping[str, Any], contents: Contents, data: memoryview) -> str:
    """SHA-256 of all of a bundle but that itself."""
    tensors = {name: entry for name, entry in header.items() if name != "__metadata__"}
    sealed = [tensors, asdict(replace(contents, sha256=""))]
    found = hashlib.sha256(json.dumps(sealed, sort_keys=True).encode())
    found.update(data)
    return found.hexdigest()


def _rounded(name: str, array: Array, precision: BundlePrecision) -> dict[str, Array]:
    """Return the tensors that a weight is stored as, a matrix of products in a precision; others as they are."""
    if array.dtype != np.float32 or array.ndim != 2:
        return {_WEIGHTS + name: array}
    if precision == "bf16":
        bits = array.view(np.uint32)
        upper = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16  # to the nearest, ties to even
        return {_WEIGHTS + name: upper.astype(np.uint16).view(BFLOAT16)}
    if precision == "int8" and array.shape[1] <= INT8_LONGEST:
        numbers, largest = _quantize(array)
        again = _quantize(_expand(numbers, largest))
        if all(map(np.array_equal, (numbers, largest), again)):
            return {_WEIGHTS + name: numbers, _LARGEST + name: largest}
    return {_WEIGHTS + name: array}


def _quantize(weight_NK: Array) -> tuple[Array, Array]:
    """Return the whole numbers that products in int8 make of a matrix, and the largest number of each row."""
    largest_N = np.abs(weight_NK).max(1, initial=0)
    scales_N = largest_N / np.float32(127)
    with np.errstate(divide="ignore"):
        inverses_N = np.where(scales_N >= np.finfo(np.float32).tiny, 1 / scales_N, np.float32(0))
    return np.rint(weight_NK * inverses_N[:, None]).clip(-128, 127).astype(np.int8), largest_N


def _expand(numbers_NK: Array, largest_N: Array) -> Array:
    """Return a matrix of which products in int8 make these numbers."""
    weight_NK: Array = numbers_NK * (largest_N / np.float32(127))[:, None]
    for number, largest in ((127, largest_N), (-127, -largest_N)):
        np.copyto(weight_NK, largest[:, None], where=numbers_NK == number)
    return weight_NK
