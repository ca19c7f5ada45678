from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.formats.lines import write_lines
from anaphora.formats.pharaoh import each_links, from_pharaoh, to_pharaoh

links = st.frozensets(st.tuples(st.integers(0, 30), st.integers(0, 30)))


@given(links)
def test_lines_come_back_as_they_were(some: frozenset[tuple[int, int]]) -> None:
    line = to_pharaoh(some)
    assert from_pharaoh(line, "here") == some
    assert line.split() == [f"{i}-{j}" for i, j in sorted(some)]


@pytest.mark.parametrize("line", ["1", "1-", "-1", "a-b", "0-0 1_2", "1-2-3", "²-1", f"0-{'1' * 5000}"])
def test_anything_else_than_a_link_is_refused(line: str) -> None:
    with pytest.raises(DataError, match=r"gold\.txt:7: a word link should read i-j"):
        from_pharaoh(line, "gold.txt:7")


def test_a_file_is_read_line_by_line_and_faults_have_their_line(tmp_path: Path) -> None:
    path = tmp_path / "gold.links"
    write_lines(path, ["0-0 1-1", "", "2-0"])
    assert list(each_links(path, [None] * 3)) == [{(0, 0), (1, 1)}, frozenset(), {(2, 0)}]
    path.write_text("0-0\n1:1\n")
    with pytest.raises(DataError, match=r"gold\.links:2: .* not '1:1'"):
        list(each_links(path, [None] * 2))


def test_links_to_words_that_are_not_there_are_refused_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "gold.links"
    write_lines(path, ["0-1", "2-0"])
    links = [{(0, 1)}, {(2, 0)}]
    assert list(each_links(path, [(1, 2), (3, 1)])) == links
    assert list(each_links(path, [(1, 2), None])) == links
    read = each_links(path, [(1, 2), (2, 1)])
    assert next(read) == links[0]
    with pytest.raises(DataError, match=r"links:2 should link the words of a pair with 2 and 1 word, counted from 0"):
        next(read)


@pytest.mark.parametrize("pairs", [2, 4])
def test_more_or_fewer_lines_than_pairs_are_refused(pairs: int, tmp_path: Path) -> None:
    write_lines(tmp_path / "gold.links", ["0-0"] * 3)
    with pytest.raises(DataError, match=f"alignments of {pairs} pairs, a line each, but has 3 lines"):
        list(each_links(tmp_path / "gold.links", [None] * pairs))
