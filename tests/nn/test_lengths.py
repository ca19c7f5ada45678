"""The expected length of a translation: the mean of what was seen, an answer for everything else."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from anaphora.nn.lengths import Lengths


def observed(pairs: list[tuple[int, int]], longest: int = 9) -> Lengths:
    lengths = Lengths(longest)
    lengths.set_lengths(*torch.tensor(pairs).T)
    return lengths


def test_a_length_that_was_often_seen_has_its_mean() -> None:
    assert observed([(3, 5), (3, 7)] * 500 + [(4, 4)]).expected_length(torch.tensor([3])).tolist() == [6]


def test_a_length_that_was_never_seen_has_the_ratio_of_all_others() -> None:
    lengths = observed([(2, 4), (6, 12)] * 100)
    assert lengths.expected_length(torch.tensor([4, 50])).tolist() == [8, 100]


def test_as_long_a_source_as_is_told_apart_counts_and_longer_ones_do_not() -> None:
    lengths = observed([(9, 18)] * 100 + [(10, 10)] * 10_000)
    assert lengths.expected_length(torch.tensor([9, 10])).tolist() == [18, 20]


def test_before_anything_was_seen_translations_are_as_long_as_their_sources() -> None:
    lengths = Lengths(9)
    assert not lengths.known
    assert lengths.expected_length(torch.tensor([1, 7, 30])).tolist() == [1, 7, 30]


def test_what_is_observed_again_takes_the_place_of_what_was() -> None:
    lengths = observed([(3, 9)] * 5)
    lengths.set_lengths(torch.tensor([3]), torch.tensor([3]))
    assert lengths.known
    assert lengths.expected_length(torch.tensor([3])).tolist() == [3]


@given(
    pairs=st.lists(st.tuples(st.integers(1, 12), st.integers(1, 40)), min_size=1),
    sources=st.lists(st.integers(1, 30), min_size=1),
)
def test_every_translation_is_expected_to_have_a_unit_whatever_its_neighbours(
    pairs: list[tuple[int, int]], sources: list[int]
) -> None:
    lengths = observed(pairs)
    together = lengths.expected_length(torch.tensor(sources)).tolist()
    assert min(together) >= 1
    assert together == [lengths.expected_length(torch.tensor([source])).item() for source in sources]
