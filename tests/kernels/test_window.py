"""Graves' window where its exponents are larger than any number."""

import pytest
import torch
from torch.testing import assert_close

from anaphora.kernels.parts import Project
from anaphora.kernels.program import Program
from anaphora.kernels.scan import scan
from anaphora.kernels.window import LARGEST, GaussianWindow, Move


@pytest.mark.parametrize("block", [0, 1, 2], ids=["alpha", "beta", "kappa"])
@pytest.mark.parametrize("hat", [LARGEST + 1, 90.0, 1e30])
def test_an_exponent_beyond_every_number_has_an_end_and_learns_nothing(hat: float, block: int) -> None:
    program = Program(
        (Project("w", "x", "hat", False), Move("move", "hat"), GaussianWindow("window", "hat")), ("context", "weights")
    )
    x_TBX = torch.zeros(2, 1, 3)
    x_TBX[0, 0, block] = hat
    x_TBX.requires_grad_()
    values_BSM = torch.randn(1, 4, 2, generator=torch.Generator().manual_seed(1))
    memory = {"window.values": values_BSM, "window.closed": torch.zeros(1, 4, dtype=torch.bool)}
    outputs = scan(
        program, {"x": x_TBX}, {"kappa": torch.zeros(1, 1)}, {"w.weight": torch.eye(3)}, memory, torch.tensor([2])
    ).outputs
    (outputs["context"].sum() / 1e9).backward()
    assert x_TBX.grad is not None and x_TBX.grad.isfinite().all() and x_TBX.grad[0, 0, block] == 0
    assert outputs["weights"].isfinite().all()
    if block == 2:  # the window is beyond the sentence, and the next step does not bring it back
        assert_close(outputs["weights"], torch.zeros(2, 1, 4))
