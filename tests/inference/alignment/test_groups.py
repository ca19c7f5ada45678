import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.data.ragged import Ragged
from anaphora.inference.alignment import groups as module
from anaphora.inference.alignment.groups import LONGEST, groups, locate, seen
from anaphora.inference.alignment.lexicon import EMPTY, Lexicon
from anaphora.models.alignment.aligner import even_sample

SIZE = 12
words = st.lists(st.integers(4, SIZE - 1), max_size=6)
pairs = st.lists(st.tuples(words, words), max_size=8)


@given(pairs)
@settings(max_examples=30)
def test_every_pair_with_two_sides_is_in_one_group_with_its_words(some: list[tuple[list[int], list[int]]]) -> None:
    sources, targets = (Ragged.of([pair[side] for pair in some]) for side in (0, 1))
    found = {}
    for group in groups(sources, targets):
        assert (np.diff(group.lengths_R) <= 0).all() and group.active_T[0] == len(group.rows_R)
        assert (group.sources_RS[:, -1] == EMPTY).all()
        members = zip(group.rows_R, group.sources_RS, group.targets_RT, group.lengths_R, strict=True)
        for row, source, target, length in members:
            assert row not in found
            found[row] = (source[:-1].tolist(), target[:length].tolist())
    assert found == {row: pair for row, pair in enumerate(some) if all(pair)}


@given(pairs)
@settings(max_examples=30)
def test_the_keys_seen_are_those_of_all_links_and_each_is_located(some: list[tuple[list[int], list[int]]]) -> None:
    sources, targets = (Ragged.of([pair[side] for pair in some]) for side in (0, 1))
    keys = seen(sources, targets, SIZE)
    by_hand = {s * SIZE + t for source, target in some if source for t in target for s in (*source, EMPTY)}
    assert keys.tolist() == sorted(by_hand)
    lexicon = Lexicon.even(keys, SIZE)
    for group in groups(sources, targets):
        entries = locate(group, lexicon)
        assert (entries[group.open_RT] >= 0).all() and (entries[~group.open_RT] == -1).all()


def test_a_group_has_no_more_cells_than_fit() -> None:
    rows = [[4, 5, 6]] * 1000
    many = Ragged.of(rows * (module.CELLS // (3 * 4 * 1000) + 2))
    sizes = [group.keys_RTS(SIZE).size for group in groups(many, many)]
    assert max(sizes) <= module.CELLS and len(sizes) == 2


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


def test_a_sample_is_drawn_from_all_of_the_pairs_and_what_is_never_looked_at_takes_no_room() -> None:
    rows = even_sample(*sides([(3, 3)] * 10_000), 16 * 1000)
    assert len(rows) == 1000 and 4500 < np.mean(rows) < 5500 and rows[0] < 100 and rows[-1] > 9900
    assert even_sample(*sides([(3, 3), (LONGEST + 1, 3), (2, LONGEST + 1), (3, 3)]), 32).tolist() == [0, 1, 2, 3]
