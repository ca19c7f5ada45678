"""One gate for a whole vector: exact gradients, its plain reading, and nothing but the row itself."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels.gate import Gated
from anaphora.kernels.parts import Project
from anaphora.kernels.program import Program
from anaphora.kernels.scan import advance, scan

from .exactness import assert_exact

LENGTHS = torch.tensor([2, 4, 1])
PROGRAM = Program((Project("gate", "s", "gate", True), Gated("gated", "s", "y", "gate")), ("y",))


def leaves(size: int) -> list[Tensor]:
    """s, v and b."""
    source = torch.Generator().manual_seed(6)
    shapes = [(4, 3, size), (1, size), (1,)]
    return [torch.randn(s, generator=source, dtype=torch.float64).requires_grad_() for s in shapes]


def fast(s_TBL: Tensor, v_1L: Tensor, b_1: Tensor) -> Tensor:
    return scan(PROGRAM, {"s": s_TBL}, {}, {"gate.weight": v_1L, "gate.bias": b_1}, {}, LENGTHS).outputs["y"]


def slow(s_TBL: Tensor, v_1L: Tensor, b_1: Tensor) -> Tensor:
    steps = []
    for t, s_BL in enumerate(s_TBL):
        g_B = 1 / (1 + torch.exp(-(s_BL * v_1L).sum(-1) - b_1))
        steps.append(torch.where((t < LENGTHS).unsqueeze(1), g_B.unsqueeze(1) * s_BL, 0))
    return torch.stack(steps)


def test_values_and_gradients_are_exact() -> None:
    assert_exact(fast, slow, leaves)


def test_padding_full_of_nan_changes_nothing() -> None:
    s_TBL, *rest = leaves(7)
    closed_TB1 = (torch.arange(4).unsqueeze(1) >= LENGTHS).unsqueeze(-1)
    spoilt = s_TBL.detach().masked_fill(closed_TB1, torch.nan).requires_grad_()
    clean, again = fast(s_TBL, *rest), fast(spoilt, *rest)
    assert_close(again, clean, rtol=0, atol=0)
    gradients = (torch.autograd.grad(y.sum(), [s, *rest]) for y, s in ((clean, s_TBL), (again, spoilt)))
    assert_close(*gradients, rtol=0, atol=0)


@pytest.mark.parametrize("size", [1, 18, 21])
def test_a_step_of_many_hypotheses_has_the_bits_of_a_scan(size: int) -> None:
    s_TBL, v_1L, b_1 = (leaf.detach().float() for leaf in leaves(size))
    whole = fast(s_TBL, v_1L, b_1)
    for t in range(4):
        stepped = advance(PROGRAM, {"s": s_TBL[t].expand(5, -1, -1)}, {}, {"gate.weight": v_1L, "gate.bias": b_1}, {})
        for row in stepped["y"]:
            assert_close(row[t < LENGTHS], whole[t][t < LENGTHS], rtol=0, atol=0)


@pytest.mark.parametrize(("bias", "share"), [(100.0, 1.0), (-200.0, 0.0)])
def test_a_gate_that_is_open_or_shut_lets_all_through_or_nothing(bias: float, share: float) -> None:
    s_TBL, v_1L, _ = leaves(7)
    open_TB1 = (torch.arange(4).unsqueeze(1) < LENGTHS).unsqueeze(-1)
    assert_close(fast(s_TBL, v_1L, torch.tensor([bias], dtype=torch.float64)), share * open_TB1 * s_TBL)
