import json
import math

import pytest
import torch

from anaphora.training.averaging import IterateAverage
from anaphora.training.rules import AveragedSgd


def walked(average: IterateAverage, weight: torch.Tensor, epochs: list[int]) -> list[torch.Tensor]:
    """The weights after updates of these epochs."""
    seen = []
    for epoch in epochs:
        weight += float(len(seen) + 1)
        average.stepped(epoch)
        seen.append(weight.clone())
    return seen


def test_the_average_is_the_mean_of_all_weights_since_its_epoch_began() -> None:
    weight = torch.zeros(3, dtype=torch.float64)
    average = IterateAverage(AveragedSgd(from_epoch=2), {"w": weight})
    seen = walked(average, weight, [1, 1, 2, 2, 3])
    with average.swapped():
        torch.testing.assert_close(weight, torch.stack(seen[2:]).mean(0))
        assert torch.equal(average.tensors()["iterate/w"], seen[-1])
    assert torch.equal(weight, seen[-1])


def test_before_averaging_begins_the_result_is_the_weights_themselves() -> None:
    weight = torch.zeros(3)
    average = IterateAverage(AveragedSgd(), {"w": weight})
    walked(average, weight, [1, 9])
    with average.swapped():
        assert weight.tolist() == [3, 3, 3] and average.tensors() == {}


@pytest.mark.parametrize(
    ("costs", "interval", "starts_after"),
    [
        ([5, 4, 3, 2, 1], 2, None),  # always better
        ([5, 4, 4.5, 4.6, 4.7], 2, 5),  # 4.7 is worse than the best of 5 and 4
        ([5, 4, 4.5, 3.9, 4.1], 1, 5),
        ([5, 4, 4, 4, 4, 4], 1, None),  # as good is not worse
        ([5, math.nan, 4, math.inf], 1, 4),
    ],
)
def test_averaging_starts_when_validation_is_worse_than_the_best_before_the_interval(
    costs: list[float], interval: int, starts_after: int | None
) -> None:
    average = IterateAverage(AveragedSgd(interval=interval), {"w": torch.zeros(1)})
    started = []
    for cost in costs:
        average.validated(cost)
        started.append(average.numbers()["triggered"])
    assert started.index(True) + 1 == starts_after if starts_after else not any(started)


def test_a_restored_average_goes_on_to_the_same_bits() -> None:
    whole, part = torch.zeros(3), torch.zeros(3)
    first = IterateAverage(AveragedSgd(from_epoch=1), {"w": whole})
    walked(first, whole, [1, 1])
    with first.swapped():
        tensors = {name: tensor.clone() for name, tensor in first.tensors().items()}
        part.copy_(whole)
    second = IterateAverage(AveragedSgd(from_epoch=1), {"w": part})
    assert second.restore(tensors | {"step/w": torch.ones(1)}, json.loads(json.dumps(first.numbers()))) == {
        "step/w": torch.ones(1)
    }
    assert torch.equal(whole, part)
    for average, weight in ((first, whole), (second, part)):
        walked(average, weight, [2, 2])
    with first.swapped(), second.swapped():
        assert torch.equal(whole, part)
