"""Counts of a training text: kept with the weights, and laid out again whenever they change."""

from copy import deepcopy

import torch
from torch import Tensor

from anaphora.nn.counts import Counts, by_frequency, ranks
from anaphora.run.weights import tensors_of


def test_equally_frequent_units_are_ranked_by_their_ids() -> None:
    masses = torch.tensor([1, 7, 3, 7, 1])
    assert by_frequency(masses).tolist() == [1, 3, 2, 0, 4]
    assert ranks(masses).tolist() == [3, 0, 2, 1, 4]


def test_what_is_derived_is_made_once_and_anew_when_other_counts_are_filled_in() -> None:
    made: list[list[int]] = []

    def make(counts_V: Tensor) -> int:
        made.append(counts_V.tolist())
        return len(made)

    counts = Counts(3)
    assert not counts.known
    assert (counts.derive(make), counts.derive(make)) == (1, 1)
    counts.set_token_counts(torch.tensor([4, 0, 2]))
    assert counts.known
    assert (counts.derive(make), counts.derive(make)) == (2, 2)
    tensors_of(counts)["observed"].copy_(torch.tensor([1, 1, 1]))  # as a checkpoint is filled in
    assert counts.derive(make) == 3
    assert made == [[1, 1, 1], [5, 1, 3], [2, 2, 2]]


def test_what_is_derived_lies_where_the_counts_do() -> None:
    counts = Counts(3)
    assert counts.derive(lambda counts_V: counts_V.device) == torch.device("cpu")
    assert deepcopy(counts).to("meta").derive(lambda counts_V: counts_V.device) == torch.device("meta")


def test_what_is_derived_while_searching_can_be_used_in_training() -> None:
    counts = Counts(3)
    with torch.inference_mode():
        derived = counts.derive(lambda counts_V: counts_V.double())
    assert not derived.is_inference()


def test_units_that_came_later_are_known_as_such_and_count_as_never_seen() -> None:
    counts = Counts(4)
    counts.set_token_counts(torch.tensor([4, 0, 0, 0]))
    assert not counts.later.any()
    counts.append(2)
    assert counts.later.tolist() == [False, False, True, True]
    assert counts.derive(lambda counts_V: counts_V.tolist()) == [5, 1, 1, 1]
