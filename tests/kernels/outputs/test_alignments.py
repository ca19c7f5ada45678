"""Hard attention: the sum over all alignments by brute force, gradients by autograd through it, exact steps."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels.alignments import Alignments, filter_step, first_joint, forward_backward
from anaphora.kernels.outputs.alignments import alignment_loss
from tests.kernels.naive import outputs as naive

from ..exactness import doubles

LENGTHS_B, POSITIONS_B = torch.tensor([3, 1, 2]), torch.tensor([3, 4, 1])
CLOSED_BS = torch.arange(4) >= POSITIONS_B.unsqueeze(1)
KINDS = pytest.mark.parametrize(
    "alignments",
    [Alignments(scale, jumps, monotonic) for jumps in (0, 1, 5) for monotonic, scale in ((True, 1.0), (False, 0.5))],
    ids=str,
)


def leaves(alignments: Alignments) -> list[Tensor]:
    size = (alignments.jumps + 1 if alignments.monotonic else 2 * alignments.jumps + 1) if alignments.jumps else 0
    shapes = (3, 3, 4), (3, 3, 4), (3, 3, size)
    return [doubles(*shape, seed=seed).requires_grad_() for seed, shape in enumerate(shapes)]


def every(alignments: Alignments, given: list[Tensor], row: int) -> dict[tuple[int, ...], Tensor]:
    """p of each alignment of a row, with its output."""
    steps, positions = int(LENGTHS_B[row]), int(POSITIONS_B[row])
    emissions_TS, scores_TS = (block[:steps, row, :positions] for block in given[:2])
    jumps_TJ = given[2][:steps, row] if alignments.jumps else None
    return naive.hard_alignments(emissions_TS, alignments.scale * scores_TS, jumps_TJ, alignments.monotonic)


@KINDS
@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_and_its_gradients_are_those_of_all_alignments(alignments: Alignments, weighted: bool) -> None:
    given = leaves(alignments)
    weights_B = torch.tensor([0.5, 2.0, 1.0], dtype=torch.float64)
    fast = alignment_loss(alignments, *given, CLOSED_BS, LENGTHS_B, weights_B if weighted else None)
    rows = [-torch.log(sum(every(alignments, given, row).values(), torch.zeros(()))) for row in range(3)]
    slow = (torch.stack(rows) * (weights_B if weighted else 1)).sum()
    assert_close(fast, slow)
    wanted = given if alignments.jumps else given[:2]
    assert_close(torch.autograd.grad(fast, wanted), torch.autograd.grad(slow, wanted))


@KINDS
def test_steps_and_posteriors_are_those_of_all_alignments(alignments: Alignments) -> None:
    """Words from left to right have the probabilities of the whole; positions those of the alignments they are in."""
    words, steps = 5, 3
    given = [leaf.detach() for leaf in leaves(alignments)]
    o_TSV = torch.log_softmax(doubles(steps, 4, words, seed=8), 2)
    target_T = np.array([2, 0, 4])
    given[0][:, 0] = o_TSV[range(steps), :, target_T]
    jumps = given[2].numpy() if alignments.jumps else None
    q_TBSS = alignments.transitions(given[1].numpy(), jumps, CLOSED_BS.numpy())
    joint, total, before = first_joint(4, words, 1), 0.0, np.array([1])
    for t in range(steps):
        log_probs, weights, joint = filter_step(joint, before, q_TBSS[t, :1], o_TSV[t : t + 1].numpy())
        assert np.exp(log_probs).sum() == pytest.approx(1, rel=1e-6) and weights.sum() == pytest.approx(1, rel=1e-6)
        total, before = total + log_probs[0, target_T[t]], target_T[t : t + 1]
    found = every(alignments, given, 0)
    whole = sum(found.values(), torch.zeros(()))
    assert total == pytest.approx(float(whole.log()), rel=1e-5)
    closed_o_TBS = np.where(CLOSED_BS, -np.inf, given[0].numpy())
    _, gamma_TBS, _ = forward_backward(closed_o_TBS, q_TBSS, LENGTHS_B.numpy())
    for t in range(steps):
        for j in range(3):
            share = sum(float(p) for alignment, p in found.items() if alignment[t] == j) / float(whole)
            assert gamma_TBS[t, 0, j] == pytest.approx(share, abs=1e-9)


def test_padding_changes_no_bits() -> None:
    alignments = Alignments(1.0, 5, True)
    given = [leaf.detach() for leaf in leaves(alignments)]
    others = [leaf.clone() for leaf in given]
    for block in others[:2]:
        block[1:, 1], block[:, 2, 1:], block[2:, 2] = 1e3, -1e3, 7.0
    results: list[Any] = []
    for blocks in given, others:
        wanted = [block.requires_grad_() for block in blocks]
        loss = alignment_loss(alignments, *wanted, CLOSED_BS, LENGTHS_B)
        results.append((loss, *torch.autograd.grad(loss, wanted)))
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)
    assert not results[0][1][1:, 1].any()


def test_emissions_that_no_single_number_holds_leave_a_finite_loss() -> None:
    given = leaves(Alignments(1.0, 0, True))
    far = (given[0].detach() * 300 - 2000).requires_grad_()
    loss = alignment_loss(Alignments(1.0, 0, True), far, *given[1:], CLOSED_BS, LENGTHS_B)
    gradients = torch.autograd.grad(loss, [far, given[1]])
    assert torch.isfinite(loss) and all(torch.isfinite(gradient).all() for gradient in gradients)
