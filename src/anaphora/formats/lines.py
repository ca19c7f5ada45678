"""Text files line by line, as bytes have them: only a line feed ends a line, so that aligned files stay aligned.

One carriage return before it is dropped; lone ones, U+2028 and the like stay in the text. A byte order mark is dropped
from the first line. gzip is known by its first bytes, whatever the name.
"""

import gzip
import os
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from io import BufferedReader, BytesIO, RawIOBase
from itertools import count
from pathlib import Path
from typing import BinaryIO, cast

from anaphora.errors import DataError, refuse_os_errors
from anaphora.files import part_of, sweep
from anaphora.formats.documents import PEEKED, recognize

LONGEST = 1 << 24
"""Bytes of the longest line that is read."""

Refuse = Callable[[int, DataError], None]
"""Takes the number of a line that cannot be read, and why."""

_GZIP = b"\x1f\x8b"
_PIECE = 1 << 16
_BLOCK = 1 << 20
BOM = "\ufeff"
"""A byte order mark."""


def read_lines(
    path: Path,
    *,
    replace_invalid: bool = False,
    encoding: str = "utf-8",
    any_format: bool = False,
    exact: bool = False,
    pipes: bool = False,
    refuse: Refuse | None = None,
) -> Iterator[str]:
    """Yield the lines of a file in ``encoding``, gzipped or not, one at a time.

    With ``any_format``, those of a table or a document too, which the caller parses. ``exact`` lines keep their line
    end and a byte order mark. With ``pipes``, a pipe or a device is read to its end; without, it is refused, since
    most files are read more than once. Where a line cannot be read, ``refuse`` is called, and it is empty; without, its
    DataError is raised.

    Raises DataError for a missing or unreadable file, a damaged archive, a document that is no text of lines, a line of
    more than ``LONGEST`` bytes, a NUL, and for bytes that are no UTF-8 unless ``replace_invalid`` puts U+FFFD in their
    place.
    """
    with _open(path, pipes=pipes) as stream:
        _check_is_text(stream, str(path), any_format)
        yield from _lines(stream, str(path), 1, replace_invalid, encoding, exact, refuse)


def read_blocks(path: Path) -> Iterator[bytes]:
    """Yield the lines of ``read_lines`` in UTF-8, many whole ones at a time, a line feed after each.

    Errors as for it.
    """
    name, first = str(path), 1
    with _open(path) as stream:
        _check_is_text(stream, name)
        for block in _sound(iter(lambda: stream.read(_BLOCK) + stream.readline(LONGEST + 1), b""), name):
            if len(block) > LONGEST or 0 in block or block.decode(errors="ignore").encode() != block:
                for line in _lines(BytesIO(block), name, first):
                    yield f"{line}\n".encode()
                    first += 1
                continue
            text = block.removesuffix(b"\n").removesuffix(b"\r").replace(b"\r\n", b"\n") + b"\n"
            yield text.removeprefix(BOM.encode()) if first == 1 else text
            first += text.count(b"\n")


