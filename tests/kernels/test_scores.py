"""Every score by pencil, the width by which it scales, and what it refuses; proofs: ``tests/nn/test_attention.py``."""

from typing import Any

import pytest
import torch
from torch.testing import assert_close

from anaphora.errors import ConfigError
from anaphora.kernels.scores import Concat, Dot, General, Hybrid, Location, Score
from tests.kernels.naive import attention as naive_attention


@pytest.mark.parametrize(
    ("score", "width"),
    [(Dot(), 6), (General(), 6), (Location(), 6), (Concat(), 5), (Hybrid(), 5)],
    ids=lambda value: getattr(value, "kind", value),
)
def test_the_width_that_scaling_goes_by_is_the_one_summed_over(score: Score, width: int) -> None:
    assert score.width(query=6, hidden=5) == width


def test_dot_refuses_a_query_and_a_memory_of_different_widths() -> None:
    with pytest.raises(ConfigError, match=r"the annotations, 8, not 6: set decoder\.size = 8, or .*general"):
        Dot().weights(query=6, memory=8, hidden=5)


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (Dot(), [2.0, -3.0]),
        # W hs = (1, 0) and (3, 6)
        (General(), [2.0, 0.0]),
        # tanh(h + W hs) = tanh(3, -1) and tanh(5, 5)
        (Concat(), [0.9950548 - 7.6159416, 0.9999092 + 9.999092]),
        # with half of the coverage, which is (0.5, 2), on the second: tanh(3, -0.75) and tanh(5, 6)
        (Concat(coverage=True), [0.9950548 - 6.3514895, 0.9999092 + 9.9998771]),
        # the first two places of W h = (1, -2, ..)
        (Location(), [1.0, -2.0]),
        # of the weights (0.25, 0.75) the filter sees what is to the left twice and what is to the right three times,
        # 2.25 and 0.5, and the second number of the layer gets it: tanh(3, 1.25) and tanh(5, 5.5)
        (Hybrid(filters=1, radius=1), [0.9950548 + 8.4828364, 0.9999092 + 9.999666]),
        # tanh(2, 1.25) and tanh(2, -0.5)
        (Hybrid(filters=1, radius=1, content=False), [0.9640276 + 8.4828364, 0.9640276 - 4.6211716]),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_a_score_by_pencil(score: Any, expected: list[float]) -> None:
    query, memory = torch.tensor([[2.0, -1.0]]), torch.tensor([[[1.0, 0.0], [0.0, 3.0]]])
    weights = {
        "query": torch.eye(2),
        "memory": torch.tensor([[1.0, 1.0], [0.0, 2.0]]),
        "v": torch.tensor([[1.0, 10.0]]),
        "coverage": torch.tensor([0.0, 0.5]),
        "places": torch.tensor([[0.5, 0.0], [0.0, 2.0], [7.0, 7.0]]),
        "filters": torch.tensor([[2.0, 0.0, 3.0]]),
        "location": torch.tensor([[0.0], [1.0]]),
        "bias": torch.zeros(2),
    }
    carried = {"coverage": torch.tensor([[0.5, 2.0]]), "weights": torch.tensor([[0.25, 0.75]])}
    found = naive_attention.SCORES[type(score)](score, query, memory, weights, carried)
    assert_close(found, torch.tensor([expected]))
