"""An update of several micro-batches is one of all their rows together."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from anaphora.batch import Batch, Ids
from anaphora.kernels.runtime import Runtime
from anaphora.models.language_model import LanguageModel, LanguageModelConfig
from anaphora.protocols import VocabularyInfo
from anaphora.training.micro_batches import MicroBatches, Updates, accumulated
from anaphora.training.ranks import ALONE
from anaphora.training.reduction import Reduction

LENGTHS = torch.tensor([5, 4, 4, 2, 1])


def rows(places: slice) -> Batch:
    ids_BT = torch.arange(30).view(5, 6) % 7 + 4
    lengths_B = LENGTHS[places]
    width = int(lengths_B.max())
    inputs, targets = (Ids(ids_BT[places, start : start + width], lengths_B) for start in (0, 1))
    return Batch(inputs, targets, torch.arange(5)[places], torch.zeros(len(lengths_B), dtype=torch.bool))


def gradients(parts: list[slice], reduction: Reduction) -> tuple[float, list[Tensor]]:
    table = {"embedding": {"size": 5}, "recurrence": {"size": 6}}
    model = LanguageModel(LanguageModelConfig.parse(table, "test"), VocabularyInfo(11, 0, 1, 2, 3)).double()
    model.initialise(4)
    update = MicroBatches(dict(enumerate(map(rows, parts))), 5, int(LENGTHS.sum()), 1.0)
    nats, _ = accumulated(model.train(), update, {}, Runtime(training=True, update=1), reduction, ALONE)
    return nats, [weight.grad for weight in model.parameters() if weight.grad is not None]


@pytest.mark.parametrize("reduction", get_args(Reduction))
def test_the_gradient_is_that_of_all_rows_in_one_batch(reduction: Reduction) -> None:
    whole, parts = gradients([slice(0, 5)], reduction), gradients([slice(0, 2), slice(2, 3), slice(3, 5)], reduction)
    assert parts[0] == pytest.approx(whole[0])
    for one, other in zip(parts[1], whole[1], strict=True):
        torch.testing.assert_close(one, other)


class Numbered:
    """An epoch of batches that are told apart by their number."""

    def __init__(self, size: int) -> None:
        self._size = size

    def epoch(self, number: int) -> list[Batch]:
        return [replace(rows(slice(0, 1)), example_ids_B=torch.tensor([place])) for place in range(self._size)]


@given(st.integers(1, 40), st.integers(1, 9))
def test_the_updates_of_an_epoch_have_each_batch_once_and_in_order(size: int, count: int) -> None:
    updates = Updates(Numbered(size), count, ALONE, Path("run"))
    _, total = updates.at(1, 0)
    each = [updates.at(1, position)[0] for position in range(total)]
    assert [int(batch.example_ids_B) for one in each for batch in one.batches.values()] == list(range(size))
    assert all(list(one.batches) == list(range(count)) for one in each[:-1])
    assert [one.predictions for one in each] == [5 * len(one.batches) for one in each]
