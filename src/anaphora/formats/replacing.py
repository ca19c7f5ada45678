"""Files that are written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from anaphora.errors import DataError
from anaphora.files import part_of, sweep


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream whose bytes take the place of ``path`` when the block ends well, and vanish when it does not.

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
