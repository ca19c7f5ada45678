"""A file is written whole or not at all."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from anaphora.errors import DataError
from anaphora.files import part_of
from anaphora.formats.lines import replacing


def test_a_failing_block_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt), replacing(path) as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with replacing(path) as stream:
        stream.write(b"new")
        stream.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    with replacing(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_device_is_written_to_and_stays_a_device() -> None:
    with replacing(Path("/dev/null")) as stream:
        stream.write(b"gone")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_an_open_pipe_is_written_to() -> None:
    out, into = os.pipe()
    with replacing(Path(f"/dev/fd/{into}")) as stream:
        stream.write(b"through")
    os.close(into)
    with open(out, "rb") as read:
        assert read.read() == b"through"


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    with (
        pytest.raises(DataError, match="/dev/full cannot be written: No space left"),
        replacing(Path("/dev/full")) as out,
    ):
        out.write(b"x" * 100_000)


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written"), replacing(tmp_path / "nowhere" / "out"):
        pass


@pytest.mark.parametrize("name", ["x" * 255, "\N{GEORGIAN LETTER AN}" * 85])
def test_a_name_may_be_as_long_as_names_may(tmp_path: Path, name: str) -> None:
    with replacing(tmp_path / name) as stream:
        stream.write(b"new")
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["x" * 256, "file/out"])
def test_a_name_that_cannot_be_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot be written"), replacing(tmp_path / name):
        pass


def test_what_a_killed_process_left_of_the_same_file_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    left, other = (
        tmp_path / part_of(tmp_path / name).name.replace(f".{os.getpid()}.", f".{process.pid}.")
        for name in ("out", "b")
    )
    for file in (left, other):
        file.write_bytes(b"half")
    with replacing(path) as stream:
        stream.write(b"new")
    assert set(tmp_path.iterdir()) == {path, other}
