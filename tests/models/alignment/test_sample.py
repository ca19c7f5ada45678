import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.ragged import Ragged
from anaphora.models.alignment.groups import LONGEST, even_sample

LENGTHS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30)


def sides(lengths: list[tuple[int, int]]) -> tuple[Ragged, Ragged]:
    return Ragged.of([4] * width for width, _ in lengths), Ragged.of([5] * height for _, height in lengths)


@given(LENGTHS, st.integers(1, 500))
def test_a_sample_has_no_more_links_than_it_may_and_is_in_order(lengths: list[tuple[int, int]], most: int) -> None:
    rows = even_sample(*sides(lengths), most).tolist()
    links = [(width + 1) * (height + 1) if width and height else 0 for width, height in lengths]
    assert rows == sorted(set(rows)) and set(rows) <= set(range(len(lengths)))
    assert len(rows) == 1 or sum(links[row] for row in rows) <= most
    assert sum(links) > most or rows == list(range(len(lengths)))


def test_a_sample_is_drawn_from_all_of_the_pairs() -> None:
    rows = even_sample(*sides([(3, 3)] * 10_000), 16 * 1000)
    assert len(rows) == 1000
    assert 4500 < np.mean(rows) < 5500 and rows[0] < 100 and rows[-1] > 9900


def test_a_pair_that_is_never_looked_at_takes_no_room() -> None:
    lengths = [(3, 3), (LONGEST + 1, 3), (2, LONGEST + 1), (3, 3)]
    assert even_sample(*sides(lengths), 32).tolist() == [0, 1, 2, 3]
