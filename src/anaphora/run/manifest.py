"""Manifest of a checkpoint: its files with sizes and hashes, what it belongs to, where it was made."""

import platform
from dataclasses import asdict, replace
from mmap import mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anaphora.errors import RunError
from anaphora.files import DamagedError, is_sealed, json_bytes, map_file, parse_json, read, seal, sha256
from anaphora.kernels.compiled.library import ROUNDING, available
from anaphora.records import Record
from anaphora.wording import inflect

if TYPE_CHECKING:
    import torch

FORMAT = 2
"""The newest format of run folders and checkpoints that this version reads, and the one that it writes."""

NAME = "manifest.json"
FILES = ("model.safetensors", "optimizer.safetensors", "state.json")
"""The files of a checkpoint beside its manifest. A manifest can name no others, and so no path elsewhere."""


def unseal(content: bytes, path: Path, newest: int, remedy: str = "") -> dict[str, Any]:
    """Return the table in a sealed file, of a format up to the ``newest``; ``remedy`` is for a changed one.

    DamagedError, or RunError for a newer format.
    """
    table = parse_json(content, path)
    check_format(table.get("format"), path, newest)
    if not is_sealed(table):
        fault = f"{path} was changed after it was written: its content does not fit its own SHA-256"
        raise DamagedError(f"{fault}; {remedy}." if remedy else f"{fault}.")
    return table


class Environment(Record):
    """Environment that rounding depends on: where it is the same, training is bit for bit the same."""

    threads: int
    processor: str
    torch: str
    precision: str
    """Type of stored weights; the arithmetic of products depends on the experiment and the processor."""
    compiled: bool | None = None
    """True if the kernels in C were there; None in checkpoints of versions that did not write it down."""
    kernels: int = 0
    """Version of the rounding of these kernels; 0 without them, and in checkpoints from before it was counted."""

    def rounds_like(self, other: "Environment") -> bool:
        """True if nothing that both have written down differs."""
        if None in (self.compiled, other.compiled):
            self, other = replace(self, compiled=None), replace(other, compiled=None)
        return self == other

    def describe(self) -> str:
        """Return a few words for a message."""
        version = f" (rounding {self.kernels})" if self.kernels else ""
        kernels = {True: f", kernels in C{version}", False: ", no kernels in C", None: ""}[self.compiled]
        threads = inflect(self.threads, "thread")
        return f"{threads} on {self.processor}, torch {self.torch}, {self.precision}{kernels}"


class FileEntry(Record):
    """Size in bytes and SHA-256 of one file."""

    size: int
    sha256: str


class Manifest(Record):
    """The content of ``manifest.json``, the last file that is written into a checkpoint."""

    format: int
    step: int
    files: dict[str, FileEntry]
    fingerprints: dict[str, str]
    """SHA-256 by name of the experiment, the vocabulary's files and the data that the run was made with."""
    environment: Environment

    def serialise(self) -> bytes:
        return json_bytes(seal(asdict(self)))

    def verify(self, folder: Path, name: str) -> mmap:
        """Return one file of the checkpoint, mapped, or DamagedError when its bytes are not those that were written."""
        entry = self.files[name]
        content = map_file(folder / name, entry.size)
        if sha256(content) != entry.sha256:
            raise DamagedError(f"{folder / name} was changed after it was written: its SHA-256 differs.")
        return content


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a checkpoint's folder, checked in every field; errors as for ``unseal``."""
    path = folder / NAME
    found = Manifest.from_table(unseal(read(path), path, FORMAT), path, "a checkpoint")
    if set(found.files) != set(FILES):
        wrong = f"should be {', '.join(FILES)}, but are {', '.join(map(repr, sorted(found.files))) or 'none'}"
        raise DamagedError(f"{path} does not describe a checkpoint: 'files': {wrong}.")
    return found


def check_format(number: Any, path: Path, newest: int = FORMAT) -> None:
    """RunError when ``path`` was written in a format newer than ours, DamagedError when it names none."""
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise DamagedError(f"{path} should name its format, a number from 1, but has format = {number!r}.")
    if number > newest:
        raise RunError(f"{path} has format {number}, but this Anaphora reads up to {newest}: upgrade Anaphora.")


def environment(precision: str, device: "torch.device | str") -> Environment:
    """Return the environment of this process: threads, torch, and the processor or GPU that ``device`` is."""
    import torch

    from anaphora.kernels.runtime import Runtime

    device = torch.device(device)
    compiled = available() and Runtime().kernels == "native"
    processor = f"{_processor()} ({torch.backends.cpu.get_cpu_capability()})"
    return Environment(
        threads=torch.get_num_threads(),
        processor=torch.cuda.get_device_name(device) if device.type == "cuda" else processor,
        torch=torch.__version__,
        precision=precision,
        compiled=compiled,
        kernels=ROUNDING if compiled else 0,
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
