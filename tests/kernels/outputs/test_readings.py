"""What single outputs promise: equal to torch where it has them, right on average where they are trained by chance."""

from itertools import pairwise

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels.outputs.adaptive import adaptive_log_probs, adaptive_loss
from anaphora.kernels.outputs.class_factored import Classes
from anaphora.kernels.outputs.noise_contrastive import noise_contrastive_loss
from anaphora.kernels.outputs.sampled import sampled_softmax_loss
from anaphora.kernels.softmax import softmax_loss

from ..exactness import doubles

P = torch.tensor([0.5, 0.2, 0.2, 0.1], dtype=torch.float64)
"""What is to be learnt, and as many chances of being drawn."""
Q = torch.tensor([0.1, 0.4, 0.3, 0.2], dtype=torch.float64)


def of_bias(*arguments: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """States and words of nothing: the bias alone decides."""
    (bias_V,) = arguments
    return torch.zeros(1, 1, dtype=torch.float64), torch.zeros(len(bias_V), 1, dtype=torch.float64), bias_V


@pytest.mark.parametrize("cutoffs", [[3, 7], [1, 2, 9]])
@pytest.mark.parametrize("bias", [True, False])
def test_the_adaptive_softmax_is_that_of_torch(cutoffs: list[int], bias: bool) -> None:
    theirs = torch.nn.AdaptiveLogSoftmaxWithLoss(16, 13, cutoffs, div_value=2.0, head_bias=bias).double()
    h, ranks = doubles(40, 16).requires_grad_(), torch.arange(40) % 13
    none = torch.empty(0, dtype=torch.float64)
    head = theirs.head.weight, theirs.head.bias if bias else none
    tails = tuple((tail[0].weight, tail[1].weight, none) for tail in theirs.tail)
    loss = adaptive_loss(h, head, tails, ranks, (*cutoffs, 13))
    expected = theirs(h, ranks).loss * 40
    assert_close(loss, expected)
    leaves = [h, *theirs.parameters()]
    for ours, other in zip(torch.autograd.grad(loss, leaves), torch.autograd.grad(expected, leaves), strict=True):
        assert_close(ours, other)
    scores = h @ head[0].T + (head[1] if bias else 0)
    log_probs = adaptive_log_probs(scores, tuple(h @ project.T @ words.T for project, words, _ in tails))
    assert_close(log_probs, theirs.log_prob(h))
    assert [len(tail[1]) for tail in tails] == [high - low for low, high in pairwise((*cutoffs, 13))]


def test_a_sample_of_every_word_is_the_full_softmax() -> None:
    h, weight, bias, targets = doubles(9, 3), doubles(7, 3), doubles(7), torch.arange(9) % 7
    every, nothing = torch.arange(7), torch.empty(0, dtype=torch.float64)
    assert_close(sampled_softmax_loss(h, weight, bias, targets, every, nothing), softmax_loss(h, weight, bias, targets))
    alike = torch.full((7,), -3.0, dtype=torch.float64)  # drawn with the same probability, whichever that is
    assert_close(sampled_softmax_loss(h, weight, bias, targets, every, alike), softmax_loss(h, weight, bias, targets))


def test_a_target_that_was_not_drawn_is_told_from_the_sample_all_the_same() -> None:
    bias, words = doubles(7), torch.tensor([1, 4])
    loss = sampled_softmax_loss(*of_bias(bias), torch.tensor([2]), words, torch.empty(0))
    assert_close(loss, softmax_loss(*of_bias(bias[[1, 4, 2]]), torch.tensor([2])))


def test_on_average_over_samples_the_sampled_loss_is_least_at_the_true_probabilities() -> None:
    bias = P.log().requires_grad_()
    mean = sum(
        P[y] * Q[v] * sampled_softmax_loss(*of_bias(bias), torch.tensor([y]), torch.tensor([v]), Q.log())
        for y in range(4)
        for v in range(4)
    )
    assert isinstance(mean, Tensor)
    assert_close(torch.autograd.grad(mean, bias)[0], torch.zeros(4, dtype=torch.float64), rtol=0, atol=1e-15)


@pytest.mark.parametrize("k", [1.0, 25.0])
def test_on_average_over_noise_the_contrastive_loss_is_least_at_the_true_probabilities(k: float) -> None:
    bias, every = P.log().requires_grad_(), torch.arange(4)
    mean = sum(
        P[y] * noise_contrastive_loss(*of_bias(bias), torch.tensor([y]), every, k * Q, (k * Q).log()) for y in range(4)
    )
    assert isinstance(mean, Tensor)
    assert_close(torch.autograd.grad(mean, bias)[0], torch.zeros(4, dtype=torch.float64), rtol=0, atol=1e-14)


def test_with_much_noise_the_contrastive_gradient_is_that_of_the_likelihood() -> None:
    bias, every, k = doubles(4).log_softmax(0).requires_grad_(), torch.arange(4), 1e8
    contrastive = noise_contrastive_loss(*of_bias(bias), torch.tensor([2]), every, k * Q, (k * Q).log())
    likelihood = softmax_loss(*of_bias(bias), torch.tensor([2]))
    (ours,), (expected,) = (torch.autograd.grad(loss, bias) for loss in (contrastive, likelihood))
    assert_close(ours, expected, rtol=1e-6, atol=1e-6)


def test_the_layout_of_classes_finds_every_word_in_its_class() -> None:
    classes = Classes.of(torch.tensor([1, 0, 2, 1, 0, 1]))
    assert classes.order_V.tolist() == [1, 4, 0, 3, 5, 2]
    assert classes.sizes == [2, 3, 1]
    assert classes.place_V.tolist() == [0, 0, 0, 1, 1, 2]
