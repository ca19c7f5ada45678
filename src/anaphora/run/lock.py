"""One writer a folder: a lock that the system takes back when the process that holds it dies."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anaphora.errors import RunError
from anaphora.files import sweep


class FolderLock:
    """The lock of one folder, as one process sees it; entering it again while it is held costs nothing."""

    def __init__(self, folder: Path, holder_does: str = "trains into it", instead: str = "another run folder") -> None:
        """Nothing is opened yet; messages say what a holder of the lock does, and what to choose ``instead``."""
        self._folder, self._holder_does, self._instead = folder, holder_does, instead
        self._depth = 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other writers out; RunError with the holder's process number when one is in already.

        What killed writers left half-written is removed.
        """
        if self._depth:
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
            return
        descriptor = self._take()
        self._depth = 1
        try:
            for folder in (self._folder, self._folder / "encoded"):
                sweep(folder)
            yield
        finally:
            self._depth = 0
            os.close(descriptor)  # the file stays: removing it would let two processes hold two files of one name

    def _take(self) -> int:
        path = self._folder / "lock"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise RunError(
                f"{self._folder} cannot be written to: {error.strerror} ({path}); "
                f"make the folder writable or choose another."
            ) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                os.close(descriptor)
                raise RunError(
                    f"{self._folder} cannot be locked against other processes: {error.strerror} ({path}); choose a "
                    f"folder on a disk whose file system can lock files."
                ) from None
            holder = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            raise RunError(
                f"{self._folder} is in use by process {holder}, which {self._holder_does}; "
                f"wait for its end or choose {self._instead}."
            ) from None
        with suppress(OSError):  # the number only tells others who is in: a full disk is no reason to stay out
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        return descriptor
