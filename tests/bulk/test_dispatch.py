"""Workers of any engine that are killed, fail, or find no room: the same bytes, no line lost or written twice."""

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest

from anaphora.bulk.translation import EngineName, translate_with
from anaphora.errors import ReportedError, RunError
from anaphora.events import Event as Reported
from anaphora.events import Note, silent
from tests.bulk.toy import IDENTITY, Backwards

TEXT = [f"line {number}" for number in range(23)]


@pytest.fixture(scope="module", params=["local", "ray"])
def engine(request: pytest.FixtureRequest) -> Iterator[EngineName]:
    """Each engine; Ray is started once for all tests."""
    if request.param == "local":
        yield "local"
        return
    ray = pytest.importorskip("ray")
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield "ray"
    ray.shutdown()


def written(
    load: Backwards, lines: list[str], output: Path, engine: EngineName, workers: int = 2
) -> tuple[list[str], list[int], int]:
    """The lines of the output, the refused ones, and how many workers ended early."""
    events = list[Reported]()
    done = translate_with(load, lines, output, IDENTITY, workers, events.append, engine)
    assert done.lines == len(lines)
    assert not output.with_name(f"{output.name}.shards").exists()
    ended = sum(isinstance(event, Note) and "ended" in event.text for event in events)
    return output.read_text().split("\n")[:-1], [refused.line for refused in done.refused], ended


def backwards(lines: list[str]) -> list[str]:
    return [line[::-1] for line in lines]


def test_lines_that_kill_raise_or_are_refused_are_listed_others_come_once(tmp_path: Path, engine: EngineName) -> None:
    lines = list(TEXT)
    lines[2], lines[6], lines[11], lines[12], lines[17] = "kill", "once", "raise", "refuse", "two lines"
    expected = ["" if number in (2, 11, 12, 17) else line[::-1] for number, line in enumerate(lines)]
    output = tmp_path / "out"
    assert written(Backwards(tmp_path), lines, output, engine) == (expected, [3, 12, 13, 18], 5 + 1)
    listed = [line.split("\t") for line in (tmp_path / "out.refused.tsv").read_text().splitlines()]
    assert listed == [
        ["3", "Line 3 cannot be translated: 3 workers died with it"],
        ["12", "Line 12 cannot be translated: ValueError: it is raised"],
        ["13", "Line 13 is refused."],
        ["18", "Line 18 cannot be translated: ValueError: its translation is not one line"],
    ]
    assert written(Backwards(tmp_path), TEXT[:3], output, engine)[0] == backwards(TEXT[:3])
    assert not (tmp_path / "out.refused.tsv").exists()


LONG = [pytest.param(operation, marks=pytest.mark.slow) for operation in (1, 2, *range(4, 15))]


@pytest.mark.parametrize("operation", [3, *LONG])
def test_a_kill_at_any_operation_on_files_changes_nothing(tmp_path: Path, engine: EngineName, operation: int) -> None:
    assert written(Backwards(tmp_path, kill_at=operation), TEXT, tmp_path / "out", engine)[0] == backwards(TEXT)
    assert (tmp_path / "counting").exists()


@pytest.mark.slow
def test_workers_killed_at_random_moments_change_nothing(tmp_path: Path, engine: EngineName) -> None:
    load, over = Backwards(tmp_path, pause=0.05), Event()
    lines = [f"line {number}" for number in range(200)]

    def kill() -> None:
        while not over.wait(0.7):
            with suppress(ProcessLookupError, IndexError):
                os.kill(load.workers()[-1], signal.SIGKILL)

    killer = Thread(target=kill)
    killer.start()
    try:
        found, refused, ended = written(load, lines, tmp_path / "out", engine)
    finally:
        over.set()
        killer.join()
    assert found == backwards(lines) and refused == [] and ended >= 3


