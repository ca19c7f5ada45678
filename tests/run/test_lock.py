import errno
import os
from pathlib import Path

import pytest

from anaphora.errors import RunError
from anaphora.run.layout import FolderLock


def test_the_holder_may_enter_again_and_a_second_is_refused_with_its_number(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    with lock.hold():
        with lock.hold():
            pass
        with pytest.raises(RunError, match=f"in use by process {os.getpid()},"):
            FolderLock(tmp_path).hold().__enter__()


def test_a_lock_is_free_after_its_holder_left_by_an_error(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    with pytest.raises(ZeroDivisionError), lock.hold():
        raise ZeroDivisionError
    with FolderLock(tmp_path).hold(), pytest.raises(RunError), lock.hold():
        pass


def test_a_file_system_without_locks_is_said_to_be_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(RunError, match="cannot be locked against other processes"):
        FolderLock(tmp_path).hold().__enter__()


def test_a_full_disk_does_not_keep_the_holder_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int, content: bytes, offset: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.pwrite", refuse)
    with FolderLock(tmp_path).hold(), pytest.raises(RunError, match="in use by process unknown"):
        FolderLock(tmp_path).hold().__enter__()
    with FolderLock(tmp_path).hold():
        pass
