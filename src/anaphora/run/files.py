"""Bytes to disk and back for a run folder: whole or not at all, and never through a link.

Everything is written in plain sight of the kernel (write, fsync, rename), so that a process killed at any of these
calls leaves either the old content or the new one.
"""

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any

from anaphora.errors import RunError


class DamagedError(RunError):
    """A file of a run folder does not hold what was written into it."""


def sha256(content: bytes) -> str:
    """The SHA-256 of ``content`` in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def write_durably(path: Path, content: bytes) -> None:
    """Write a new file and wait until the disk has it; raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        _write_all(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def append(path: Path, content: bytes) -> None:
    """Add to the end of a file, which is made if need be; raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        _write_all(descriptor, content)
    finally:
        os.close(descriptor)


def sync(path: Path) -> None:
    """Wait until the disk has what was written to a file, or the names made and removed in a folder; raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_durably(path: Path, content: bytes) -> None:
    """Put ``content`` in the place of a file, which at every moment is the old or the new one; raises OSError.

    Two processes may do so at once: the later one wins.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    beside.unlink(missing_ok=True)  # left by a process of this number that was killed here
    try:
        write_durably(beside, content)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    sync(path.parent)


def read(path: Path) -> bytes:
    """The bytes of a regular file; DamagedError when there is none, or something else in its place."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise DamagedError(f"{path} is missing.") from None
    except OSError as error:
        if path.is_symlink():
            raise DamagedError(f"{path} is a symbolic link, which a run folder never holds.") from None
        raise DamagedError(f"{path} cannot be read: {error.strerror}.") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise DamagedError(f"{path} should be a regular file, but is not one.")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; DamagedError when it holds anything else."""
    return parse_json(read(path), path)


def parse_json(content: bytes, path: Path) -> dict[str, Any]:
    """The object in the JSON text that came from ``path``; DamagedError when it is anything else."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"{path} is not JSON: {str(error) or 'nested too deeply'}.") from None
    if not isinstance(value, dict):
        raise DamagedError(f"{path} should hold a JSON object, but holds a {type(value).__name__}.")
    return value


def json_bytes(value: dict[str, Any]) -> bytes:
    """Readable JSON; ValueError for numbers that are not finite, which JSON has no words for."""
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:  # a write may stop short of the end: at 2 GiB, or where the disk is full
        rest = rest[os.write(descriptor, rest) :]
