"""Lines are what bytes say they are."""

import gzip
import io
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.corpora import fingerprint
from anaphora.errors import DataError
from anaphora.files import part_of
from anaphora.formats import lines as formats_lines
from anaphora.formats.labelled import read_labelled
from anaphora.formats.lines import decode_lines, read_lines, read_unpacked, replacing, write_lines
from tests.memory_bound import memory_below

from .conftest import Written

LINE = st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"])).filter(
    lambda line: not line.endswith("\r") and not line.startswith("\ufeff")
)


def lines_of(data: bytes) -> list[str]:
    return list(decode_lines(io.BytesIO(data), "stream"))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"a\n\n", ["a", ""]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\r\n", ["a\r"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        *((f"a{sign}b\nc".encode(), [f"a{sign}b", "c"]) for sign in "\r\v\f\x1c\x85\u2028\u2029"),
    ],
)
def test_only_a_line_feed_ends_a_line_and_ends_and_marks_are_stripped_once(data: bytes, expected: list[str]) -> None:
    assert lines_of(data) == expected


@given(st.lists(LINE), st.sampled_from(["plain.txt", "packed.txt.gz"]))
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, lines: list[str], name: str) -> None:
    path = tmp_path_factory.getbasetemp() / name
    write_lines(path, lines)
    if name.endswith(".gz"):
        assert gzip.decompress(path.read_bytes()) == "".join(f"{line}\n" for line in lines).encode()
    assert list(read_lines(path, any_format=True)) == lines


def test_gzip_is_known_by_its_bytes_and_all_members_are_read(written: Written) -> None:
    path = written("no-suffix", gzip.compress(b"a\nb") + gzip.compress(b"c\nd\n"))
    assert list(read_lines(path)) == ["a", "bc", "d"]
    assert b"".join(read_unpacked(path)) == b"a\nbc\nd\n"


def test_an_open_stream_may_be_gzipped_and_stays_open() -> None:
    assert lines_of(gzip.compress(b"a\nb")) == ["a", "b"]
    with pytest.raises(DataError, match="archive stream is damaged"):
        lines_of(gzip.compress(b"a\nb")[:-9])
    stream = io.BytesIO(b"a")
    assert list(decode_lines(stream, "stream")) == ["a"]
    assert not stream.closed


def test_a_stream_that_is_a_folder_is_said(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    with (
        os.fdopen(os.open(os.devnull, os.O_RDONLY), "rb") as stream,
        pytest.raises(DataError, match="stream cannot be read: Is a directory"),
    ):
        os.dup2(descriptor, stream.fileno())
        list(decode_lines(stream, "stream"))
    os.close(descriptor)


WHOLE = gzip.compress("\n".join(map(str, range(9_000))).encode())
MIDDLE = len(WHOLE) // 2


@pytest.mark.parametrize(
    "damaged",
    [WHOLE[:-9], WHOLE[:MIDDLE] + bytes([WHOLE[MIDDLE] ^ 255]) + WHOLE[MIDDLE + 1 :], WHOLE + b"garbage"],
    ids=["truncated", "flipped", "garbage behind"],
)
def test_a_damaged_archive_is_named(damaged: bytes, written: Written) -> None:
    path = written("train.en.gz", damaged)
    for read in (read_lines, read_unpacked):
        with pytest.raises(DataError, match=r"train\.en\.gz .*damaged"):
            list(read(path))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"good\nstra\xdfe\n", ":2 should be UTF-8, but byte 5 of the line is 0xDF"),
        (b"\xef\xbb\xbfa\xff\n", ":1 .* byte 5 "),  # the mark counts
        (b"fine\na\0b\n", ":2 .*NUL at byte 2"),
        ("a film\n".encode("utf-16"), " is text in UTF-16.*: convert it with  iconv -f UTF-16"),
    ],
)
def test_invalid_bytes_are_named_by_file_line_and_byte(data: bytes, said: str, written: Written) -> None:
    with pytest.raises(DataError, match=rf"train\.de{said}"):
        list(read_lines(written("train.de", data), any_format=True))


