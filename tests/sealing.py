"""Run folders whose content was changed by somebody who also wrote every checksum again."""

import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.errors import RunError
from anaphora.files import json_bytes, parse_toml, seal
from anaphora.run import manifest, shortlists, weights
from anaphora.run.folder import identity


def reseal(folder: Path) -> None:
    """Let every checksum of a run folder fit its content, as far as that can be read.

    Sealed again are the index of vocabularies, manifests, ``confidence.json``, the shortlist and the headers of encoded
    corpora. What is missing, no regular file or no JSON stays as it is.
    """
    _reseal_vocabularies(folder / "vocabulary")
    fingerprints = {f"vocabulary/{file.name}": _digest(file) for file in _files(folder / "vocabulary", "*")}
    with suppress(ValueError, OSError, AttributeError, RecursionError):
        table = parse_toml((folder / "experiment.toml").read_text(encoding="utf-8"))
        table.pop("format", None)
        fingerprints["experiment.toml"] = identity(table)
    for file in _files(folder, f"checkpoints/*/{manifest.NAME}"):
        _reseal_checkpoint(file, fingerprints)
    for file in (*_files(folder, "confidence.json"), *_files(folder, "encoded/**/*.json")):
        table = _table(file)
        if "sha256" in table:
            _write_sealed(file, table)
    for file in _files(folder, shortlists.NAME):
        with suppress(RunError):
            tensors = weights.parse(bytearray(file.read_bytes()), file)
            tensors.pop("sha256", None)
            seal = hashlib.sha256(weights.serialise(tensors)).digest()
            file.write_bytes(weights.serialise(tensors | {"sha256": np.frombuffer(seal, np.uint8)}))


def safetensors_bytes(header: Mapping[str, Any], content: bytes = b"") -> bytes:
    """A safetensors file with any header; nothing of it is checked."""
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + content


def entry(shape: Sequence[int], first: int, last: int, dtype: str = "F32") -> dict[str, Any]:
    """The entry of a tensor in the header of a safetensors file."""
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [first, last]}


def _reseal_vocabularies(folder: Path) -> None:
    for file in _files(folder, "vocabulary.json"):
        table = _table(file)
        with suppress(KeyError, TypeError, AttributeError, OSError):
            for side in table["sides"].values():
                side["sha256"] = _digest(folder / side["file"])
        _write(file, table)


def _reseal_checkpoint(file: Path, fingerprints: Mapping[str, str]) -> None:
    table = _table(file)
    with suppress(KeyError, TypeError, AttributeError):
        there = {name: digest for name, digest in fingerprints.items() if name in table["fingerprints"]}
        table["fingerprints"] |= there
        for name in table["files"]:
            for other in _files(file.parent, name):
                table["files"][name] = {"size": other.stat().st_size, "sha256": _digest(other)}
    if table:
        _write_sealed(file, table)


def _files(folder: Path, pattern: str) -> list[Path]:
    """Regular files, those behind links left out."""
    return [file for file in folder.glob(pattern) if not file.is_symlink() and file.is_file()]


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _table(file: Path) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        table = json.loads(file.read_bytes())
        return table if isinstance(table, dict) else {}
    return {}


def _write_sealed(file: Path, table: dict[str, Any]) -> None:
    with suppress(ValueError, RecursionError):  # what no writer of JSON can have sealed
        _write(file, seal(table))


def _write(file: Path, table: dict[str, Any]) -> None:
    """Write a table where it is another than the one that is there."""
    if table and table != _table(file):
        with suppress(ValueError, RecursionError):
            file.write_bytes(json_bytes(table))
