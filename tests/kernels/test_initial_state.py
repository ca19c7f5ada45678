"""The initial state: a learned vector where nothing is carried, and its derived gradient."""

import torch

from anaphora.kernels.initial_state import initial_state

CARRIED_B = torch.tensor([True, False, False])


def test_its_gradient_equals_finite_differences() -> None:
    source = torch.Generator().manual_seed(1)
    learned_H = torch.randn(4, dtype=torch.float64, generator=source).requires_grad_()
    carried_BH = torch.randn(3, 4, dtype=torch.float64, generator=source).requires_grad_()
    assert torch.autograd.gradcheck(lambda v, c: initial_state(v, c, CARRIED_B), (learned_H, carried_BH))


def test_rows_that_continue_have_their_state_and_all_others_the_learned_one() -> None:
    learned_H, carried_BH = torch.randn(4), torch.full((3, 4), torch.nan)
    carried_BH[0] = 2.0
    state_BH = initial_state(learned_H, carried_BH, CARRIED_B)
    assert state_BH[0].eq(2).all()
    assert state_BH[1:].equal(learned_H.expand(2, 4))
