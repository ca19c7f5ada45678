"""Files that Anaphora keeps for itself: written whole or not at all, read within bounds, and never through a link.

Everything is written in plain sight of the kernel (write, fsync, rename), so that a process killed at any of these
calls leaves either the old content or the new one. What is still being written has a hidden name with the number of its
process, by which the next one removes what a killed process left. Reading takes regular files only, and never more
bytes or deeper nesting than a file of its kind has.
"""

import hashlib
import json
import os
import re
import shutil
import stat
import tomllib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from mmap import ACCESS_COPY, mmap
from pathlib import Path
from typing import Any, BinaryIO

from anaphora.errors import RunError

MEGABYTE = 1 << 20
"""Most bytes of a small file: options, a pointer, an index, one line of a log."""

_LONGEST_LOG = 1 << 32

NESTING = 50
"""Most levels of tables and arrays in TOML or JSON that a person or this package writes."""

_PART = re.compile(r"\..+\.([0-9]+)\.(?:part|new)")


class DamagedError(RunError):
    """A file of a run folder does not hold what was written into it."""


def sha256(content: bytes | mmap) -> str:
    """Return the SHA-256 of ``content`` in hexadecimal digits."""
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
    """Add to the end of a regular file, which is made if need be; raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o644)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is not a regular file")
        _write_all(descriptor, content)
    finally:
        os.close(descriptor)


def sync(path: Path) -> None:
    """Wait until the disk has what was written to a file, or the names made and removed in a folder; raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def part_of(path: Path) -> Path:
    """Return the hidden name under which this process writes ``path`` until it is whole."""
    return path.with_name(f".{zlib.crc32(os.fsencode(path.name)):08x}.{os.getpid()}.part")  # the name may be long


def find_abandoned(folder: Path, path: Path | None = None) -> list[Path]:
    """Yield what killed processes left half-written in ``folder``: everything, or what was to become ``path``."""
    begin = part_of(path).name[:9] if path else "."
    matches = [(entry, _PART.fullmatch(entry.name)) for entry in folder.iterdir()] if folder.is_dir() else []
    return [
        entry for entry, match in matches if match and entry.name.startswith(begin) and not _is_alive(int(match[1]))
    ]


def sweep(folder: Path, path: Path | None = None) -> None:
    """Remove what is ``find_abandoned``, as far as it can be."""
    with suppress(OSError):
        for entry in find_abandoned(folder, path):
            remove(entry)


def remove(path: Path) -> None:
    """Remove a file, a link or a folder with all that is in it, if it is there; raises OSError."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def replace_durably(path: Path, content: bytes) -> None:
    """Replace a file by ``content``, whole or not at all.

    Two processes may do so at once: the later one wins. Raises OSError, naming ``path``.
    """
    part = part_of(path)
    try:
        part.unlink(missing_ok=True)  # left by a process of this number that was killed here
        write_durably(part, content)
        os.replace(part, path)
        sync(path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None
    finally:
        part.unlink(missing_ok=True)


def remedy(error: OSError) -> str:
    """Return advice on a file that cannot be written: about permissions where these are missing, else about room."""
    return "check permissions" if isinstance(error, PermissionError) else "make room"


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a regular file to read; DamagedError when there is none, or something else in its place."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise DamagedError(f"{path} is missing.") from None
    except (OSError, ValueError) as error:
        if path.is_symlink():
            raise DamagedError(f"{path} is a symbolic link, which a run folder never holds.") from None
        raise DamagedError(f"{path} cannot be read: {getattr(error, 'strerror', error)}.") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise DamagedError(f"{path} should be a regular file, but is not one.")
        with open(descriptor, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(descriptor)


def read(path: Path, most: int = MEGABYTE) -> bytes:
    """Return the bytes of a regular file; DamagedError when there is none, or it has more than ``most`` bytes."""
    with open_file(path) as file:
        content = _read(file, path, most + 1)
    if len(content) > most:
        raise DamagedError(f"{path} should have at most {most:,} bytes, but has more.")
    return content


def demand_size(file: BinaryIO, path: Path, size: int) -> None:
    """Raise DamagedError where an open file has not ``size`` bytes; ``path`` is its name for the message."""
    there = os.fstat(file.fileno()).st_size
    if there != size:
        raise DamagedError(f"{path} should have {size:,} bytes, but has {there:,}.")


def read_exactly(path: Path, size: int) -> bytes:
    """Return the bytes of a regular file that has ``size`` of them.

    DamagedError, before any is read, when it has not.
    """
    with open_file(path) as file:
        demand_size(file, path, size)
        return _read(file, path, size)


def map_file(path: Path, size: int) -> mmap:
    """Return a regular file of ``size`` bytes in memory that the system fills and drops as needed.

    DamagedError as above.

    What is written into it stays with this process. A file that is shortened meanwhile ends the process.
    """
    with open_file(path) as file:
        demand_size(file, path, size)
        try:
            return mmap(file.fileno(), size, access=ACCESS_COPY)
        except (OSError, ValueError) as error:  # of no bytes, or on a disk whose files cannot be mapped
            raise DamagedError(f"{path} cannot be read: {getattr(error, 'strerror', error)}.") from None


def lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a log with their ends.

    Nothing where there is no file. A line over ``MEGABYTE`` comes in pieces.

    Raises DamagedError for what is no regular file, and for a log longer than that of any training.
    """
    if not os.path.lexists(path):
        return
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > _LONGEST_LOG:
            raise DamagedError(f"{path} should have at most {_LONGEST_LOG:,} bytes, but has {size:,}.")
        while line := file.readline(MEGABYTE):
            yield line


