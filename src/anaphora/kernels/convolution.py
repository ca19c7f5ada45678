"""The convolutional sentence model (Kalchbrenner and Blunsom 2013, section 3.2): a sentence folded to one vector.

Layer by layer, i = 2, 3, .., a kernel K^i of i columns is laid along the sentence, each of its D rows over the same row
of the positions; n columns become n - i + 1:

    1  a_j = sum_m K^i_m * x_{j+m}                      m = 0 .. i - 1
    2  y_j = tanh(a_j)

As soon as no more than i columns are left, n of them, a last kernel L^n takes them all, and one is left. The kernels
grow up to a widest one, which is laid on again where a sentence is longer than all of them reach.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.by_hand import once_differentiable, outside_autocast
from anaphora.kernels.checks import check_lengths
from anaphora.kernels.pointwise import tanh_back_


class Lay(NamedTuple):
    """One kernel laid along some of the sentences that are not folded up yet."""

    kernel: str
    """Its name: ``fold3`` is K^3, ``close3`` is L^3."""
    width: int
    columns: int
    """Columns of the longest of the sentences."""
    rows: tuple[int, ...]
    """The sentences."""


def plan(lengths: list[int], widest: int) -> list[Lay]:
    """The kernels in the order in which they are laid; every sentence ends with one that closes it."""
    lays, columns, width = list[Lay](), dict(enumerate(lengths)), min(2, widest)
    while columns:
        for left in sorted({left for left in columns.values() if left <= width}):
            closing = tuple(row for row, own in columns.items() if own == left)
            lays.append(Lay(f"close{left}", left, left, closing))
            columns = {row: own for row, own in columns.items() if row not in closing}
        if columns:
            lays.append(Lay(f"fold{width}", width, max(columns.values()), tuple(columns)))
            columns = {row: own - width + 1 for row, own in columns.items()}
            width = min(width + 1, widest)
    return lays


def convolution(x_SBD: Tensor, kernels: Mapping[str, Tensor], widest: int, lengths_B: Tensor) -> Tensor:
    """The one vector (B x D) that is left of each sentence.

    Args:
        x_SBD: the positions; what lies behind the end of a sentence is never used.
        kernels: D x i for each K^i, i = 2 .. ``widest``, as ``fold<i>``, and L^i, i = 1 .. ``widest``, as ``close<i>``.
        widest: columns of the widest kernel, at least 2.
        lengths_B: positions of each sentence, 1 to S.

    Raises:
        ShapeError: lengths outside 1 .. S.
    """
    lengths_B = lengths_B.to("cpu")  # they decide what is done, so the processor has to know them
    check_lengths(lengths_B, x_SBD.shape[0])
    closed_SB1 = (torch.arange(x_SBD.shape[0]).unsqueeze(1) >= lengths_B).unsqueeze(-1).to(x_SBD.device)
    lays = plan(lengths_B.tolist(), widest)
    top_BD: Tensor = _Fold.apply(  # type: ignore[no-untyped-call]
        torch.is_grad_enabled(), lays, tuple(kernels), x_SBD.masked_fill(closed_SB1, 0), *kernels.values()
    )
    return top_BD


class _Fold(torch.autograd.Function):
    @staticmethod
    @outside_autocast
    def forward(
        ctx: Any, recording: bool, lays: list[Lay], names: tuple[str, ...], x_SBD: Tensor, *kernels: Tensor
    ) -> Tensor:
        recording = recording and any(ctx.needs_input_grad)
        named, saved = dict(zip(names, kernels, strict=True)), list[tuple[Tensor, Tensor]]()
        top_BD, left = torch.empty_like(x_SBD[0]), x_SBD
        for lay in lays:
            x = left[: lay.columns, list(lay.rows)]
            y = _laid(x, named[lay.kernel])
            if recording:
                saved.append((x, y))
            if lay.kernel.startswith("close"):
                top_BD[list(lay.rows)] = y[0]
            else:
                left = torch.zeros_like(left[: len(y)])
                left[:, list(lay.rows)] = y
        ctx.lays, ctx.names, ctx.saved = lays, names, saved
        ctx.save_for_backward(x_SBD, *kernels)
        return top_BD

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, dtop_BD: Tensor) -> tuple[Tensor | None, ...]:
        x_SBD, *kernels = ctx.saved_tensors  # refuses kernels changed since
        named = dict(zip(ctx.names, kernels, strict=True))
        dnamed = {name: torch.zeros_like(kernel) for name, kernel in named.items()}
        dleft = torch.zeros_like(x_SBD)
        for lay, (x, y) in zip(reversed(ctx.lays), reversed(ctx.saved), strict=True):
            rows = list(lay.rows)
            dy = dtop_BD[rows].unsqueeze(0) if lay.kernel.startswith("close") else dleft[: len(y), rows]
            dx, dkernel = _laid_back(x, y, named[lay.kernel], dy)
            dnamed[lay.kernel] += dkernel
            dleft[: lay.columns, rows] = dx
        return None, None, None, dleft, *dnamed.values()


def _laid(x: Tensor, kernel_DI: Tensor) -> Tensor:
    """Steps 1 and 2: columns x rows x D become fewer by the kernel's width less one."""
    width, columns = kernel_DI.shape[1], len(x) - kernel_DI.shape[1] + 1
    a = x[:columns] * kernel_DI[:, 0]
    for m in range(1, width):
        a = torch.addcmul(a, x[m : m + columns], kernel_DI[:, m])  # 1
    return torch.tanh(a)  # 2


def _laid_back(x: Tensor, y: Tensor, kernel_DI: Tensor, dy: Tensor) -> tuple[Tensor, Tensor]:
    """Steps 2 and 1 undone: the gradients of the columns and of the kernel; ``dy`` is used up."""
    da = tanh_back_(dy, y)  # 2
    dx, dkernel_DI = torch.zeros_like(x), torch.zeros_like(kernel_DI)
    for m in range(kernel_DI.shape[1]):
        dx[m : m + len(y)] += da * kernel_DI[:, m]  # 1
        dkernel_DI[:, m] = (da * x[m : m + len(y)]).sum((0, 1))
    return dx, dkernel_DI
