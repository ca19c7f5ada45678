"""Pairs in two columns."""

from pathlib import Path

import pytest

from anaphora.errors import DataError
from anaphora.formats.tsv import read_pairs, write_pairs


def test_lines_of_other_than_two_columns_are_rejected_and_told(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text('a\tb\nno tab\n"quoted"\t\nc\td\te\nf\tg\n', encoding="utf-8")
    told: list[tuple[int, int]] = []
    rows = list(read_pairs(path, rejected=lambda line, columns: told.append((line, columns))))
    assert rows == [(1, "a", "b"), (3, '"quoted"', ""), (5, "f", "g")]
    assert told == [(2, 1), (4, 3)]


def test_a_file_without_any_pair_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("one, two\nthree, four\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"pairs\.tsv should have two columns .* line 1 has 1"):
        list(read_pairs(path))


def test_an_empty_file_has_no_pairs(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.touch()
    assert list(read_pairs(path)) == []


def test_what_is_written_is_read_again_and_a_tab_in_a_side_is_a_space(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv.gz"
    write_pairs(path, [("a", "b"), ("c\td", ""), ("", "é \u2028")])
    assert [row[1:] for row in read_pairs(path)] == [("a", "b"), ("c d", ""), ("", "é \u2028")]