def read_json(path: Path, most: int = MEGABYTE) -> dict[str, Any]:
    """Return the object in a JSON file; DamagedError when it holds anything else, or more than ``most`` bytes."""
    return parse_json(read(path, most), path)


def parse_json(content: bytes, path: Path) -> dict[str, Any]:
    """Return the object in the JSON text that came from ``path``; DamagedError when it is anything else."""
    try:
        text = content.decode()
        _check_nesting(text)
        value = json.loads(text)
    except ValueError as error:
        raise DamagedError(f"{path} is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise DamagedError(f"{path} should hold a JSON object, but holds a {type(value).__name__}.")
    return value


def json_bytes(value: dict[str, Any]) -> bytes:
    """Readable JSON; ValueError for numbers that are not finite, which JSON has no words for."""
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def seal(table: dict[str, Any]) -> dict[str, Any]:
    """``table`` with the SHA-256 of everything else in it."""
    content = {name: value for name, value in table.items() if name != "sha256"}
    return content | {"sha256": sha256(json_bytes(content))}


def is_sealed(table: dict[str, Any]) -> bool:
    """True if ``table`` is what ``seal`` returned."""
    try:
        return seal(table) == table
    except (ValueError, RecursionError):  # JSON that can be read but not written: NaN, half a surrogate pair
        return False


def parse_toml(text: str) -> dict[str, Any]:
    """Return the table that a TOML text holds.

    ValueError for what is no TOML, or nested more than ``NESTING`` levels.
    """
    _check_nesting(text)
    return tomllib.loads(text)


_TOKEN = re.compile(r"""\"{3}(?s:.*?)\"{3}|'{3}(?s:.*?)'{3}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|\#[^\n]*|[][{}.=,\n]""")
"""Brackets and keys by which nesting is found in TOML and JSON, those within strings and comments left out."""


def _check_nesting(text: str) -> None:
    depth = dots = 0
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "[" | "{":
                depth, dots = depth + 1, 0
            case "]" | "}":
                depth, dots = depth - 1, 0
            case ".":
                dots += 1
            case "=" | "," | "\n":
                dots = 0
        if depth > NESTING or dots > NESTING:  # parsers take the square of it in memory, or all of the stack
            line = text.count("\n", 0, token.start()) + 1
            raise ValueError(f"more than {NESTING} tables or arrays within one another (at line {line})")


def _read(file: BinaryIO, path: Path, size: int) -> bytes:
    try:
        return file.read(size)
    except OSError as error:
        raise DamagedError(f"{path} cannot be read: {error.strerror}.") from None


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # of another user
        return True
    return True


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:  # a write may stop short of the end: at 2 GiB, or where the disk is full
        rest = rest[os.write(descriptor, rest) :]
