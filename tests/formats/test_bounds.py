"""What a reader keeps as a whole (a row, a sentence, an array, a document) is bounded while it is read."""

import os
from itertools import repeat
from pathlib import Path

import pytest

from anaphora.data.corpora import fingerprint
from anaphora.errors import DataError
from anaphora.formats import json_text, labelled, table_rows, tagged
from anaphora.formats.columns import Columns
from anaphora.formats.conllu import Conllu
from anaphora.formats.labelled import read_labelled
from anaphora.formats.lines import read_lines
from anaphora.formats.offsets import Offsets
from anaphora.formats.tagged import TaggedFormat


@pytest.mark.parametrize(
    ("format_", "line"),
    [
        (Conllu(), "# a comment\n"),
        (Conllu(), "1-2\ta\t_\t_\t_\t_\t_\t_\t_\t_\n"),
        (Columns(2), "a X\n"),
        (Columns(2), f"{'a' * 5_000} X\n"),
    ],
)
def test_a_sentence_without_end_is_refused(format_: TaggedFormat, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagged, "_MOST_LINES", 1_000)
    monkeypatch.setattr(tagged, "LONGEST", 100_000)
    with pytest.raises(DataError, match=r"file:\d+ is in a sentence of more than"):
        list(format_.read(repeat(line), "file", labelled=True))


def test_an_array_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "LARGEST", 10_000)
    with pytest.raises(DataError, match="file:1 begins something of more than 10,000 characters"):
        list(Offsets("iob2").read((line for line in ("[\n", *repeat(" \n", 10_000))), "file"))


def test_a_row_or_a_text_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (table_rows, labelled):
        monkeypatch.setattr(module, "LONGEST", 10_000)
    table = tmp_path / "a.csv"
    table.write_text("label,text\nx,y\n" + 'x,"a\n' + 'b","c\n' * 3_000)
    with pytest.raises(DataError, match=r"a\.csv:3 begins a row of more than 10,000 characters"):
        list(read_labelled(table))
    for name in ("good", "bad"):
        (tmp_path / "classes" / name).mkdir(parents=True)
        (tmp_path / "classes" / name / "1.txt").write_text("a\n" * 6_000)
    with pytest.raises(DataError, match=r"1\.txt begins something of more than 10,000 characters"):
        list(read_labelled(tmp_path / "classes"))


def test_only_some_rows_are_kept_to_tell_the_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled, "LONGEST", 100)
    table = tmp_path / "a.tsv"
    table.write_text(f"x\t{'a' * 200}\n" * 3 + "y\tz\n")
    assert [one.labels for one in read_labelled(table)] == [("x",), ("x",), ("x",), ("y",)]


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
