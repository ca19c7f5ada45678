"""Files that Anaphora keeps are read within bounds, written whole, and what killed processes left is removed."""

import errno
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora import files
from tests.memory_bound import memory_below

LEVELS = 20_000
DEEP_TOML = {
    "dotted key": ".".join(["a"] * LEVELS) + " = 1",
    "quoted key": '."b"'.join(["a"] * LEVELS) + " = 1",
    "header": f"[{'.'.join(['a'] * LEVELS)}]",
    "arrays": f"a = {'[' * 1500}{']' * 1500}",
    "unclosed arrays": f"a = {'[' * LEVELS}",
    "inline tables": "a = " + "{a = " * 1500 + "1" + "}" * 1500,
    "behind a string": 'b = "]]]]" # ]]]\na = ' + "[" * 1500,
}


@pytest.mark.parametrize("name", DEEP_TOML)
def test_nesting_that_no_person_writes_is_refused_in_little_memory(name: str) -> None:
    refused = f"more than {files.NESTING} tables or arrays .*line [12]"
    with memory_below(files.MEGABYTE), pytest.raises(ValueError, match=refused):
        files.parse_toml(DEEP_TOML[name])


@pytest.mark.parametrize("text", ["[" * 900 + "]" * 900, '{"a":' * 1500 + "1" + "}" * 1500, "[" * 10**6], ids=len)
def test_deep_json_is_damage(text: str) -> None:
    with pytest.raises(files.DamagedError, match="within one another"):
        files.parse_json(text.encode(), Path("state.json"))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.text(), VALUES))
def test_other_json_is_read_as_it_is(value: dict[str, object]) -> None:
    assert files.parse_json(json.dumps(value).encode(), Path("state.json")) == value


@pytest.mark.parametrize(
    "text",
    [
        "a = '''[[[[''' # " + "[" * 100 + "\nb = 'x'\n",
        'a = """' + "[.{" * 100 + '"""\nb = "\\"' + "[" * 100 + '"\n',
        "\n".join(f"[t{number}]\na = [[1.5, 2.5], [{{b.c = 'd.e.f'}}]]" for number in range(200)),
    ],
    ids=["comment", "strings", "siblings"],
)
def test_brackets_in_strings_and_comments_are_no_nesting(text: str) -> None:
    assert files.parse_toml(text) == tomllib.loads(text)


def test_more_bytes_than_a_file_of_its_kind_has_are_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "best"
    file.touch()
    os.truncate(file, 10**13)
    for reader in (files.read, lambda path: files.read_exactly(path, 10), lambda path: list(files.lines(path))):
        with memory_below(4 * files.MEGABYTE), pytest.raises(files.DamagedError, match="should have"):
            reader(file)


def test_what_is_no_regular_file_is_never_waited_for(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(tmp_path / "elsewhere")
    for path in (pipe, link, tmp_path, Path("/dev/zero"), tmp_path / "gone", tmp_path / "n\0l"):
        with pytest.raises(files.DamagedError):
            files.read(path)
    for path in (pipe, link):
        with pytest.raises(files.DamagedError):
            list(files.lines(path))
        with pytest.raises(OSError):
            files.append(path, b"line\n")
    assert not (tmp_path / "elsewhere").exists()


def test_a_line_without_end_comes_in_pieces(tmp_path: Path) -> None:
    log = tmp_path / "metrics.jsonl"
    log.write_bytes(b"x" * (files.MEGABYTE + 5) + b"\nshort\n")
    assert [len(line) for line in files.lines(log)] == [files.MEGABYTE, 6, 6]


def test_what_a_killed_process_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    mine, other = files.part_of(tmp_path / "best"), files.part_of(tmp_path / "card.md")
    theirs = [tmp_path / path.name.replace(f".{os.getpid()}.", f".{gone.pid}.") for path in (mine, other)]
    kept = [mine, tmp_path / ".hidden", tmp_path / ".notes.part", tmp_path / "a.1.part"]
    for path in (theirs[0], *kept, tmp_path / f".latest.{gone.pid}.new"):
        path.touch()
    theirs[1].mkdir()
    (theirs[1] / "half").touch()
    files.sweep(tmp_path, tmp_path / "best")
    assert [path.exists() for path in theirs] == [False, True]
    files.sweep(tmp_path)
    assert set(tmp_path.iterdir()) == set(kept)


@pytest.mark.parametrize(
    ("number", "advice"),
    [(errno.EACCES, "check permissions"), (errno.EPERM, "check permissions"), (errno.ENOSPC, "make room")],
)
def test_a_file_that_cannot_be_replaced_is_named_and_advice_fits(
    number: int, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(number, os.strerror(number))  # without a name, as ``os.write`` does

    monkeypatch.setattr("anaphora.files._write_all", fail)
    with pytest.raises(OSError, match=os.strerror(number)) as raised:
        files.replace_durably(tmp_path / "file", b"new")
    assert raised.value.filename == str(tmp_path / "file")
    assert files.remedy(raised.value) == advice
    assert list(tmp_path.iterdir()) == []


def test_a_replaced_file_is_the_old_or_the_new_one(tmp_path: Path) -> None:
    for content in (b"old", b"new"):
        files.replace_durably(tmp_path / ("n" * 250), content)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"new"]
