"""Lines are what bytes say they are."""

import gzip
import io
import os
import stat
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.files import part_of
from anaphora.formats.lines import LONGEST, decode_lines, read_lines, replacing, unpacked, write_lines

LINE = st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"])).filter(
    lambda line: not line.endswith("\r") and not line.startswith("\ufeff")
)


def lines_of(data: bytes) -> list[str]:
    return list(decode_lines(io.BytesIO(data), "stream"))


@pytest.mark.parametrize("character", ["\r", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"])
def test_only_a_line_feed_ends_a_line(character: str) -> None:
    assert lines_of(f"a{character}b\nc".encode()) == [f"a{character}b", "c"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\n", ["a", ""]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\r\n", ["a\r"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
    ],
)
def test_ends_and_marks_are_stripped_once(data: bytes, expected: list[str]) -> None:
    assert lines_of(data) == expected


@given(st.lists(LINE), st.sampled_from(["plain.txt", "packed.txt.gz"]))
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, lines: list[str], name: str) -> None:
    path = tmp_path_factory.getbasetemp() / name
    write_lines(path, lines)
    if name.endswith(".gz"):
        assert gzip.decompress(path.read_bytes()) == "".join(f"{line}\n" for line in lines).encode()
    assert list(read_lines(path, any_format=True)) == lines


def test_gzip_is_known_by_its_bytes_and_all_members_are_read(tmp_path: Path) -> None:
    path = tmp_path / "no-suffix"
    path.write_bytes(gzip.compress(b"a\nb") + gzip.compress(b"c\nd\n"))
    assert list(read_lines(path)) == ["a", "bc", "d"]
    assert b"".join(unpacked(path)) == b"a\nbc\nd\n"


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


@pytest.mark.parametrize("fault", ["truncated", "flipped", "garbage behind"])
def test_a_damaged_archive_is_named(tmp_path: Path, fault: str) -> None:
    whole = gzip.compress("\n".join(map(str, range(50_000))).encode())
    middle = len(whole) // 2
    path = tmp_path / "train.en.gz"
    path.write_bytes(
        {
            "truncated": whole[:-9],
            "flipped": whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :],
            "garbage behind": whole + b"garbage",
        }[fault]
    )
    with pytest.raises(DataError, match=r"train\.en\.gz .*damaged"):
        list(read_lines(path))
    with pytest.raises(DataError, match=r"train\.en\.gz .*damaged"):
        list(unpacked(path))


def test_invalid_bytes_are_named_by_file_line_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "train.de"
    path.write_bytes(b"good\nstra\xdfe\n")
    with pytest.raises(DataError, match=r"train\.de:2 should be UTF-8, but byte 5 of the line is 0xDF"):
        list(read_lines(path))
    assert list(read_lines(path, replace_invalid=True)) == ["good", "stra\N{REPLACEMENT CHARACTER}e"]


def test_the_byte_order_mark_counts_among_the_bytes() -> None:
    with pytest.raises(DataError, match=r"stream:1 .* byte 5 "):
        lines_of(b"\xef\xbb\xbfa\xff\n")


def test_a_nul_is_refused() -> None:
    with pytest.raises(DataError, match=r"stream:2 .*NUL at byte 2"):
        lines_of(b"fine\na\0b\n")


@pytest.mark.parametrize("packed", [False, True])
def test_lines_that_cannot_be_read_may_be_refused_and_are_empty(tmp_path: Path, packed: bool) -> None:
    path, refused = tmp_path / "text", dict[int, str]()
    lines = [b"good", b"stra\xdfe", b"a\0b", b"x" * LONGEST, b"x" * (3 * LONGEST), b"good\r", b"y" * 2 * LONGEST]
    path.write_bytes((gzip.compress if packed else bytes)(b"\n".join(lines)))
    read = list(read_lines(path, refuse=lambda number, error: refused.__setitem__(number, str(error))))
    assert read == ["good", "", "", "", "", "good", ""]
    assert list(refused) == [2, 3, 4, 5, 7] and "text:2 should be UTF-8" in refused[2] and "NUL" in refused[3]


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no .*nowhere\.txt"):
        list(read_lines(tmp_path / "nowhere.txt"))
    with pytest.raises(DataError, match="is a folder"):
        list(read_lines(tmp_path))


def test_reading_takes_the_memory_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    with gzip.open(path, "wb", compresslevel=1) as out:
        for _ in range(40):
            out.write(b"a line of text\n" * 7000)
    list(zip(read_lines(path), range(10), strict=False))  # what is imported late is not counted
    tracemalloc.start()
    count = sum(1 for _ in read_lines(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 280_000
    assert peak < 1 << 20


def test_a_line_of_ten_megabytes_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"x" * 10_000_000 + b"\nshort\n")
    assert [len(line) for line in read_lines(path)] == [10_000_000, 5]


def test_a_line_feed_inside_a_line_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    write_lines(path, ["old"])
    with pytest.raises(DataError, match=r"Line 2 for .*out\.txt"):
        write_lines(path, ["new", "a\nb"])
    assert list(read_lines(path)) == ["old"]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_without_an_end_takes_bounded_memory(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "bomb.txt"
    with gzip.open(path, "wb", compresslevel=1) if packed else path.open("wb") as out:
        for _ in range(100):
            out.write(b"x" * (1 << 20))
    tracemalloc.start()
    with pytest.raises(DataError, match=r"bomb\.txt:1 is longer than 16,777,216 bytes"):
        list(read_lines(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * LONGEST


@pytest.mark.parametrize("any_format", [False, True])
def test_utf_16_is_answered_with_how_to_convert_it(tmp_path: Path, any_format: bool) -> None:
    (tmp_path / "a.txt").write_bytes("a lovely film\n".encode("utf-16"))
    with pytest.raises(DataError, match=r"a\.txt is text in UTF-16.*: convert it with  iconv -f UTF-16"):
        list(read_lines(tmp_path / "a.txt", any_format=any_format))


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
