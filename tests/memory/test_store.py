"""The file of a memory: what becomes of it when processes die, meet, or bring a file from elsewhere."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from anaphora.errors import RunError
from anaphora.memory import Memory, Segment, store

ADDS_FOR_EVER = """
import sys
from pathlib import Path
from anaphora.memory import Memory, Segment
memory = Memory(Path(sys.argv[1]), create=True)
for number in range(10**9):
    memory.add([Segment(f"{number} {place}", "x" * 200) for place in range(20)], str(number))
    print(number, flush=True)
"""


def test_a_killed_process_leaves_all_that_it_said_it_added_and_no_half(tmp_path: Path) -> None:
    told = -1
    for trial in (1, 4):
        folder = tmp_path / str(trial)
        folder.mkdir()
        with subprocess.Popen(
            [sys.executable, "-c", ADDS_FOR_EVER, str(folder)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for _ in range(3 + trial):
                told = int(process.stdout.readline())
            time.sleep(0.003 * trial)
            process.send_signal(signal.SIGKILL)
            told = max([told, *map(int, process.stdout.read().split())])
        with Memory(folder) as memory:
            origins = memory.origins()
            assert set(origins.values()) == {20}
            assert {str(number) for number in range(told + 1)} <= set(origins) <= set(map(str, range(told + 2)))
            memory.confirm(Segment("new", "neu"))


def test_what_fails_half_way_adds_nothing(tmp_path: Path) -> None:
    def failing() -> object:
        yield Segment("a", "A")
        raise ValueError

    with Memory(tmp_path, create=True) as memory:
        with pytest.raises(ValueError):
            memory.add(failing(), "a")  # type: ignore[arg-type]
        assert len(memory) == 0
        assert memory.add([Segment("a", "A")], "a") == 1


def test_it_is_read_while_another_writes_and_a_second_writer_waits_then_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "PATIENCE", 0.05)
    with Memory(tmp_path, create=True) as memory:
        memory.add([Segment("a", "A")], "a")
        writer = sqlite3.connect(tmp_path / store.NAME, isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        assert memory.exact("a")
        with Memory(tmp_path) as other, pytest.raises(RunError, match="in use by another process"):
            other.confirm(Segment("b", "B"))
        writer.rollback()
        writer.close()


def test_threads_share_a_memory(tmp_path: Path) -> None:
    with Memory(tmp_path, create=True) as memory:

        def work(name: str) -> None:
            for number in range(20):
                memory.confirm(Segment(f"{name} open the file {number}", name))
                assert memory.fuzzy(f"{name} open the files {number}")

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, "abcd"))
        assert len(memory) == 80


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON segments BEGIN DELETE FROM segments; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE other (a)",
        "DROP INDEX segments_once",
    ],
)
def test_a_file_with_other_tables_is_refused(tmp_path: Path, statement: str) -> None:
    Memory(tmp_path, create=True).close()
    with sqlite3.connect(tmp_path / store.NAME) as database:
        database.execute(statement)
    database.close()
    with pytest.raises(RunError, match="has other tables"):
        Memory(tmp_path, create=True)


def test_an_empty_and_a_damaged_file_are_said_to_be(tmp_path: Path) -> None:
    (tmp_path / store.NAME).touch()
    with pytest.raises(RunError, match="is an empty database"):
        Memory(tmp_path)
    (tmp_path / store.NAME).unlink()
    with Memory(tmp_path, create=True) as memory:
        memory.add([Segment(str(number), "x" * 100) for number in range(500)], "a")
    whole = (tmp_path / store.NAME).read_bytes()
    (tmp_path / store.NAME).write_bytes(b"no database at all, but some text" * 20)
    with pytest.raises(RunError, match="is damaged"):
        Memory(tmp_path)
    (tmp_path / store.NAME).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RunError, match="is damaged"), Memory(tmp_path) as memory:
        list(memory)


def test_a_link_and_a_newer_format_are_refused_and_nothing_is_made_unasked(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no translation memory: add segments"):
        Memory(tmp_path)
    assert list(tmp_path.iterdir()) == []
    Memory(tmp_path, create=True).close()
    with sqlite3.connect(tmp_path / store.NAME) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(RunError, match="format 99"):
        Memory(tmp_path)
    os.rename(tmp_path / store.NAME, tmp_path / "elsewhere")
    (tmp_path / store.NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunError, match="is a link, a folder or a pipe"):
        Memory(tmp_path, create=True)


def test_what_is_removed_is_not_in_the_file_any_more(tmp_path: Path) -> None:
    with Memory(tmp_path, create=True) as memory:
        number = memory.confirm(Segment("the secret plan", "geheim"))
        assert number
        memory.remove([number])
    assert [path.name for path in tmp_path.iterdir()] == [store.NAME]
    assert b"secret" not in (tmp_path / store.NAME).read_bytes()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_read(tmp_path: Path) -> None:
    with Memory(tmp_path, create=True) as memory:
        memory.confirm(Segment("a", "A"))
    (tmp_path / store.NAME).chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        with Memory(tmp_path) as memory:
            assert memory.exact("a")
            with pytest.raises(RunError, match="cannot be used"):
                memory.confirm(Segment("b", "B"))
    finally:
        tmp_path.chmod(0o755)
