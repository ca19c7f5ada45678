"""Every kernel that stands by itself: its gradient, its plain reading, and what is past the end of a sentence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels.cells import Gru
from anaphora.kernels.densities import MixtureShape
from anaphora.kernels.fixed_norm import FixedNorm
from anaphora.kernels.linear import linear
from anaphora.kernels.losses import class_loss, label_loss, squared_error
from anaphora.kernels.mixture import mixture_loss
from anaphora.kernels.naive.units import gru_step, normalise
from anaphora.kernels.normalisation import Normalise
from anaphora.kernels.parts import Activate, Clock, Column, Constant, Maxout, Project, Unit
from anaphora.kernels.penalties import change_penalty, doubly_stochastic, guidance, size_penalty
from anaphora.kernels.pooling import attention_pool, max_pool, mean_pool
from anaphora.kernels.program import Program
from anaphora.kernels.scan import advance, scan
from anaphora.kernels.spelling import Shape
from tests.kernels import naive
from tests.kernels.naive import values as naive_values
from tests.runtimes import updating

from .exactness import Kernel, Reading, assert_same_bits, doubles, drawn, ended, gradients, leaves_of
from .outputs.test_linear_chain import tagging
from .outputs.test_losses import OUTPUTS, Output
from .test_convolution import FOLDINGS, LENGTHS, sentences
from .test_spelling import SHAPES, readings, weights_of

LENGTHS_B = torch.tensor([2, 4, 1])


@dataclass(frozen=True)
class ProgramKernel:
    """A program that reads x, with the names of its other leaves: weights first, then what sentences keep."""

    program: Program
    weights: tuple[str, ...]
    step: Reading
    """Plain: the number of a step, its x, and the other leaves."""
    shapes: Callable[[int], list[tuple[int, ...]]]
    memory: tuple[str, ...] = ()

    def split(self, rest: Sequence[Tensor]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        count = len(self.weights)
        return dict(zip(self.weights, rest, strict=False)), dict(zip(self.memory, rest[count:], strict=True))

    def fast(self, x_TBD: Tensor, *rest: Tensor) -> Tensor:
        first = {name: x_TBD.new_zeros(3, 1) for name in self.program.carried}
        outputs = scan(self.program, {"x": x_TBD}, first, *self.split(rest), LENGTHS_B).outputs
        return outputs[self.program.returns[0]]

    def slow(self, x_TBD: Tensor, *rest: Tensor) -> Tensor:
        steps = [self.step(t, x_BD, *rest) for t, x_BD in enumerate(x_TBD)]
        return torch.stack([torch.where((t < LENGTHS_B).unsqueeze(1), y_BW, 0) for t, y_BW in enumerate(steps)])

    def leaves(self, size: int) -> list[Tensor]:
        return leaves_of(*self.shapes(size))

    def kernel(self) -> Kernel:
        return Kernel(self.fast, self.slow, self.leaves, lambda x_TBD: ended(x_TBD, LENGTHS_B))


def projected(*parts: Project | Unit | Constant | Column | Maxout | Activate | Clock, bias: bool) -> Program:
    return Program((Project("word", "x", "y", bias), *parts), ("o",))


PROGRAMS = {
    "column": ProgramKernel(
        projected(Clock(), Column("column", "clock", "c"), Activate("sum", ("y", "c"), "o"), bias=False),
        ("word.weight",),
        lambda t, x_BD, weight, columns_BCW: torch.tanh(x_BD @ weight.T + columns_BCW[:, min(t, 2)]),
        lambda size: [(4, 3, size), (size, size), (3, 3, size)],
        ("column.columns",),
    ),
    "maxout": ProgramKernel(
        projected(Constant("summary", "x", "c"), Maxout("combine", ("y", "c"), "o"), bias=True),
        ("word.weight", "word.bias"),
        lambda t, x_BD, W, b, c_BW: (x_BD @ W.T + b + c_BW).unflatten(-1, (-1, 2)).amax(-1),
        lambda size: [(4, 3, size), (2 * size, size), (2 * size,), (3, 2 * size)],
        ("summary.vector",),
    ),
    "normalised": ProgramKernel(
        Program((Normalise("norm", ("x",), "o", True),), ("o",)),
        ("norm.gain", "norm.bias"),
        lambda t, x_BW, gain_W, bias_W: normalise(x_BW, gain_W) + bias_W,
        lambda size: [(4, 3, size + 1), (size + 1,), (size + 1,)],
    ),
}


def columns() -> Kernel:
    """The program of a column for each step by its columns; those of steps that a sentence lacks are unseen."""
    kernel = PROGRAMS["column"]
    return Kernel(
        lambda columns_BCW, *rest: kernel.fast(*rest, columns_BCW),
        lambda columns_BCW, *rest: kernel.slow(*rest, columns_BCW),
        lambda size: [kernel.leaves(size)[-1], *kernel.leaves(size)[:-1]],
        lambda columns_BCW: (torch.arange(3) >= LENGTHS_B.unsqueeze(1)).unsqueeze(-1),
    )


def conditioned(cell: Gru) -> Kernel:
    """A unit that is given its sentence beside its recurrent product."""
    unit = Unit("unit", cell, ("y",), conditioned=True)
    program = Program((Project("word", "x", "y", False), unit), ("unit.h",))
    names = ["word.weight", "unit.h", *(f"unit.{name}" for name in cell.vectors)]

    def fast(x_TBD: Tensor, first_BH: Tensor, condition: Tensor, *weights: Tensor) -> Tensor:
        named, memory = dict(zip(names, weights, strict=True)), {"unit.condition": condition}
        return scan(program, {"x": x_TBD}, {"unit.h": first_BH}, named, memory, LENGTHS_B).outputs["unit.h"]

    def slow(x_TBD: Tensor, h_BH: Tensor, condition: Tensor, project: Tensor, *weights: Tensor) -> Tensor:
        named = dict(zip(("h", *cell.vectors), weights, strict=True)) | {"condition": condition}
        steps = []
        for t, x_BD in enumerate(x_TBD):
            (h_BH,) = gru_step(cell, x_BD @ project.T, (h_BH,), named)
            steps.append(torch.where((t < LENGTHS_B).unsqueeze(1), h_BH, 0))
        return torch.stack(steps)

    def leaves(size: int) -> list[Tensor]:
        gates = [(3 * size, size)] * 2
        return leaves_of((4, 3, size), (3, size), (3, 3 * size), *gates, *((size,) for _ in cell.vectors))

    return Kernel(fast, slow, leaves, lambda x_TBD: ended(x_TBD, LENGTHS_B))


def folding(name: str) -> Kernel:
    fold = FOLDINGS[name]

    def of_sentences(reading: Reading) -> Reading:
        return lambda x_SBD, *weights: reading(x_SBD, torch.tensor(LENGTHS), *weights)

    return Kernel(
        of_sentences(fold.fast),
        of_sentences(fold.slow),
        lambda size: [sentences(size)[0], *fold.weights(size)],
        lambda x_SBD: ended(x_SBD, torch.tensor(LENGTHS)),
    )


def spelling(shape: Shape) -> Kernel:
    fast, slow = readings(shape)
    return Kernel(
        fast,
        slow,
        lambda size: list(weights_of(shape, size).values()),
        lambda table_CD: torch.arange(len(table_CD)).unsqueeze(1) == 8,
    )


def lengths_of(size: int) -> Tensor:
    return torch.tensor([size, (size + 1) // 2, 1])


def pooling(fast: Reading, slow: Reading, scored: bool = False) -> Kernel:
    """``slow`` pools the annotations of one sentence, T x M."""

    def of_each(h_BTM: Tensor, *scores: Tensor) -> Tensor:
        rows = enumerate(lengths_of(h_BTM.shape[1]))
        return torch.stack(
            [slow(h_BTM[row, :length], *(s_BT[row, :length] for s_BT in scores)) for row, length in rows]
        )

    def mask(h_BTM: Tensor) -> Tensor:
        return torch.arange(h_BTM.shape[1]) < lengths_of(h_BTM.shape[1]).unsqueeze(1)

    return Kernel(
        lambda h_BTM, *scores: fast(h_BTM, *scores, mask(h_BTM)),
        of_each,
        lambda size: leaves_of((3, size + 1, 4), *([(3, size + 1)] * scored)),
        lambda h_BTM: ~mask(h_BTM).unsqueeze(-1),
        filling=1e30,
    )


def links(size: int) -> Tensor:
    """To about half of the positions of three sentences."""
    linked = (drawn(size, 3, size, seed=size) < 0).double()
    linked[0, 0, 0] = 1
    return linked / linked.sum(-1, keepdim=True).clamp_min(1)


def attention(size: int) -> list[Tensor]:
    """Numbers that stand for weights."""
    return [(0.1 + doubles(size, 3, size, seed=1).abs()).div_(size).requires_grad_()]


def vocabulary(output: Output, weighted: bool) -> Kernel:
    def words(hidden: int) -> int:
        return 7 + hidden // 3

    def targets(h_NH: Tensor) -> tuple[Tensor, Tensor]:
        return torch.arange(29) % words(h_NH.shape[1]), (1 + torch.arange(29)) / 29.0 if weighted else torch.ones(29)

    def fast(*leaves: Tensor) -> Tensor:
        y_N, w_N = targets(leaves[0])
        return output.fast(*leaves, y_N, w_N.double() if weighted else None)

    return Kernel(
        fast,
        lambda *leaves: output.naive(*leaves, *targets(leaves[0])),
        lambda size: leaves_of((29, size), *output.shapes(size, words(size))),
    )


def fixed_norm(x_RW: Tensor, first: int) -> Tensor:
    blocks = [x_RW[:, :first], x_RW[:, first:]] if first else [x_RW]
    return torch.cat([2.5 * block / (block.square().sum(1, keepdim=True) + 1e-12).sqrt() for block in blocks], 1)


def product(a_XK: Tensor, weight_NK: Tensor) -> Tensor:
    with updating(backend="torch"):
        return linear(a_XK, weight_NK)


CLASSES = torch.tensor([0, 1, 1])


def losses(weights: Tensor | None) -> dict[str, Kernel]:
    """Losses of three rows, each of which counts as often as its weight says."""
    counts = torch.ones(3, dtype=torch.float64) if weights is None else weights
    targets = partial(drawn, seed=9, dtype=torch.float64)

    def states(fast: Reading, slow: Reading) -> Kernel:
        return Kernel(
            lambda s_TBH: fast(s_TBH, lengths_of(len(s_TBH)), weights),
            lambda s_TBH: slow(s_TBH, lengths_of(len(s_TBH)), counts),
            lambda size: leaves_of((size + 1, 3, size)),
            lambda s_TBH: ended(s_TBH, lengths_of(len(s_TBH))),
        )

    def coverage(reading: Reading, w_B: Tensor | None, a_TBS: Tensor) -> Tensor:
        return reading(a_TBS, lengths_of(len(a_TBS)), lengths_of(len(a_TBS)).flip(0), w_B)

    def label_reading(z_NC: Tensor) -> Tensor:
        y_NC, p_NC = (targets(*z_NC.shape) > 0).double(), torch.sigmoid(z_NC)
        return (-counts * (y_NC * p_NC.log() + (1 - y_NC) * (1 - p_NC).log()).sum(1)).sum()

    def beside_zero(z_NC: Tensor) -> Tensor:
        return torch.cat([torch.zeros(3, 1), z_NC], 1)

    def mixture(shape: MixtureShape) -> Kernel:
        return Kernel(
            lambda p_NP: mixture_loss(p_NP, targets(3, shape.size), shape, weights),
            lambda p_NP: naive_values.mixture_loss(p_NP, targets(3, shape.size), shape, counts),
            lambda size: [doubles(3, shape.width, seed=size).requires_grad_()],
        )

    return {
        "size": states(size_penalty, naive.size_penalty),
        "change": states(change_penalty, naive.change_penalty),
        "coverage": Kernel(
            partial(coverage, doubly_stochastic, weights),
            partial(coverage, naive.doubly_stochastic, counts),
            attention,
            lambda a: ended(a, lengths_of(len(a))) | (torch.arange(len(a)) >= lengths_of(len(a)).flip(0).unsqueeze(1)),
        ),
        "labels": Kernel(
            lambda z_NC: label_loss(z_NC, (targets(*z_NC.shape) > 0).double(), weights),
            label_reading,
            lambda size: leaves_of((3, size)),
        ),
        "classes": Kernel(
            lambda z_NC: class_loss(beside_zero(z_NC), CLASSES, weights),
            lambda z_NC: -(counts * torch.log_softmax(beside_zero(z_NC), 1)[torch.arange(3), CLASSES]).sum(),
            lambda size: leaves_of((3, size)),
        ),
        "squared": Kernel(
            lambda y_ND: squared_error(y_ND, targets(*y_ND.shape), weights),
            lambda y_ND: naive_values.squared_error(y_ND, targets(*y_ND.shape), counts),
            lambda size: leaves_of((3, size)),
        ),
        "mixture-correlated": mixture(MixtureShape(3, 2, True, 0.05)),
        "mixture-diagonal": mixture(MixtureShape(3, 3, False, 0.05)),
        "mixture-of-one": mixture(MixtureShape(1, 1, False, 1e-3)),
    }


WEIGHTS = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)
KERNELS: dict[str, Kernel] = {
    **{name: program.kernel() for name, program in PROGRAMS.items()},
    "columns": columns(),
    "conditioned-keep": conditioned(Gru()),
    "conditioned-new": conditioned(Gru(update="new", recurrent_bias=True)),
    **{f"folding-{name}": folding(name) for name in FOLDINGS},
    **{f"spelling-{name}": spelling(shape) for name, shape in SHAPES.items()},
    "mean": pooling(mean_pool, lambda h_TM: h_TM.mean(0)),
    "max": pooling(max_pool, lambda h_TM: h_TM.amax(0)),
    "attention": pooling(attention_pool, lambda h_TM, s_T: torch.softmax(s_T, 0) @ h_TM, scored=True),
    "guidance": Kernel(
        lambda a_TBS: guidance(a_TBS, links(len(a_TBS))),
        lambda a_TBS: naive.guidance(a_TBS, links(len(a_TBS))),
        attention,
        lambda a_TBS: links(len(a_TBS)) == 0,
    ),
    **losses(None),
    **{f"{name}-weighted": kernel for name, kernel in losses(WEIGHTS).items()},
    **{name: vocabulary(output, False) for name, output in OUTPUTS.items()},
    **{f"{name}-weighted": vocabulary(output, True) for name, output in OUTPUTS.items()},
    "tags": tagging(None),
    "tags-weighted": tagging(WEIGHTS),
    "fixed-norm": Kernel(FixedNorm(2.5), partial(fixed_norm, first=0), lambda size: leaves_of((5, size + 1))),
    "fixed-norms": Kernel(FixedNorm(2.5, 2), partial(fixed_norm, first=2), lambda size: leaves_of((5, size + 4))),
    "product": Kernel(product, lambda a, W: a @ W.T, lambda size: leaves_of((2, size, size + 1), (size + 2, size + 1))),
}
EACH = pytest.mark.parametrize("name", KERNELS)


@EACH
def test_values_and_gradients_are_exact(name: str) -> None:
    """Against finite differences in full at size 1, in a random direction at 63; against the plain reading at all."""
    kernel = KERNELS[name]
    for size in (1, 3, 63):
        leaves = kernel.leaves(size)
        assert size == 3 or torch.autograd.gradcheck(kernel.fast, tuple(leaves), fast_mode=size > 1)
        outputs, expected = kernel.fast(*leaves), kernel.slow(*leaves)
        assert_close(outputs, expected, rtol=1e-12, atol=1e-12)
        derived = gradients(outputs, leaves)
        assert_close(derived, gradients(expected, leaves), rtol=1e-11, atol=1e-11)
        assert all(gradient.abs().sum() > 0 for gradient in derived)


@pytest.mark.parametrize("name", [name for name, kernel in KERNELS.items() if kernel.unseen])
def test_what_is_past_an_end_is_never_looked_at(name: str) -> None:
    kernel = KERNELS[name]
    seen, *rest = kernel.leaves(7)
    assert kernel.unseen
    unseen = kernel.unseen(seen).expand_as(seen)
    assert unseen.any()
    spoilt = seen.detach().masked_fill(unseen, kernel.filling).requires_grad_()
    clean, again = kernel.fast(seen, *rest), kernel.fast(spoilt, *rest)
    assert_same_bits(again, clean)
    derived = gradients(again, [spoilt, *rest])
    assert_same_bits(derived, gradients(clean, [seen, *rest]))
    assert not derived[0][unseen].any()


@EACH
def test_the_way_back_can_be_walked_twice_but_not_through_itself(name: str) -> None:
    leaves = KERNELS[name].leaves(7)
    outputs = KERNELS[name].fast(*leaves)
    once, twice = (gradients(outputs, leaves, retain_graph=True) for _ in range(2))
    assert_same_bits(once, twice)
    with pytest.raises(NotImplementedError, match="gradients of gradients are not available"):
        gradients(outputs, leaves, create_graph=True)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("size", [1, 18, 21])
def test_a_step_of_many_hypotheses_has_the_bits_of_a_scan(size: int, name: str) -> None:
    kernel = PROGRAMS[name]
    x_TBD, *rest = (leaf.detach().float() for leaf in kernel.leaves(size))
    whole, state = kernel.fast(x_TBD, *rest), {name: torch.zeros(5, 3, 1) for name in kernel.program.carried}
    for t in range(4):
        stepped = advance(kernel.program, {"x": x_TBD[t].expand(5, -1, -1)}, state, *kernel.split(rest))
        state = {name: stepped[name] for name in state}
        for row in stepped["o"]:
            assert_same_bits(row[t < LENGTHS_B], whole[t][t < LENGTHS_B])


def test_of_two_that_are_equal_the_first_has_the_gradient() -> None:
    x_TBD = torch.zeros(1, 1, 2, dtype=torch.float64, requires_grad=True)
    program = Program((Maxout("combine", ("x",), "o"),), ("o",))
    outputs = scan(program, {"x": x_TBD}, {}, {}, {}, torch.tensor([1])).outputs["o"]
    assert torch.autograd.grad(outputs.sum(), x_TBD)[0].tolist() == [[[1.0, 0.0]]]
