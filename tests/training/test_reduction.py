"""Every reduction against a naive reading: each row's loss alone, by autograd, put together as the definition says."""

from dataclasses import replace
from typing import get_args

import pytest
import torch
from torch import Tensor

from anaphora.batch import Batch, Ids
from anaphora.models.language_model import LanguageModel, LanguageModelConfig
from anaphora.protocols import VocabularyInfo
from anaphora.training.reduction import Reduction, per_prediction, reduced, weighted

LENGTHS = (1, 7, 4)


def network() -> LanguageModel:
    penalties = {"activation_regularization": 0.7, "temporal_activation_regularization": 0.4}
    table = {"embedding": {"size": 5}, "recurrence": {"size": 6} | penalties, "output": {"label_smoothing": 0.1}}
    model = LanguageModel(LanguageModelConfig.parse(table, "test"), VocabularyInfo(11, 0, 1, 2, 3)).double()
    model.initialise(4)
    return model.train()


def rows(lengths: tuple[int, ...]) -> Batch:
    width = max(lengths)
    ids_BT = torch.stack([(torch.arange(width + 1) * (7 + length)) % 7 + 4 for length in lengths])
    given = torch.tensor(lengths)
    return Batch(
        Ids(ids_BT[:, :-1], given),
        Ids(ids_BT[:, 1:], given),
        torch.arange(len(lengths)),
        torch.zeros(len(lengths), dtype=torch.bool),
    )


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


@pytest.mark.parametrize("reduction", get_args(Reduction))
def test_a_reduction_and_its_gradients_are_those_of_its_definition(reduction: Reduction) -> None:
    model = network()
    loss, _ = model(weighted(rows(LENGTHS), reduction))
    ours = reduced(loss, len(LENGTHS), loss.count, reduction)
    theirs = naive(reduction, [model(rows((length,)))[0].minimised for length in LENGTHS])
    torch.testing.assert_close(ours, theirs)
    weights = list(model.parameters())
    for one, other in zip(torch.autograd.grad(ours, weights), torch.autograd.grad(theirs, weights), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("reduction", get_args(Reduction))
def test_people_are_told_nats_a_prediction(reduction: Reduction) -> None:
    loss, _ = network()(weighted(rows(LENGTHS), reduction))
    told: Reduction = "mean_per_sequence" if reduction == "mean_per_sequence" else "mean_per_token"
    expected = float(reduced(replace(loss, penalty=None), len(LENGTHS), loss.count, told).detach())
    assert per_prediction(float(loss.sum.detach()), len(LENGTHS), loss.count, reduction) == pytest.approx(expected)
