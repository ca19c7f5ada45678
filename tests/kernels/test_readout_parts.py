"""Maxout, and what is constant over a sentence: exact gradients, their plain readings, and nothing but the sentence."""

import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels.constant import Constant
from anaphora.kernels.maxout import Maxout
from anaphora.kernels.parts import Project
from anaphora.kernels.program import Program, stages
from anaphora.kernels.scan import advance, scan

from .exactness import assert_exact

LENGTHS = torch.tensor([2, 4, 1])
PROGRAM = Program(
    (Project("word", "x", "y", True), Constant("summary", "x", "c"), Maxout("combine", ("y", "c"), "o")), ("o",)
)


def leaves(size: int) -> list[Tensor]:
    """x, the matrix and the bias of its projection, and the vector of each sentence."""
    source = torch.Generator().manual_seed(6)
    shapes = [(4, 3, size), (2 * size, size), (2 * size,), (3, 2 * size)]
    return [torch.randn(s, generator=source, dtype=torch.float64).requires_grad_() for s in shapes]


def fast(x_TBD: Tensor, weight: Tensor, bias: Tensor, summary_BW: Tensor) -> Tensor:
    weights = {"word.weight": weight, "word.bias": bias}
    return scan(PROGRAM, {"x": x_TBD}, {}, weights, {"summary.vector": summary_BW}, LENGTHS).outputs["o"]


def slow(x_TBD: Tensor, weight: Tensor, bias: Tensor, summary_BW: Tensor) -> Tensor:
    steps = []
    for t, x_BD in enumerate(x_TBD):
        pairs = (x_BD @ weight.T + bias + summary_BW).unflatten(-1, (-1, 2))
        steps.append(torch.where((t < LENGTHS).unsqueeze(1), pairs.amax(-1), 0))
    return torch.stack(steps)


def test_nothing_of_it_waits_for_the_step_before() -> None:
    assert not any(stage.loops for stage in stages(PROGRAM))


def test_values_and_gradients_are_exact() -> None:
    assert_exact(fast, slow, leaves)


def test_padding_full_of_nan_changes_nothing() -> None:
    x_TBD, *rest = leaves(7)
    closed_TB1 = (torch.arange(4).unsqueeze(1) >= LENGTHS).unsqueeze(-1)
    spoilt = x_TBD.detach().masked_fill(closed_TB1, torch.nan).requires_grad_()
    clean, again = fast(x_TBD, *rest), fast(spoilt, *rest)
    assert_close(again, clean, rtol=0, atol=0)
    gradients = (torch.autograd.grad(o.sum(), [x, *rest]) for o, x in ((clean, x_TBD), (again, spoilt)))
    assert_close(*gradients, rtol=0, atol=0)


def test_a_step_of_many_hypotheses_has_the_bits_of_a_scan() -> None:
    x_TBD, weight, bias, summary = (leaf.detach().float() for leaf in leaves(20))
    whole = scan(
        PROGRAM, {"x": x_TBD}, {}, {"word.weight": weight, "word.bias": bias}, {"summary.vector": summary}, LENGTHS + 0
    ).outputs["o"]
    for t in range(4):
        x_KBD = x_TBD[t].expand(5, -1, -1)
        stepped = advance(
            PROGRAM, {"x": x_KBD}, {}, {"word.weight": weight, "word.bias": bias}, {"summary.vector": summary}
        )
        for row in stepped["o"]:
            assert_close(row[t < LENGTHS], whole[t][t < LENGTHS], rtol=0, atol=0)


def test_of_two_that_are_equal_the_first_has_the_gradient() -> None:
    x_TBD = torch.zeros(1, 1, 2, dtype=torch.float64, requires_grad=True)
    program = Program((Maxout("combine", ("x",), "o"),), ("o",))
    scan(program, {"x": x_TBD}, {}, {}, {}, torch.tensor([1])).outputs["o"].sum().backward()
    assert x_TBD.grad is not None
    assert x_TBD.grad.tolist() == [[[1.0, 0.0]]]
