"""Columns in files are read as they were written, whatever happened to the files."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data import columns
from anaphora.data.columns import UNBOUNDED, Table, Writer
from anaphora.errors import DataError
from anaphora.events import Event, Note
from anaphora.files import json_bytes, part_of, seal, sha256
from tests.faults.damage import KINDS, Damage

BOUNDS = {"source.ids": 300, "source.ends": UNBOUNDED, "numbers": 40}
ROWS = [[(7 * row + place) % 300 for place in range(row % 9)] for row in range(40)]


def fill(into: Writer) -> Mapping[str, int]:
    for number, row in enumerate(ROWS):
        into.add("source", row)
        into.write("numbers", [number])
        into.tell(number + 1)
    return {"skipped": 3}


def table(folder: Path, report: Callable[[Event], None], fill: Callable[[Writer], Mapping[str, int]] = fill) -> Table:
    return Table(folder, ["corpus", 1], BOUNDS, fill, task="encoding", total=len(ROWS), report=report)


def content(made: Table) -> dict[str, list[int]]:
    return {name: made[name][:].tolist() for name in BOUNDS}


def warnings_of(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Note) and event.warning]


EXPECTED = {
    "source.ids": [unit for row in ROWS for unit in row],
    "source.ends": [0, *np.cumsum([len(row) for row in ROWS]).tolist()],
    "numbers": list(range(40)),
}


@pytest.fixture(scope="module", autouse=True)
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a table; blocks are small in all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "BLOCK", 32)
        folder = tmp_path_factory.mktemp("columns") / "train"
        table(folder, lambda event: None)
        yield folder


def test_columns_have_the_smallest_type(made: Path) -> None:
    header = json.loads((made / "header.json").read_bytes())
    types = {"source.ids": "<u2", "source.ends": "<i8", "numbers": "|u1"}
    assert {entry["name"]: entry["dtype"] for entry in header["columns"]} == types


@given(
    name=st.sampled_from([*BOUNDS, "header.json"]),
    share=st.floats(0, 1, exclude_max=True),
    kind=st.sampled_from([*KINDS, "gone"]),
)
def test_whatever_happens_to_a_file_what_is_read_was_written(made: Path, name: str, share: float, kind: str) -> None:
    file = made / name
    before = file.read_bytes()
    file.write_bytes(Damage(kind, share, bit=2)(before))
    if kind == "gone":
        file.unlink()
    changed = not file.exists() or file.read_bytes() != before
    events: list[Event] = []
    found = table(made, events.append)
    assert content(found) == EXPECTED and found.facts == {"skipped": 3}
    if changed and name != "header.json":
        [said] = warnings_of(events)
        assert str(made) in said and name in said and "made again" in said
    # white space in the header is no damage
    assert file.read_bytes() == before or (
        name == "header.json" and json.loads(file.read_bytes()) == json.loads(before)
    )


def test_a_block_is_verified_when_it_is_first_read(tmp_path: Path) -> None:
    events: list[Event] = []
    table(tmp_path / "train", events.append)
    there = table(tmp_path / "train", events.append)
    ids = there["source.ids"]
    assert ids[0] == EXPECTED["source.ids"][0]
    file = tmp_path / "train" / "source.ids"
    damaged = bytearray(file.read_bytes())
    damaged[100] ^= 1
    with file.open("r+b") as stream:  # in the map of the table, too
        stream.write(damaged)
    assert ids[:16].tolist() == EXPECTED["source.ids"][:16] and not warnings_of(events)
    places = np.array([[3, 50], [51, 140]])
    assert ids[places].tolist() == np.array(EXPECTED["source.ids"])[places].tolist()
    assert len(warnings_of(events)) == 1
    assert content(there) == EXPECTED


@given(seed=st.integers(0, 10**6))
def test_any_reading_is_that_of_an_array(made: Path, seed: int) -> None:
    draw = random.Random(seed)
    found, array = table(made, lambda event: None)["source.ids"], np.array(EXPECTED["source.ids"])
    begin, end = draw.randint(-200, 200), draw.randint(-200, 200)
    assert found[begin:end].tolist() == array[begin:end].tolist()
    assert found[draw.randrange(len(array))] in array
    places = np.array(draw.choices(range(-len(array), len(array)), k=draw.randint(0, 9)), dtype=np.int64)
    assert found[places].tolist() == array[places].tolist()
    assert np.asarray(found).tolist() == array.tolist()


def test_a_number_out_of_range_is_never_handed_out(tmp_path: Path) -> None:
    events: list[Event] = []
    folder = tmp_path / "train"
    table(folder, events.append)
    header = json.loads((folder / "header.json").read_bytes())
    wrong = np.full(header["columns"][0]["count"], 60_000, "<u2").tobytes()
    (folder / "source.ids").write_bytes(wrong)
    blocks = [wrong[start : start + 32] for start in range(0, len(wrong), 32)]
    header["columns"][0]["sha256"] = [sha256(block) for block in blocks]
    (folder / "header.json").write_bytes(json_bytes(seal(header)))
    found = table(folder, events.append)
    with pytest.raises(DataError, match="changed since"):  # what such a header promises can never be made again
        found["source.ids"][:]
    assert "has 60,000, but all should be below 300" in warnings_of(events)[0]
    assert content(table(folder, events.append)) == EXPECTED


def test_everything_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    fsync, rename = os.fsync, os.rename

    def synced(descriptor: int) -> None:
        calls.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        fsync(descriptor)

    def renamed(source: Path, target: Path) -> None:
        calls.append("rename")
        rename(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "rename", renamed)
    table(tmp_path / "train", lambda event: None)
    *before, last = calls
    assert set(before[:-1]) == {*BOUNDS, "header.json", part_of(tmp_path / "train").name}
    assert before[-1] == "rename" and last == tmp_path.name


def test_what_a_killed_process_left_half_made_is_removed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    left = tmp_path / part_of(tmp_path / "train[1]").name.replace(f".{os.getpid()}.", f".{gone.pid}.")
    left.mkdir()
    (left / "source.ids").write_bytes(b"half")
    assert content(table(tmp_path / "train[1]", lambda event: None)) == EXPECTED
    assert [path.name for path in tmp_path.iterdir()] == ["train[1]"]


def test_real_numbers_are_read_as_they_were_written_and_mended(tmp_path: Path) -> None:
    numbers, file, heard = np.linspace(-3, 3, 50).astype(np.float32), tmp_path / "t" / "values", list[Event]()

    def write(into: Writer) -> Mapping[str, int]:
        into.write("values", numbers)
        return {}

    def made() -> list[float]:
        bounds = {"values": columns.FLOATS}
        return Table(file.parent, [], bounds, write, task="", total=1, report=heard.append)["values"][:].tolist()

    assert made() == numbers.tolist()
    content = bytearray(file.read_bytes())
    content[9] ^= 1
    file.write_bytes(content)
    assert made() == numbers.tolist() and len(warnings_of(heard)) == 1
    numbers[7] = np.nan
    (file.parent / "header.json").unlink()
    with pytest.raises(DataError, match="numbers that are not finite"):
        made()
