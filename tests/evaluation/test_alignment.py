import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.evaluation.alignment import SoftLinks, agreement, hard_links, merge, words_of

links = st.frozensets(st.tuples(st.integers(0, 30), st.integers(0, 30)))


@pytest.mark.parametrize(
    ("weights", "source", "target", "found"),
    [
        ([[0.1, 0.7, 0.2], [0.5, 0.4, 0.1], [0.2, 0.2, 0.6]], 3, 3, {(1, 0), (0, 1), (2, 2)}),
        ([[0.1, 0.7, 0.2], [0.1, 0.3, 0.6], [0.9, 0.1, 0.0]], 2, 2, {(1, 0)}),  # </s> is the last of either side
        ([[0.0, 0.0, 0.0], [0.1, 7.5, 3.0], [0.0, 0.0, 1e-9]], 3, 3, {(1, 1), (2, 2)}),  # the first looked nowhere
        ([[1.0]], 0, 0, set()),
        ([[1.0, 1.0, 1.0]], 2, 0, set()),
    ],
)
def test_every_token_is_linked_to_what_it_looked_at_most(
    weights: list[list[float]], source: int, target: int, found: set[tuple[int, int]]
) -> None:
    assert hard_links(np.array(weights), source, target) == found


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


def test_the_figures_are_those_of_the_papers() -> None:
    found = [frozenset({(0, 0), (1, 1), (2, 2), (3, 3)})]
    sure, possible = [frozenset({(0, 0), (4, 4)})], [frozenset({(1, 1)})]
    # |A & S| = 1, |A & P| = 2 with the sure ones in P, |A| = 4, |S| = 2
    assert agreement(found, sure, possible) == pytest.approx((1 - 3 / 6, 2 / 4, 1 / 2))
    alone = agreement(found, sure)
    assert alone == pytest.approx((1 - 2 / 6, 1 / 4, 1 / 2))
    assert alone.f1 == pytest.approx(2 / 6)
    assert str(alone) == "alignment error rate 66.67%, precision 25.00%, recall 50.00%, F1 33.33%"


@given(st.lists(st.tuples(links, links.filter(bool)), min_size=1, max_size=4))
def test_without_possible_links_the_error_rate_is_what_f1_lacks(
    both: list[tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]],
) -> None:
    gold = [sure for _, sure in both]
    measured = agreement([found for found, _ in both], gold)
    if any(found for found, _ in both):
        assert measured.error_rate == pytest.approx(1 - measured.f1)
    assert agreement(gold, gold) == (0.0, 1.0, 1.0)
    none = agreement([frozenset()] * len(gold), gold)
    assert none == (1.0, 1.0, 0.0) and none.f1 == 0.0


def test_alignments_of_different_sentences_are_refused() -> None:
    with pytest.raises(DataError, match="of different sentences"):
        agreement([frozenset()], [])
    with pytest.raises(DataError, match="there are none"):
        agreement([frozenset()], [frozenset()])


def test_soft_links_sum_over_source_pieces_and_average_over_target_pieces() -> None:
    weights = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.2, 0.2], [0.0, 0.0, 0.9, 0.1], [0.3, 0.3, 0.3, 0.1]])
    soft = SoftLinks.of(weights, ["▁a", "b", "▁c"], ["▁x", "y", "▁z"])  # </s> is the last of either side
    assert soft.source == ("ab", "c") and soft.target == ("xy", "z")
    assert soft.weights_TS == pytest.approx(np.array([[0.45, 0.25], [0.0, 0.9]]))
    assert soft.json()["weights"] == [[0.45, 0.25], [0.0, 0.9]]
    empty = SoftLinks.of(np.zeros((1, 1)), [], [])
    assert empty.json() == {"source": [], "target": [], "weights": []}
