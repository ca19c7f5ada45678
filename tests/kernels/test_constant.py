"""A column for every step: exact gradients, the plain reading, and the last column going on."""

import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels.clock import Clock
from anaphora.kernels.constant import Column
from anaphora.kernels.parts import Project
from anaphora.kernels.program import Program, stages
from anaphora.kernels.scan import advance, scan
from anaphora.kernels.sums import Activate

from .exactness import assert_exact

LENGTHS = torch.tensor([2, 4, 1])
PROGRAM = Program(
    (Clock(), Project("word", "x", "y", False), Column("column", "clock", "c"), Activate("sum", ("y", "c"), "o")),
    ("o",),
)


def leaves(size: int) -> list[Tensor]:
    """x, the matrix of its projection, and three columns for each sentence."""
    source = torch.Generator().manual_seed(6)
    shapes = [(4, 3, size), (size, size), (3, 3, size)]
    return [torch.randn(s, generator=source, dtype=torch.float64).requires_grad_() for s in shapes]


def fast(x_TBD: Tensor, weight: Tensor, columns_BCW: Tensor) -> Tensor:
    first, memory = {"clock": x_TBD.new_zeros(3, 1)}, {"column.columns": columns_BCW}
    return scan(PROGRAM, {"x": x_TBD}, first, {"word.weight": weight}, memory, LENGTHS).outputs["o"]


def slow(x_TBD: Tensor, weight: Tensor, columns_BCW: Tensor) -> Tensor:
    steps = []
    for t, x_BD in enumerate(x_TBD):
        o_BW = torch.tanh(x_BD @ weight.T + columns_BCW[:, min(t, 2)])
        steps.append(torch.where((t < LENGTHS).unsqueeze(1), o_BW, 0))
    return torch.stack(steps)


def test_nothing_but_the_clock_waits_for_the_step_before() -> None:
    assert [stage.parts for stage in stages(PROGRAM) if stage.loops] == [(Clock(),)]


def test_values_and_gradients_are_exact() -> None:
    assert_exact(fast, slow, leaves)


def test_columns_of_steps_that_a_sentence_does_not_have_change_nothing() -> None:
    x_TBD, weight, columns_BCW = leaves(7)
    unseen_BC1 = (torch.arange(3) >= LENGTHS.unsqueeze(1)).unsqueeze(-1)
    spoilt = columns_BCW.detach().masked_fill(unseen_BC1, torch.nan).requires_grad_()
    clean, again = fast(x_TBD, weight, columns_BCW), fast(x_TBD, weight, spoilt)
    assert_close(again, clean, rtol=0, atol=0)
    gradients = (torch.autograd.grad(o.sum(), [x_TBD, weight, c]) for o, c in ((clean, columns_BCW), (again, spoilt)))
    assert_close(*gradients, rtol=0, atol=0)


def test_a_step_of_many_hypotheses_has_the_bits_of_a_scan() -> None:
    x_TBD, weight, columns_BCW = (leaf.detach().float() for leaf in leaves(20))
    whole = fast(x_TBD, weight, columns_BCW)
    state = {"clock": torch.zeros(5, 3, 1)}
    for t in range(4):
        x_KBD = x_TBD[t].expand(5, -1, -1)
        stepped = advance(PROGRAM, {"x": x_KBD}, state, {"word.weight": weight}, {"column.columns": columns_BCW})
        state = {"clock": stepped["clock"]}
        for row in stepped["o"]:
            assert_close(row[t < LENGTHS], whole[t][t < LENGTHS], rtol=0, atol=0)