def test_the_same_call_after_a_kill_writes_the_same_and_keeps_its_shards(tmp_path: Path, engine: EngineName) -> None:
    output, load = tmp_path / "out", Backwards(tmp_path, pause=0.05)
    arguments = load, TEXT, output, IDENTITY, 2, silent, engine
    process = multiprocessing.get_context("spawn").Process(target=translate_with, args=arguments)
    process.start()
    first = tmp_path / "out.shards" / "0000000.json"
    while not first.exists():
        assert process.is_alive()
        time.sleep(0.02)
    process.kill()
    process.join()
    kept, workers = first.stat().st_mtime_ns, load.workers()
    assert not output.exists()
    while any(_is_alive(worker) for worker in workers):  # they find that nobody is there
        time.sleep(0.05)
    assert first.stat().st_mtime_ns == kept
    (tmp_path / "out.shards" / "0000001.txt").unlink(missing_ok=True)  # and one shard is lost
    assert written(load, TEXT, output, engine)[0] == backwards(TEXT)


def _is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"  # whoever adopts it may be slow to ask


def test_a_full_disk_is_one_error_and_finished_shards_stay(tmp_path: Path, engine: EngineName) -> None:
    lines = [*TEXT[:10], "x" * 500, *TEXT[11:]]
    load, output = Backwards(tmp_path, most_bytes=1000), tmp_path / "out"
    lines[14] = "y" * 1000
    said = list[Reported]()
    with pytest.raises(ReportedError, match=r"Shard 2 cannot be written into .*File too large.*make room") as raised:
        translate_with(load, lines, output, IDENTITY, 1, said.append, engine)
    assert raised.value.exit_code == 2
    assert f"kept in {output}.shards: give the same command again" in next(e.text for e in said if isinstance(e, Note))
    assert not output.exists()
    kept = tmp_path / "out.shards" / "0000001.json"
    before = kept.stat().st_mtime_ns
    assert not list((tmp_path / "out.shards").glob("0000002*"))
    with pytest.raises(ReportedError, match="Shard 2 cannot"):
        written(load, lines, output, engine, workers=1)
    assert kept.stat().st_mtime_ns == before
    assert written(replace(load, most_bytes=0), lines, output, engine)[0] == backwards(lines)


def test_what_keeps_a_model_from_loading_is_one_error(tmp_path: Path, engine: EngineName) -> None:
    with pytest.raises(ReportedError, match=r"^It refuses to load\.$"):
        written(Backwards(tmp_path, refuses_to_load=True), TEXT, tmp_path / "out", engine)
    assert not (tmp_path / "out.shards").exists()  # there is nothing in it to keep
    how = {"local": "exit code -9", "ray": "its worker process has died"}[engine]
    with pytest.raises(RunError, match=rf"5 workers died one after another .*{how}.*Use fewer workers"):
        written(Backwards(tmp_path, dies_loading=True), TEXT, tmp_path / "out", engine)


def test_a_fault_of_every_line_is_an_error_and_no_list_of_lines(tmp_path: Path, engine: EngineName) -> None:
    identity = IDENTITY._replace(lines=200)
    with pytest.raises(ReportedError, match=r"More than 100 lines of shard 0 fail.*it is raised"):
        translate_with(Backwards(tmp_path), ["raise"] * 200, tmp_path / "out", identity, 1, engine=engine)


def test_a_folder_in_use_is_refused(tmp_path: Path, engine: EngineName) -> None:
    from anaphora.run.layout import FolderLock

    (tmp_path / "out.shards").mkdir()
    with FolderLock(tmp_path / "out.shards").hold(), pytest.raises(RunError, match="which translates into it; wait"):
        written(Backwards(tmp_path), TEXT, tmp_path / "out", engine)


def test_no_lines_make_an_empty_file_and_no_process(tmp_path: Path, engine: EngineName) -> None:
    load = Backwards(tmp_path)
    assert written(load, [], tmp_path / "out", engine) == ([], [], 0)
    assert load.workers() == []
