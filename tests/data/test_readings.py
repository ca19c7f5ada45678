"""Large files are read once while they are untouched, and again after anything that may have changed them."""

import os
from pathlib import Path

import pytest

from anaphora.data import readings
from anaphora.data.corpora import Pair, PairCorpus, Splits
from anaphora.data.filters import Filter
from anaphora.data.readings import Facts, known_or_read
from anaphora.data.sources import text_splits, translation_splits
from anaphora.events import Event, Note, Report, Skipped, silent

WORDS = [first + second for first in "abcdefgh" for second in "abcdefgh"]
PAIRS = "".join(f"one {word}\teins {word}\n" for word in WORDS) + "\tleer\nno pair\none AA\teins aa!\n"
NOTES = [Note("a note", warning=True), Skipped("left out", 3)]


class Reader:
    """Reads a file, and counts how often."""

    def __init__(self, path: Path) -> None:
        self.path, self.times = path, 0

    def __call__(self, report: Report) -> Facts:
        self.times += 1
        for note in NOTES:
            report(note)
        return {"text": self.path.read_text()}

    def known(self, report: Report = silent) -> str:
        return str(known_or_read([self.path], ["as text"], self, report)["text"])


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where readings are kept, also of small files that were just written."""
    monkeypatch.setenv("ANAPHORA_DATA", str(tmp_path / "home"))
    monkeypatch.setattr(readings, "SMALL", 0)
    monkeypatch.setattr(readings, "_SETTLED", -(10**9))
    return tmp_path / "home"


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    path = tmp_path / "text"
    path.write_text("before")
    return Reader(path)


def test_an_untouched_file_is_read_once_and_its_notes_are_reported_each_time(home: Path, reader: Reader) -> None:
    for _ in range(2):
        heard: list[Event] = []
        assert reader.known(heard.append) == "before"
        assert heard == NOTES
    assert reader.times == 1


@pytest.mark.parametrize("name", ["text", "other"])
def test_a_file_that_was_rewritten_or_replaced_is_read_again(home: Path, reader: Reader, name: str) -> None:
    reader.known()
    times, written = reader.path.stat(), reader.path.with_name(name)
    written.write_text("behind")  # of the same size
    os.utime(written, ns=(times.st_atime_ns, times.st_mtime_ns))
    written.replace(reader.path)
    assert reader.known() == "behind"


@pytest.mark.parametrize("damage", ["", "{}", '{"files": [], "sha256": "0"}'])
def test_a_damaged_note_is_not_believed(home: Path, reader: Reader, damage: str) -> None:
    reader.known()
    (kept,) = (home / "readings").iterdir()
    kept.write_text(damage or kept.read_text().replace("before", "behind"))
    assert reader.known() == "before"
    assert reader.times == 2


@pytest.mark.parametrize(("small", "settled"), [(0, 2 * 10**9), (7, -(10**9))], ids=["just changed", "small"])
def test_readings_of_files_that_just_changed_or_are_small_are_not_kept(
    home: Path, reader: Reader, monkeypatch: pytest.MonkeyPatch, small: int, settled: int
) -> None:
    monkeypatch.setattr(readings, "SMALL", small)
    monkeypatch.setattr(readings, "_SETTLED", settled)
    reader.known()
    assert not home.exists()


def test_where_nothing_can_be_kept_files_are_read_each_time(home: Path, reader: Reader) -> None:
    home.write_text("no folder")
    assert reader.known() == reader.known() == "before"


def content(splits: Splits[PairCorpus]) -> list[tuple[str, int, list[Pair]]]:
    corpora = [splits.train, splits.valid, *splits.tests.values()]
    return [(corpus.fingerprint, corpus.count, list(corpus)) for corpus in corpora]


@pytest.mark.parametrize("filters", [(), ("near-duplicates",)])
def test_known_splits_are_those_that_were_read(home: Path, tmp_path: Path, filters: tuple[Filter, ...]) -> None:
    data = tmp_path / "pairs.tsv"
    data.write_text(PAIRS)
    notes: list[list[Event]] = [[], []]
    first, second = (
        content(translation_splits([data], "en", "de", filters=filters, report=heard.append)) for heard in notes
    )
    assert first == second
    assert notes[0] == notes[1] != []
    assert len(list((home / "readings").iterdir())) == 1
    other = content(translation_splits([data], "en", "de", filters=filters, seed=2))
    assert other[1] != first[1]  # what is known of one seed does not pass for another


def test_a_known_text_is_that_which_was_read(home: Path, tmp_path: Path) -> None:
    data = tmp_path / "text.txt"
    data.write_text(PAIRS)
    first, second = (text_splits([data]) for _ in range(2))
    assert (first.train, first.valid) == (second.train, second.valid)
