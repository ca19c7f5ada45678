import math

import pytest
import torch

from anaphora.training.averaging import IterateAverage, MovingAverage, WeightAverage
from anaphora.training.rules import AveragedSgd


def walked(average: WeightAverage, weight: torch.Tensor, epochs: list[int]) -> list[torch.Tensor]:
    """The weights after updates of these epochs."""
    seen = []
    for epoch in epochs:
        weight += float(len(seen) + 1)
        average.step(epoch)
        seen.append(weight.clone())
    return seen


def test_the_average_is_the_mean_of_all_weights_since_its_epoch_began() -> None:
    weight = torch.zeros(3, dtype=torch.float64)
    average = IterateAverage(AveragedSgd(from_epoch=2), {"w": weight})
    seen = walked(average, weight, [1, 1, 2, 2, 3])
    with average.swap_in():
        torch.testing.assert_close(weight, torch.stack(seen[2:]).mean(0))
        assert torch.equal(average.tensors()["iterate/w"], seen[-1])
    assert torch.equal(weight, seen[-1])


def test_before_averaging_begins_the_result_is_the_weights_themselves() -> None:
    weight = torch.zeros(3)
    average = IterateAverage(AveragedSgd(), {"w": weight})
    walked(average, weight, [1, 9])
    with average.swap_in():
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
        average.observe_validation(cost)
        started.append(average.numbers()["triggered"])
    assert started.index(True) + 1 == starts_after if starts_after else not any(started)


def test_a_moving_average_forgets_by_its_decay_and_faster_as_long_as_there_is_little_to_average() -> None:
    weight = torch.zeros(3, dtype=torch.float64)
    average = MovingAverage(0.5, {"w": weight})
    seen = walked(average, weight, [1] * 20)
    shares = [1.0] + [9 / (k + 9) for k in range(2, 10)] + [0.5] * 11  # 9 / 18 is 1 - 0.5
    expected = torch.zeros(3, dtype=torch.float64)
    for share, now in zip(shares, seen, strict=True):
        expected = (1 - share) * expected + share * now
    with average.swap_in():
        torch.testing.assert_close(weight, expected)
    assert torch.equal(weight, seen[-1])
