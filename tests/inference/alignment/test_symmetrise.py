from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.inference.alignment.symmetrise import Symmetrise, symmetrise

links = st.frozensets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


@given(links, links)
@settings(max_examples=30)
def test_each_way_keeps_to_what_was_found(one: frozenset[tuple[int, int]], other: frozenset[tuple[int, int]]) -> None:
    found = {how: symmetrise(one, other, how) for how in get_args(Symmetrise)}
    assert found["intersection"] == one & other and found["union"] == one | other
    assert found["source-to-target"] == one and found["target-to-source"] == other
    assert one & other <= found["grow-diag-final-and"] <= one | other


def test_links_grow_beside_others_where_a_word_is_free_and_far_ones_need_two_free_words() -> None:
    both = {(0, 0), (3, 3)}
    # (1, 0) and then (2, 0) grow from (0, 0); (5, 5) links two free words; (6, 3) has a word that is taken
    one = both | {(1, 0), (2, 0), (5, 5)}
    other = both | {(6, 3)}
    assert symmetrise(one, other, "grow-diag-final-and") == both | {(1, 0), (2, 0), (5, 5)}
    taken = {(0, 0), (1, 1)}
    assert symmetrise(taken | {(0, 1)}, taken | {(1, 0)}, "grow-diag-final-and") == taken
