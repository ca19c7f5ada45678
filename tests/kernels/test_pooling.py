"""Pooling and the loss of classes: derived gradients equal finite differences, and padding has no part in them."""

from typing import Any

import pytest
import torch

from anaphora.kernels.classes import class_loss
from anaphora.kernels.pooling import attention_pooled, max_pooled, mean_pooled

MASK_BT = torch.tensor([[True] * 5, [True, True, False, False, False], [True] + [False] * 4])


@pytest.mark.parametrize("pool", [mean_pooled, max_pooled])
def test_the_gradient_of_pooling_equals_finite_differences(pool: Any) -> None:
    h_BTM = torch.randn(3, 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()
    assert torch.autograd.gradcheck(lambda h: pool(h, MASK_BT), (h_BTM,))


def test_the_gradient_of_attention_pooling_equals_finite_differences() -> None:
    source = torch.Generator().manual_seed(2)
    h_BTM = torch.randn(3, 5, 4, dtype=torch.float64, generator=source).requires_grad_()
    scores_BT = torch.randn(3, 5, dtype=torch.float64, generator=source).requires_grad_()
    assert torch.autograd.gradcheck(lambda h, s: attention_pooled(h, s, MASK_BT), (h_BTM, scores_BT))


@pytest.mark.parametrize("weights", [None, torch.tensor([0.5, 2.0, 1.0])])
def test_the_gradient_of_the_loss_of_classes_equals_finite_differences(weights: torch.Tensor | None) -> None:
    scores_BC = torch.randn(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(3)).requires_grad_()
    classes_B = torch.tensor([0, 3, 1])
    assert torch.autograd.gradcheck(lambda scores: class_loss(scores, classes_B, weights), (scores_BC,))
    expected = torch.nn.functional.cross_entropy(scores_BC, classes_B, reduction="none")
    assert class_loss(scores_BC, classes_B, weights).detach().item() == pytest.approx(
        float((expected.detach() * (1 if weights is None else weights)).sum())
    )


def test_padding_never_changes_what_is_pooled() -> None:
    h_BTM, scores_BT = torch.randn(3, 5, 4), torch.randn(3, 5)
    other = torch.where(MASK_BT.unsqueeze(-1), h_BTM, 7.0)
    for pool in (mean_pooled, max_pooled, lambda h, mask: attention_pooled(h, scores_BT, mask)):
        torch.testing.assert_close(pool(h_BTM, MASK_BT), pool(other, MASK_BT), rtol=0, atol=0)
    torch.testing.assert_close(mean_pooled(h_BTM, MASK_BT)[1], h_BTM[1, :2].mean(0))
    torch.testing.assert_close(max_pooled(h_BTM, MASK_BT)[2], h_BTM[2, 0])
