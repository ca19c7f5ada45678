"""The expected length of a translation: the mean of what was seen, an answer for everything else."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from anaphora.nn.lengths import Lengths


def test_before_anything_was_seen_translations_are_as_long_as_their_sources() -> None:
    lengths = Lengths(9)
    assert not lengths.known
    assert lengths.expected_length(torch.tensor([1, 7, 30])).tolist() == [1, 7, 30]


@given(
    pairs=st.lists(st.tuples(st.integers(1, 12), st.integers(1, 40)), min_size=1),
    sources=st.lists(st.integers(1, 30), min_size=1),
)
def test_lengths_are_means_of_what_was_seen_and_one_more(pairs: list[tuple[int, int]], sources: list[int]) -> None:
    lengths = Lengths(9)
    lengths.set_lengths(torch.tensor([3]), torch.tensor([900]))
    lengths.set_lengths(*torch.tensor(pairs).T)
    seen = [pair for pair in pairs if pair[0] <= 9]  # longer sources are left out
    ratio = (sum(target for _, target in seen) + 1) / (sum(source for source, _ in seen) + 1)
    for source, found in zip(sources, lengths.expected_length(torch.tensor(sources)).tolist(), strict=True):
        alike = [target for one, target in seen if one == source]
        mean = (sum(alike) + ratio * source) / (len(alike) + 1)
        assert abs(found - max(1, mean)) <= 0.5 + 1e-9
        assert lengths.expected_length(torch.tensor([source])).item() == found
    assert lengths.known or not seen
