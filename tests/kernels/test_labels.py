"""The loss of independent labels: what it is, and its gradient."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.errors import ShapeError
from anaphora.kernels.labels import label_loss
from tests.kernels.exactness import assert_exact


def labels(rows: int, columns: int) -> Tensor:
    return torch.randint(0, 2, (rows, columns), generator=torch.Generator().manual_seed(1)).double()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_is_minus_ln_p_of_every_label(weighted: bool) -> None:
    def leaves(size: int) -> list[Tensor]:
        source = torch.Generator().manual_seed(size)
        return [torch.randn(3, size, generator=source, dtype=torch.float64).requires_grad_()]

    weights_N = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64) if weighted else None

    def fast(z_NC: Tensor) -> Tensor:
        return label_loss(z_NC, labels(*z_NC.shape), weights_N)

    def slow(z_NC: Tensor) -> Tensor:
        y_NC, p_NC = labels(*z_NC.shape), torch.sigmoid(z_NC)
        nats_N = -(y_NC * p_NC.log() + (1 - y_NC) * (1 - p_NC).log()).sum(1)
        return (nats_N if weights_N is None else nats_N * weights_N).sum()

    assert_exact(fast, slow, leaves)


def test_scores_far_from_0_stay_finite() -> None:
    z_NC = torch.tensor([[1e4, -1e4]], requires_grad=True)
    loss = label_loss(z_NC, torch.tensor([[1.0, 1.0]]))
    loss.backward()
    assert_close(loss, torch.tensor(1e4))
    assert z_NC.grad is not None
    assert_close(z_NC.grad, torch.tensor([[0.0, -1.0]]))


def test_shapes_that_do_not_agree_are_refused() -> None:
    with pytest.raises(ShapeError, match="labels_NC has C=3"):
        label_loss(torch.zeros(2, 4), torch.zeros(2, 3))
