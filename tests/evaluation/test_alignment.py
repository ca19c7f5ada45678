import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.evaluation.alignment import (
    alignment_error_rate,
    from_pharaoh,
    hard_links,
    merge,
    to_pharaoh,
    words_of,
)

links = st.frozensets(st.tuples(st.integers(0, 30), st.integers(0, 30)))


def test_every_unit_is_linked_to_what_it_looked_at_most() -> None:
    weights = np.array([[0.1, 0.7, 0.2], [0.5, 0.4, 0.1], [0.2, 0.2, 0.6]])
    assert hard_links(weights, 3, 3) == {(1, 0), (0, 1), (2, 2)}


def test_what_looks_at_the_end_mark_or_is_one_gets_no_link() -> None:
    weights = np.array([[0.1, 0.7, 0.2], [0.1, 0.3, 0.6], [0.9, 0.1, 0.0]])
    assert hard_links(weights, 2, 2) == {(1, 0)}


def test_an_empty_side_has_no_links() -> None:
    assert hard_links(np.ones((1, 1)), 0, 0) == frozenset()
    assert hard_links(np.ones((1, 3)), 2, 0) == frozenset()


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (["▁a", "▁wal", "king", "▁man", "."], [0, 1, 1, 2, 2]),
        (["a", "▁", "b", "c"], [0, None, 1, 1]),
        (["▁", "a", "▁b"], [None, 0, 1]),
        (["▁a▁", "b"], [0, 1]),
        (["▁a", "▁", "▁", "b", "▁"], [0, None, None, 1, None]),
        ([], []),
    ],
)
def test_pieces_belong_to_the_words_that_spaces_part(pieces: list[str], words: list[int | None]) -> None:
    assert words_of(pieces) == words


def test_links_between_pieces_become_links_between_their_words() -> None:
    assert merge({(0, 0), (1, 1), (2, 1), (3, 2)}, [0, 1, 1, None], [0, 1, 1]) == {(0, 0), (1, 1)}


@given(links)
def test_pharaoh_lines_come_back_as_they_were(some: frozenset[tuple[int, int]]) -> None:
    assert from_pharaoh(to_pharaoh(some)) == some


def test_pharaoh_lines_are_in_order() -> None:
    assert to_pharaoh({(10, 0), (2, 3), (2, 1)}) == "2-1 2-3 10-0"


@pytest.mark.parametrize("line", ["1", "1-", "-1", "a-b", "0-0 1_2", "1-2-3", "²-1"])
def test_anything_else_than_a_link_is_refused(line: str) -> None:
    with pytest.raises(DataError, match="should read i-j"):
        from_pharaoh(line)


@given(st.lists(links.filter(bool), min_size=1, max_size=4))
def test_the_gold_links_themselves_have_no_error(gold: list[frozenset[tuple[int, int]]]) -> None:
    assert alignment_error_rate(gold, gold) == 0.0
    assert alignment_error_rate([frozenset()] * len(gold), gold) == 1.0


def test_the_error_rate_is_that_of_the_paper() -> None:
    found = [frozenset({(0, 0), (1, 1), (2, 2), (3, 3)})]
    sure, possible = [frozenset({(0, 0), (4, 4)})], [frozenset({(1, 1)})]
    # |A & S| = 1, |A & P| = 2 with the sure ones in P, |A| = 4, |S| = 2
    assert alignment_error_rate(found, sure, possible) == pytest.approx(1 - 3 / 6)
    assert alignment_error_rate(found, sure) == pytest.approx(1 - 2 / 6)


def test_alignments_of_different_sentences_are_refused() -> None:
    with pytest.raises(DataError, match="equally many"):
        alignment_error_rate([frozenset()], [])
    with pytest.raises(DataError, match="there are none"):
        alignment_error_rate([frozenset()], [frozenset()])
