"""Tables that start from given vectors: what is looked up, and what training leaves as it is."""

from copy import deepcopy

import pytest
import torch
from torch.testing import assert_close

from anaphora.nn.embedding import Embedding, EmbeddingConfig
from anaphora.nn.randomness import generator
from anaphora.nn.weights import Xavier
from anaphora.training.optimizer import NamedOptimizer
from anaphora.training.rules import Adadelta, Adam, AveragedSgd, Momentum, RmsProp, Rule, Sgd


def table(**options: object) -> Embedding:
    found = Embedding(EmbeddingConfig.parse({"size": 3, **options}, "test"), 5, "text")
    found.initialise(Xavier(), generator(1, "initialise"))
    return found


@pytest.mark.parametrize("scaled", [False, True])
def test_a_row_that_is_given_is_looked_up_as_it_was_given_and_others_stay_as_they_are_drawn(scaled: bool) -> None:
    drawn, given = table(scaled=scaled), table(scaled=scaled)
    given.take(2, [0.5, -1.0, 2.0])
    drawn.eval(), given.eval()
    assert_close(given.vectors(torch.tensor([2])), torch.tensor([[0.5, -1.0, 2.0]]))
    others = torch.tensor([0, 1, 3, 4])
    assert torch.equal(given.vectors(others), drawn.vectors(others))


@pytest.mark.parametrize(
    "rule",
    [Sgd(), Momentum(), AveragedSgd(from_epoch=1), Adadelta(), RmsProp(centered=True), Adam()],
    ids=lambda r: r.kind,
)
def test_a_frozen_row_stays_under_every_rule_and_a_drawn_one_is_trained(rule: Rule) -> None:
    frozen = table(vectors="file", frozen=True)
    frozen.take(1, [0.1, 0.2, 0.3])
    before = frozen.weight.detach().clone()
    optimizer = NamedOptimizer(rule, frozen)
    for _ in range(4):
        optimizer.clear()
        # as an output's matrix, too, where the two are tied
        (frozen.vectors(torch.tensor([[1, 2]])).sin().sum() + (frozen.weight @ torch.ones(3)).cos().sum()).backward()
        optimizer.step(0.1, 1)
    with optimizer.result():
        moved = (frozen.weight.detach() - before).abs().sum(1) > 0
    assert moved.tolist() == [True, False, True, True, True]


def test_a_copy_holds_the_rows_that_are_frozen() -> None:
    frozen = table(vectors="file", frozen=True)
    frozen.take(1, [0.1, 0.2, 0.3])
    copied = deepcopy(frozen)
    [gradient] = torch.autograd.grad(copied.vectors(torch.tensor([[1, 2]])).sin().sum(), [copied.weight])
    assert gradient.any(1).tolist() == [False, False, True, False, False]
    copied.take(3, [0.1, 0.2, 0.3])
    assert frozen.held.tolist() == [False, True, False, False, False]


def test_a_table_that_is_not_frozen_keeps_no_more_than_it_did() -> None:
    assert list(table(vectors="file").state_dict()) == ["weight"]
