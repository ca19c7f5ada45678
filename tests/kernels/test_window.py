"""Graves' window where its exponents are larger than any number."""

import pytest
import torch

from anaphora.kernels.parts import Add, Project, previous
from anaphora.kernels.program import Program
from anaphora.kernels.runtime import Kernels, Runtime, running
from anaphora.kernels.scan import scan
from anaphora.kernels.window import LARGEST, GaussianWindow, Move

# what comes back from the context, multiplied by 0, makes all of it one loop
PROGRAM = Program(
    (
        Project("w", "x", "of_x", False),
        Project("back", previous("context"), "of_context", False),
        Add("add", ("of_x", "of_context"), "hat"),
        Move("move", "hat"),
        GaussianWindow("window", "hat"),
    ),
    ("context", "weights"),
)


@pytest.mark.parametrize("kernels", ["native", "python"])
@pytest.mark.parametrize("block", [0, 1, 2], ids=["alpha", "beta", "kappa"])
@pytest.mark.parametrize("hat", [LARGEST + 1, 90.0, 1e30])
def test_an_exponent_beyond_all_numbers_has_an_end_and_learns_nothing(hat: float, block: int, kernels: Kernels) -> None:
    x_TBX = torch.zeros(2, 1, 3)
    x_TBX[0, 0, block] = hat
    x_TBX.requires_grad_()
    weights = {"w.weight": torch.eye(3), "back.weight": torch.zeros(3, 2)}
    memory = {
        "window.values": torch.randn(1, 4, 2, generator=torch.Generator().manual_seed(1)),
        "window.closed": torch.zeros(1, 4, dtype=torch.bool),
        "window.length": torch.tensor([[4]]),
    }
    first = {"kappa": torch.zeros(1, 1), "context": torch.zeros(1, 2)}
    with running(Runtime(backend="gemm", training=True, kernels=kernels)):
        outputs = scan(PROGRAM, {"x": x_TBX}, first, weights, memory, torch.tensor([2])).outputs
    (outputs["context"].sum() / 1e9).backward()
    assert x_TBX.grad is not None and x_TBX.grad.isfinite().all() and x_TBX.grad[0, 0, block] == 0
    assert outputs["weights"].isfinite().all()
    if block == 2:  # the window is beyond the sentence, and the next step does not bring it back
        assert torch.equal(outputs["weights"], torch.zeros(2, 1, 4))