def read_unpacked(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file, unpacked when it is gzipped, a piece at a time; DataError as for ``read_lines``."""
    with _open(path) as stream:
        yield from _sound(iter(lambda: stream.read(_PIECE), b""), str(path))


def whole(path: Path, most: int, fault: str) -> bytes:
    """Return the content of a file, unpacked when it is gzipped; errors as for ``read_lines``.

    Raises DataError, whose sentence ends with ``fault``, for one of more than ``most`` bytes.
    """
    content = bytearray()
    for piece in read_unpacked(path):
        content += piece
        if len(content) > most:
            raise DataError(f"{path} has more than {most:,} bytes{fault}.")
    return bytes(content)


def raw_lines(pieces: Iterable[bytes], name: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of bytes in UTF-8 with their ends, and where they begin; DataError for one that is too long."""
    at, rest = 0, b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield at, line + b"\n"
            at += len(line) + 1
        if len(rest) > LONGEST:
            raise DataError(f"{name} has a line of more than {LONGEST:,} bytes: is it what it seems?")
    if rest:
        yield at, rest


def check_regular(path: Path) -> None:
    """Raise DataError for a pipe or a device, which cannot be read twice, and may have no end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise DataError(f"{path} should be a regular file, but is a pipe or a device. Write its text to a file first.")


def bound_lines(lines: Iterable[str], place: str, most: int) -> Iterator[str]:
    """Yield the lines of what is kept as a whole, such as a document.

    DataError when it is longer than ``most`` characters.

    ``place`` is where it begins.
    """
    length = 0
    for line in lines:
        length += len(line) + 1
        if length > most:
            raise DataError(f"{place} begins something of more than {most:,} characters: is the file what it seems?")
        yield line


def decode_lines(
    stream: BinaryIO, name: str, *, any_format: bool = False, exact: bool = False, refuse: Refuse | None = None
) -> Iterator[str]:
    """Yield the lines of an open stream of bytes as ``read_lines``.

    ``name`` is what errors call it (standard input, say).
    """
    buffered: BufferedReader = BufferedReader(cast(RawIOBase, stream))
    try:
        with _plain(buffered, name) as plain:
            _check_is_text(plain, name, any_format)
            yield from _lines(plain, name, 1, exact=exact, refuse=refuse)
    finally:
        buffered.detach()  # whoever opened the stream closes it


def _check_is_text(stream: BinaryIO, name: str, any_format: bool = False) -> None:
    """Raise DataError for a stream that begins as a document of another format; with ``any_format``, of bytes."""
    begin = next(_sound((cast(BufferedReader, stream).peek(PEEKED) for _ in range(1)), name))  # which stay in it
    if (not any_format or 0 in begin) and (found := recognize(begin, name)):
        raise DataError(f"{name} is {found.name}, but lines of text are expected: {found.remedy.format(file=name)}.")


def _lines(
    stream: BinaryIO,
    name: str,
    first: int,
    replace_invalid: bool = False,
    encoding: str = "utf-8",
    exact: bool = False,
    refuse: Refuse | None = None,
) -> Iterator[str]:
    """Yield the lines of a stream that begins with line ``first``."""
    pieces = _sound(iter(lambda: stream.readline(LONGEST + 1), b""), name)
    for number, raw in enumerate(pieces, first):
        content = raw.removesuffix(b"\n").removesuffix(b"\r")
        if number == 1 and raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            raise DataError(f"{name} is text in UTF-16: convert it with  iconv -f UTF-16 -t UTF-8 {name}.")
        try:
            if len(raw) > LONGEST:
                raise DataError(f"{name}:{number} is longer than {LONGEST:,} bytes: is it text? Break it into lines.")
            line = _decoded_line(content, f"{name}:{number}", encoding, "replace" if replace_invalid else "strict")
        except DataError as error:
            if refuse is None:
                raise
            refuse(number, error)
            yield ""
            while len(raw) > LONGEST and not raw.endswith(b"\n"):
                raw = next(pieces, b"")  # the rest of the line
            continue
        if exact:
            yield line + raw[len(content) :].decode()  # what was removed: the line's end
        else:
            yield line.removeprefix(BOM) if number == 1 else line


def _decoded_line(content: bytes, place: str, encoding: str, errors: str) -> str:
    """Return a line without its end; DataError, naming the ``place``, where it is no text in that encoding."""
    if 0 in content:
        raise DataError(f"{place} has a NUL at byte {content.index(0) + 1}: is it text? Remove it.")
    try:
        return content.decode(encoding, errors)
    except UnicodeDecodeError as error:
        raise DataError(
            f"{place} should be UTF-8, but byte {error.start + 1} of the line is 0x{content[error.start]:02X} "
            f"({error.reason}): convert the file, as in  iconv -f ISO-8859-1 -t UTF-8  for Western European text."
        ) from None


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a file whole or not at all, gzipped where its name ends in ``.gz``.

    Raises DataError when the disk or the folder will not take it, and for a line with a line feed in it.
    """
    with writing_lines(path) as write:
        for line in lines:
            write(line)


@contextmanager
def writing_lines(path: Path) -> Iterator[Callable[[str], None]]:
    """Yield a function that writes the next line of a file, whole once the block ends well.

    Errors as ``write_lines``.
    """
    with writing_text(path) as write:
        numbers = count(1)

        def write_line(line: str) -> None:
            number = next(numbers)
            if "\n" in line:
                raise DataError(f"Line {number} for {path} should be one line, but holds a line feed.")
            write(f"{line}\n")

        yield write_line


@contextmanager
def writing_text(path: Path) -> Iterator[Callable[[str], None]]:
    """Yield a function that writes text as it is; the file is there, whole, when the block ends well."""
    with replacing(path) as plain, packed_by_name(path, plain) as stream:

        def write(text: str) -> None:
            stream.write(text.encode())

        yield write


@contextmanager
def packed_by_name(path: Path, stream: BinaryIO) -> Iterator[BinaryIO]:
    """Yield a stream that gzips into ``stream`` where the name ends in ``.gz``, else ``stream``."""
    if path.suffix.lower() != ".gz":
        yield stream
        return
    with gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as packed:
        yield cast(BinaryIO, packed)


@contextmanager
def _open(path: Path, *, pipes: bool = False) -> Iterator[BinaryIO]:
    if not pipes:
        check_regular(path)
    with _readable(str(path)):
        try:
            stream = path.open("rb")
        except IsADirectoryError:
            raise DataError(f"A file of text was expected, but {path} is a folder.") from None
        except FileNotFoundError:
            raise DataError(f"A file of text was expected, but there is no {path}: check the path.") from None
    with stream, _plain(stream, str(path)) as plain:
        yield plain


@contextmanager
def _plain(stream: BufferedReader, name: str) -> Iterator[BinaryIO]:
    """Yield the stream, unpacked when it is gzipped."""
    with _readable(name):
        begin = stream.peek(2)[:2]
    if begin != _GZIP:
        yield stream
        return
    with gzip.GzipFile(fileobj=stream) as unpacked:
        yield cast(BinaryIO, unpacked)


def _sound(pieces: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Yield the same pieces, a fault of the archive or the disk told as DataError."""
    with _readable(name):
        try:
            yield from pieces
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(f"The archive {name} is damaged ({error}): fetch or pack it again.") from None


def _readable(name: str) -> AbstractContextManager[None]:
    return refuse_os_errors(f"The file {name} cannot be read: ")


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a stream whose bytes take the place of ``path`` when the block ends well, and vanish when it does not.

    What is no regular file (a pipe, ``/dev/stdout``) is written straight. Raises DataError when writing fails.
    """
    final = path.resolve()
    part = part_of(final)
    try:
        if path.exists() and not path.is_file():  # an open pipe has a path, but what that resolves to is none
            with path.open("wb") as stream:
                yield stream
            return
        sweep(final.parent, final)
        with part.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(final)
    except OSError as error:
        raise DataError(f"The file {path} cannot be written: {error.strerror or error}.") from error
    finally:
        with suppress(OSError):
            part.unlink()
