"""Segments out of files."""

from collections import Counter
from pathlib import Path

import pytest

from anaphora.errors import DataError
from anaphora.memory.segment import segments_in


def test_segments_have_their_neighbours_and_drafts_are_skipped(tmp_path: Path) -> None:
    drafts = '#, fuzzy\nmsgid "two"\nmsgstr "zwei"\n'
    (tmp_path / "a.po").write_text(f'msgid "one"\nmsgstr "eins"\n{drafts}msgid "three"\nmsgstr "drei"\n')
    skipped = Counter[str]()
    found = list(segments_in(tmp_path / "a.po", ("en", "de"), lambda line, why: skipped.update([why])))
    assert [one[:4] for one in found] == [("one", "eins", "", "three"), ("three", "drei", "one", "")]
    assert skipped["marked fuzzy"] == 1


def test_a_table_has_segments_and_pairs_without_text_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("one\teins\n \tzwei\nthree\tdrei\n")
    assert [one.target for one in segments_in(tmp_path / "a.tsv", ("en", "de"))] == ["eins", "drei"]
    (tmp_path / "a.md").write_text("text\n")
    with pytest.raises(DataError, match="should be TMX, PO, XLIFF, CSV or TSV"):
        list(segments_in(tmp_path / "a.md", ("en", "de")))


@pytest.mark.parametrize(
    ("name", "first", "target"),
    [("en-ka.tsv", "", "sun"), ("a.tsv", "en\tka\n", "sun"), ("en-ka.tsv", "ka\ten\n", "mze")],
)
def test_a_table_is_read_in_either_direction(name: str, first: str, target: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(f"{first}sun\tmze\n")
    assert [one.target for one in segments_in(tmp_path / name, ("ka", "en"))] == [target]
