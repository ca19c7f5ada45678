"""Every reduction against each row's loss alone, and an update of several micro-batches against one of all rows."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from anaphora.batch import Batch, Ids
from anaphora.kernels.runtime import Runtime
from anaphora.models.language_model import LanguageModel, LanguageModelConfig
from anaphora.protocols import VocabularyInfo
from anaphora.training.micro_batches import MicroBatches, Updates, accumulate
from anaphora.training.ranks import ALONE
from anaphora.training.reduction import Reduction, per_prediction, reduce_loss, weight_rows

LENGTHS = (5, 4, 4, 2, 1)
EVERY = pytest.mark.parametrize("reduction", get_args(Reduction))


def network() -> LanguageModel:
    penalties = {"activation_regularization": 0.7, "temporal_activation_regularization": 0.4}
    table = {"embedding": {"size": 5}, "recurrence": {"size": 6} | penalties, "output": {"label_smoothing": 0.1}}
    model = LanguageModel(LanguageModelConfig.parse(table, "test"), VocabularyInfo(11, 0, 1, 2, 3)).double()
    model.initialise(4)
    return model.train()


def rows(places: slice) -> Batch:
    ids_BT = np.arange(30).reshape(5, 6) % 7 + 4
    lengths_B = np.array(LENGTHS[places])
    width = int(lengths_B.max())
    inputs, targets = (Ids(ids_BT[places, start : start + width], lengths_B) for start in (0, 1))
    return Batch(inputs, targets, np.arange(5)[places], np.zeros(len(lengths_B), np.bool_))


def naive(reduction: Reduction, costs: list[Tensor]) -> Tensor:
    """``costs`` are the summed losses of the rows."""
    match reduction:
        case "sum":
            return torch.stack(costs).sum()
        case "sum_per_sentence":
            return torch.stack(costs).mean()
        case "mean_per_sequence":
            return torch.stack([cost / length for cost, length in zip(costs, LENGTHS, strict=True)]).mean()
        case "mean_per_token":
            return torch.stack(costs).sum() / sum(LENGTHS)


@EVERY
def test_people_are_told_nats_a_prediction(reduction: Reduction) -> None:
    loss, _ = network()(weight_rows(rows(slice(5)), reduction))
    told: Reduction = "mean_per_sequence" if reduction == "mean_per_sequence" else "mean_per_token"
    expected = float(reduce_loss(replace(loss, penalty=None), len(LENGTHS), loss.count, told).detach())
    assert per_prediction(float(loss.sum.detach()), len(LENGTHS), loss.count, reduction) == pytest.approx(expected)


@EVERY
def test_an_update_of_any_micro_batches_has_the_gradient_of_the_definition(reduction: Reduction) -> None:
    whole = network()
    weights, costs = list(whole.parameters()), [whole(rows(slice(n, n + 1)))[0].minimised for n in range(5)]
    expected = torch.autograd.grad(naive(reduction, costs), weights)
    sums = []
    for places in [slice(0, 5)], [slice(0, 2), slice(2, 3), slice(3, 5)]:
        model = network()
        update = MicroBatches(dict(enumerate(map(rows, places))), 5, sum(LENGTHS), 1.0)
        nats, _ = accumulate(model, update, {}, Runtime(training=True, update=1), reduction, ALONE)
        sums.append(nats)
        for weight, gradient in zip(model.parameters(), expected, strict=True):
            torch.testing.assert_close(weight.grad, gradient)
    assert sums[0] == pytest.approx(sums[1])


class Numbered:
    """An epoch of batches that are told apart by their number."""

    def __init__(self, size: int) -> None:
        self._size = size

    def epoch(self, number: int) -> list[Batch]:
        return [replace(rows(slice(1)), example_ids_B=np.array([place])) for place in range(self._size)]


@given(st.integers(1, 40), st.integers(1, 9))
def test_the_updates_of_an_epoch_have_each_batch_once_and_in_order(size: int, count: int) -> None:
    updates = Updates(Numbered(size), count, ALONE, Path("run"))
    _, total = updates.at(1, 0)
    each = [updates.at(1, position)[0] for position in range(total)]
    assert [int(batch.example_ids_B[0]) for one in each for batch in one.batches.values()] == list(range(size))
    assert all(list(one.batches) == list(range(count)) for one in each[:-1])
    assert [one.predictions for one in each] == [5 * len(one.batches) for one in each]
