"""One checkpoint: a folder ``step-N``, or ``average``, that exists whole or not at all.

Writing: a folder beside it with a hidden name, its files, the manifest last, each synced; the folder synced; then one
rename. Reading: the manifest first, then every file against its size and SHA-256.
"""

import os
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from anaphora import files
from anaphora.files import DamagedError, json_bytes, parse_json, sha256, sync, write_durably
from anaphora.protocols import Growing
from anaphora.run import manifest as manifests
from anaphora.run import weights
from anaphora.run.manifest import Environment, FileEntry, Manifest
from anaphora.run.weights import Arrays, Tensors

if TYPE_CHECKING:
    import torch

CheckpointName = int | Literal["average"]
"""A checkpoint by the update that it was saved after, or the average of several."""

AVERAGE: Literal["average"] = "average"

_STEP = re.compile(r"step-(0|[1-9][0-9]{0,15})")
_LEFTOVER = ".unfinished-"


@dataclass(frozen=True)
class Checkpoint:
    """Weights and state after ``update`` updates, verified."""

    which: CheckpointName
    update: int
    """Number of the update; of an average, of the newest that is in it."""
    path: Path
    model: Arrays
    """Views of the file, to be copied."""
    optimizer: Arrays
    """Empty unless it was asked for."""
    state: Mapping[str, Any]
    fingerprints: Mapping[str, str]
    """SHA-256 by name of what it was trained with: ``experiment.toml``, ``vocabulary/...``, ``data/...``."""
    environment: Environment
    """Environment that it was written in."""

    def fill(self, network: "torch.nn.Module") -> None:
        """Copy the weights into a network; RunError where they do not belong to it."""
        if isinstance(network, Growing):  # whose tensors are as long as what it learnt
            network.allocate({name: tensor.shape for name, tensor in self.model.items()})
        weights.fill(network, self.model, self.path / "model.safetensors")


def numbers(folder: Path) -> list[int]:
    """Return the updates that ``folder`` holds checkpoints of, whole or not, ascending."""
    if not folder.is_dir():
        return []
    matches = (_STEP.fullmatch(entry.name) for entry in folder.iterdir())
    return sorted(int(match[1]) for match in matches if match)


def name_of(which: CheckpointName) -> str:
    """Return the name of the folder of a checkpoint."""
    return AVERAGE if which == AVERAGE else f"step-{which}"


def parse_name(name: str) -> CheckpointName | None:
    """Return the checkpoint of a name such as ``step-40``, or None."""
    match = _STEP.fullmatch(name)
    if match:
        return int(match[1])
    return AVERAGE if name == AVERAGE else None


def write(
    folder: Path,
    which: CheckpointName,
    update: int,
    contents: Iterable[tuple[str, bytes]],
    fingerprints: Mapping[str, str],
    environment: Environment,
    number: int = manifests.FORMAT,
) -> Path:
    """Write a checkpoint of the format ``number`` under ``folder`` and return where.

    Raises OSError, leaving others as they are.
    """
    unfinished = folder / f"{_LEFTOVER}{uuid.uuid4().hex}"
    unfinished.mkdir()
    entries: dict[str, FileEntry] = {}
    for name, content in contents:
        write_durably(unfinished / name, content)
        entries[name] = FileEntry(size=len(content), sha256=sha256(content))
    manifest = Manifest(
        format=number, step=update, files=entries, fingerprints=dict(fingerprints), environment=environment
    )
    write_durably(unfinished / manifests.NAME, manifest.serialise())
    sync(unfinished)
    path = folder / name_of(which)
    with _aside(path):
        os.rename(unfinished, path)
        sync(folder)
    return path


def contents(model: Tensors, optimizer: Tensors, state: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of a checkpoint's files, one at a time: the largest is three times the size of the model."""
    yield "state.json", json_bytes(dict(state))
    yield "model.safetensors", weights.serialise(model)
    yield "optimizer.safetensors", weights.serialise(optimizer)


def read(folder: Path, which: CheckpointName, fingerprints: Mapping[str, str], with_optimizer: bool) -> Checkpoint:
    """Read and verify a checkpoint; DamagedError names the file that is not as it was written.

    ``fingerprints`` are of files that stand beside it now: one that was trained with others cannot be used with them.
    Without ``with_optimizer`` the optimizer's file is left alone and may even be missing.
    """
    path = folder / name_of(which)
    if path.is_symlink():
        raise DamagedError(f"{path} is a symbolic link, which a run folder never holds.")
    if not path.is_dir():
        raise DamagedError(f"{path} is missing.")
    manifest = manifests.read_manifest(path)
    if which not in (AVERAGE, manifest.step):
        raise DamagedError(f"{path / manifests.NAME} belongs to step {manifest.step}, not to step {which}.")
    for name, fingerprint in manifest.fingerprints.items():
        if fingerprints.get(name, fingerprint) != fingerprint:
            raise DamagedError(f"{path} was trained with another {name} than the one that is here.")
    model_path = path / "model.safetensors"
    model = weights.parse(manifest.verify(path, model_path.name), model_path)
    broken = weights.first_overflowing(model)
    if broken:
        raise DamagedError(
            f"{model_path} holds numbers in {broken} that are not finite or above {weights.LARGEST:g}, so that what is "
            f"computed with them overflows."
        )
    optimizer: Arrays = {}
    if with_optimizer:
        optimizer_path = path / "optimizer.safetensors"
        optimizer = weights.parse(manifest.verify(path, optimizer_path.name), optimizer_path)
        optimizer = {name: tensor.copy() for name, tensor in optimizer.items()}
    state = parse_json(bytes(manifest.verify(path, "state.json")), path / "state.json")
    update, environment = manifest.step, manifest.environment
    return Checkpoint(which, update, path, model, optimizer, state, manifest.fingerprints, environment)


def remove(path: Path) -> None:
    """Remove a checkpoint, if it is there, so that no half of it is ever taken for a whole; raises OSError."""
    with _aside(path):
        pass


def clean(folder: Path) -> None:
    """Remove what killed processes left half-written or half-removed; raises OSError."""
    for entry in list(folder.iterdir()):
        if entry.name.startswith(_LEFTOVER):
            files.remove(entry)


@contextmanager
def _aside(path: Path) -> Iterator[None]:
    """Free the name ``path`` first, and afterwards remove what was there; after a fault it is there again."""
    aside = path.with_name(f"{_LEFTOVER}{uuid.uuid4().hex}")
    if path.is_symlink():
        path.unlink()
    elif path.exists():
        os.rename(path, aside)
    try:
        yield
    except BaseException:
        if aside.exists() and not path.exists():
            os.rename(aside, path)
        raise
    with suppress(OSError):  # what stays is a leftover, which ``clean`` removes
        files.remove(aside)
