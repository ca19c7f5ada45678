"""Files of a run folder: made as a whole, locked, checked, and discarded."""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from anaphora import files
from anaphora.errors import RunError
from anaphora.files import DamagedError
from anaphora.text import tokenization
from anaphora.text.tokenizer import Tokenizer

EXPERIMENT = "experiment.toml"
INFERENCE = "inference.json"

BUNDLE = ".anaphora"
"""Ending of the name of a bundle (``bundle.py``)."""

_FILES = (
    EXPERIMENT,
    INFERENCE,
    "best",
    "latest",
    "lock",
    "card.md",
    "metrics.jsonl",
    "evaluations.jsonl",
    "confidence.json",
    "shortlist.safetensors",
)

FOLDERS = ("checkpoints", "encoded", "vocabulary")
"""The folders in it."""

_MOVED_FIRST = ("checkpoints", "vocabulary")


def file_names() -> tuple[str, ...]:
    """Return the names of the files of a run folder, those of its memory too."""
    from anaphora.memory.store import FILES  # which few uses of a run need

    return *_FILES, *FILES


def check_free(path: Path) -> None:
    """Raise RunError when a new run cannot be made at ``path``, since something is there.

    What killed processes left of a run that they were making there is removed.
    """
    _clear(path)
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise RunError(
            f"A new run needs a folder of its own, but {path} exists and is not empty; "
            f"choose another with --run, remove it, or continue it with --resume."
        )
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise RunError(f"The name of a run folder should be UTF-8, but {str(path)!a} is not: choose another.") from None
    there = next(parent for parent in (path, *path.absolute().parents) if parent.exists())
    if not os.access(there, os.W_OK):
        raise RunError(f"The run folder {path} cannot be made: there is no permission to write in {there}.")


def check_writable(run: Path) -> None:
    """Raise RunError when nothing can be written into a run folder, before work is done for it."""
    if not os.access(run, os.W_OK):
        raise RunError(f"{run} cannot be written to: there is no permission to; make the folder writable.")


def check_is_run(path: Path) -> None:
    """Raise RunError when ``path`` is no run folder."""
    if not path.exists():
        raise RunError(f"A run folder should be at {path}, but nothing is there: check the path, or train it first.")
    if not path.is_dir() and path.name.endswith(BUNDLE):
        raise RunError(
            f"{path} is a bundle, which is for predictions alone: give a run folder, such as anaphora quickstart makes."
        )
    if not path.is_dir():
        raise RunError(
            f"A run should be a folder, but {path} is a file: name a folder; files of counts (.arpa, .lm, or gzipped) "
            f"are for evaluate, score, rescore and generate."
        )
    if not any(path.iterdir()):
        raise RunError(f"{path} should be a run folder, but is empty: check the path, or train it first.")
    if not (path / EXPERIMENT).exists():
        raise RunError(f"{path} should be a run folder, but has no {EXPERIMENT}.")


def vocabulary(path: Path) -> dict[str, str]:
    """Return the SHA-256 of every ``vocabulary/...`` of a run, by name; RunError when there is no such folder."""
    folder = path / "vocabulary"
    if not folder.is_dir():
        raise RunError(f"{path} is damaged: it has no folder vocabulary; restore it from a copy.")
    for inside in (path / name for name in FOLDERS):
        if inside.is_symlink():
            raise DamagedError(f"{inside} is a symbolic link, which a run folder never holds.")
    # what was put there by this package, and not by a desktop or an editor
    own = [file for file in sorted(folder.iterdir()) if not file.is_dir() and not file.name.startswith(".")]
    return {f"vocabulary/{file.name}": files.sha256(files.read(file, tokenization.LARGEST)) for file in own}


def check_whole(path: Path, names: Iterable[str]) -> None:
    """Raise RunError when a run has lost one of the files ``names`` since it was opened."""
    for name in names:
        if not (path / name).is_file():
            raise RunError(
                f"{path / name} was removed while training went on, and nothing that is saved can be used without it: "
                f"nothing more is written; restore it, then resume."
            )


def store(path: Path, content: bytes, lost: str = "") -> None:
    """Replace a file of a run; RunError where it cannot be written, which says what is ``lost``."""
    try:
        files.replace_durably(path, content)
    except OSError as error:
        raise RunError(f"{path} cannot be written to: {error.strerror}{lost and f'; {lost}'}.") from None


def make(path: Path, experiment: bytes, tokenizers: Mapping[str, Tokenizer]) -> None:
    """Fill a hidden folder, then give it its name; what makes an empty folder a run moves into it last."""
    exists, path = path.exists(), path.absolute()
    unfinished = (path if exists else path.parent) / files.part_of(path).name
    try:
        files.remove(unfinished)
        unfinished.mkdir(parents=True)
        (unfinished / "checkpoints").mkdir()
        tokenization.save(tokenizers, unfinished / "vocabulary")
        for file in (unfinished / "vocabulary").iterdir():
            files.sync(file)
        files.sync(unfinished / "vocabulary")
        files.write_durably(unfinished / EXPERIMENT, experiment)
        files.sync(unfinished)
        if exists:
            for name in (*_MOVED_FIRST, EXPERIMENT):
                os.rename(unfinished / name, path / name)
            files.sync(path)
        else:
            os.rename(unfinished, path)
            files.sync(path.parent)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _clear(path: Path) -> None:
    path = path.absolute()
    try:
        for unfinished in files.find_abandoned(path, path):
            if (unfinished / EXPERIMENT).exists():  # so what is moved before it belongs to no run
                for name in _MOVED_FIRST:
                    files.remove(path / name)
            files.remove(unfinished)
    except OSError as error:
        raise RunError(f"The run folder {path} cannot be made: {error.strerror} ({error.filename}).") from None
    files.sweep(path.parent, path)


def discard(path: Path, *, folder_too: bool) -> None:
    """Remove a run from ``path``, and with ``folder_too`` the folder itself; what else lies in it stays."""
    for name in file_names():
        (path / name).unlink(missing_ok=True)
    for name in FOLDERS:
        with suppress(OSError):
            files.remove(path / name)
    if folder_too and not any(path.iterdir()):
        path.rmdir()


class FolderLock:
    """One writer a folder: a lock that the system takes back when the process that holds it dies.

    Entering it again while it is held costs nothing.
    """

    def __init__(self, folder: Path, holder_does: str = "trains into it", instead: str = "another run folder") -> None:
        """Nothing is opened yet; messages say what a holder of the lock does, and what to choose ``instead``."""
        self._folder, self._holder_does, self._instead = folder, holder_does, instead
        self._depth = 0

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep other writers out; RunError with the holder's process number when one is in already.

        What killed writers left half-written is removed.
        """
        descriptor = None if self._depth else self._take()
        self._depth += 1
        try:
            for folder in (self._folder, self._folder / "encoded") if descriptor is not None else ():
                files.sweep(folder)
            yield
        finally:
            self._depth -= 1
            if descriptor is not None:  # the file stays: else two processes could hold two files of one name
                os.close(descriptor)

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