@pytest.mark.parametrize("packed", [False, True])
def test_lines_that_cannot_be_read_may_be_replaced_or_refused_and_are_empty(
    tmp_path: Path, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats_lines, "LONGEST", 1000)
    path, refused = tmp_path / "text", dict[int, str]()
    lines = [b"good", b"stra\xdfe", b"a\0b", b"x" * 1000, b"x" * 3000, b"good\r", b"y" * 2000]
    path.write_bytes((gzip.compress if packed else bytes)(b"\n".join(lines)))
    read = list(read_lines(path, refuse=lambda number, error: refused.__setitem__(number, str(error))))
    assert read == ["good", "", "", "", "", "good", ""]
    assert list(refused) == [2, 3, 4, 5, 7] and "text:2 should be UTF-8" in refused[2] and "NUL" in refused[3]
    assert next(islice(read_lines(path, replace_invalid=True), 1, None)) == "stra\N{REPLACEMENT CHARACTER}e"


@pytest.mark.parametrize(("name", "said"), [("nowhere.txt", r"there is no .*nowhere\.txt"), ("", "is a folder")])
def test_missing_files_and_folders_are_named(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said):
        list(read_lines(tmp_path / name))


def test_reading_takes_the_memory_of_a_line(written: Written) -> None:
    path = written("long.txt", gzip.compress(b"a line of text\n" * 100_000))
    list(zip(read_lines(path), range(10), strict=False))  # what is imported late is not counted
    with memory_below(500_000):
        assert sum(1 for _ in read_lines(path)) == 100_000


def test_a_line_feed_inside_a_line_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    write_lines(path, ["old"])
    with pytest.raises(DataError, match=r"Line 2 for .*out\.txt"):
        write_lines(path, ["new", "a\nb"])
    assert list(read_lines(path)) == ["old"]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("packed", [False, True])
def test_an_endless_line_takes_bounded_memory(written: Written, packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats_lines, "LONGEST", 1 << 18)
    path = written("bomb.txt", (gzip.compress if packed else bytes)(b"x" * (4 << 20)))
    with memory_below(1 << 20), pytest.raises(DataError, match=r"bomb\.txt:1 is longer than 262,144 bytes"):
        list(read_lines(path))


def test_the_old_file_stays_until_the_new_one_is_whole_and_a_link_a_link(tmp_path: Path, written: Written) -> None:
    path = written("out", b"old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert [one.read_bytes() for one in tmp_path.iterdir()] == [b"old"]
    with replacing(path) as stream:
        stream.write(b"new")
        stream.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    (tmp_path / "link").symlink_to("out")
    with replacing(tmp_path / "link") as stream:
        stream.write(b"newer")
    assert (tmp_path / "link").is_symlink() and path.read_bytes() == b"newer"


def test_an_open_pipe_is_written_to() -> None:
    out, into = os.pipe()
    with replacing(Path(f"/dev/fd/{into}")) as stream:
        stream.write(b"through")
    os.close(into)
    with open(out, "rb") as read:
        assert read.read() == b"through"


@pytest.mark.parametrize("name", ["x" * 255, "\N{GEORGIAN LETTER AN}" * 85])
def test_a_name_may_be_as_long_as_names_may(tmp_path: Path, name: str) -> None:
    with replacing(tmp_path / name) as stream:
        stream.write(b"new")
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "said"), [("/dev/full", ": No space left"), ("nowhere/out", ""), ("x" * 256, ""), ("file/out", "")]
)
def test_what_cannot_be_written_is_said(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=f"{name} cannot be written{said}"), replacing(tmp_path / name) as out:
        out.write(b"x" * 100_000)


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


def test_a_pipe_or_a_device_is_no_corpus(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "link.txt").symlink_to("pipe.txt")
    for path in (tmp_path / "pipe.txt", tmp_path / "link.txt", Path("/dev/zero")):
        for read in (read_lines, read_labelled):
            with pytest.raises(DataError, match="is a pipe or a device"):
                list(read(path))
        with pytest.raises(DataError, match="is a pipe or a device"):
            fingerprint([path])
    assert list(read_lines(Path("/dev/null"), pipes=True)) == []
