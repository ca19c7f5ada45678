"""Copying: the mixture of the paper, gradients through it, and words that nothing points to."""

import numpy as np
import torch
from torch.testing import assert_close

from anaphora.kernels.log_probs import Attended, with_copies
from anaphora.kernels.outputs.pointer_generator import pointer_generator_loss
from anaphora.kernels.softmax import target_log_probs
from tests.kernels.naive import outputs as naive
from tests.kernels.naive.losses import softmax

from ..exactness import doubles

SOURCE_NS = torch.tensor([[2, 4, 2, 1], [3, 3, 0, 0], [1, 2, 4, 3]])
TARGETS_N, WEIGHTS_N = torch.tensor([2, 3, 0]), torch.tensor([1.0, 0.5, 2.0], dtype=torch.float64)


def test_the_mixture_and_its_gradients_are_those_of_the_paper() -> None:
    h, W, b = doubles(3, 4), doubles(5, 4, seed=1), doubles(5, seed=2)
    u, e = doubles(3, seed=3), doubles(3, 4, seed=4)
    leaves = [leaf.requires_grad_() for leaf in (h, W, b, u, e)]
    a = torch.softmax(e, 1)
    log_probs_N = target_log_probs(h, W, b, TARGETS_N)
    fast = pointer_generator_loss(log_probs_N, Attended(u[:, None], a, SOURCE_NS), TARGETS_N, WEIGHTS_N)
    p_NV = torch.stack(
        [naive.pointer_generator(softmax(W @ h[n] + b), u[n], a[n], SOURCE_NS[n].tolist()) for n in range(3)]
    )
    slow = -(WEIGHTS_N * p_NV[range(3), TARGETS_N].log()).sum()
    assert_close(fast, slow)
    assert_close(torch.autograd.grad(fast, leaves, retain_graph=True), torch.autograd.grad(slow, leaves))
    log_probs_NV = torch.log_softmax(h @ W.T + b, 1).detach().numpy()
    found = with_copies(log_probs_NV, Attended(u[:, None], a, SOURCE_NS))
    assert_close(torch.from_numpy(found), p_NV.log().detach())


def test_a_word_that_attention_cannot_point_to_has_finite_gradients() -> None:
    leaves = torch.tensor([-200.0, -1.0]), torch.tensor([[-90.0], [3.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    log_probs_N, *seen = wanted = [leaf.requires_grad_() for leaf in leaves]
    attended = Attended(*seen, torch.tensor([[1, 2], [1, 2]]))
    loss = pointer_generator_loss(log_probs_N, attended, torch.tensor([2, 1]))
    assert torch.isfinite(loss)
    assert all(torch.isfinite(gradient).all() for gradient in torch.autograd.grad(loss, wanted))


def test_rows_of_a_sentence_share_its_source_whatever_stands_past_its_end() -> None:
    log_probs_NV = np.log(np.full((4, 5), 0.2, np.float32))
    gates_N1, weights_NS = np.zeros((4, 1), np.float32), np.tile(np.float32([0.25, 0.75, 0]), (4, 1))
    found = [
        with_copies(log_probs_NV, Attended(gates_N1, weights_NS, np.array([[1, 2, end], [3, 3, end]])))
        for end in (0, 4)
    ]
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(np.exp(found[0][2]), [0.1, 0.1, 0.1, 0.6, 0.1], rtol=1e-6)
