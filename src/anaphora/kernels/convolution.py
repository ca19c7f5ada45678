"""Convolutions over the columns of a sentence (Kalchbrenner and Blunsom 2013): folded to one vector, or unfolded again.

A kernel of i columns is laid along a sentence, each of its D rows over the same row of the positions. One that folds
makes n - i + 1 columns of n, one that unfolds n + i - 1:

    1  a_j = sum_m K_m * x_{j+m}                        m = 0 .. i - 1;  or
       a_j = sum_m J_m * x_{j-m}                        where there is an x_{j-m}
    2  y_j = tanh(a_j)

Step 1 of each is the backward pass through step 1 of the other:

    convolution   the sentence model (section 3.2): all the way to one vector
    ngrams        the n-gram model (section 4.1): as far as the columns that stand for n-grams
    unfolded      the inverse of it: from there to a column for every word of a translation

Folding applies K^2, K^3, .. to a sentence, each to the output of the one before; K^i shortens it by i - 1 columns. As
soon as the n columns that are left are no more than the next kernel is wide, L^n makes one of them. Kernels grow up to
a widest one, which is applied again and again to a sentence that is still longer. Unfolding g columns to m is folding
m - g + 1 columns to one, backwards: first H^n, then .., J^3, J^2.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from anaphora.errors import ShapeError
from anaphora.kernels.autograd_bridge import apply_derived
from anaphora.kernels.checks import check_lengths
from anaphora.kernels.convolution_plan import Plan, folding, unfolding
from anaphora.kernels.pointwise import tanh_back_

Kernels = Mapping[str, Tensor]


class Columns(NamedTuple):
    """Columns of sentences, as many as each has."""

    x_SBD: Tensor
    """Zero past the last of a sentence."""
    lengths_B: Tensor
    """int64, on the processor."""


def convolution(x_SBD: Tensor, kernels: Kernels, widest: int, lengths_B: Tensor) -> Tensor:
    """Return the one vector (B x D) that is left of each sentence.

    Raises ShapeError for lengths outside 1 .. S.

    Args:
        x_SBD: the positions; what lies past the end of a sentence is never used.
        kernels: D x i for each K^i, i = 2 .. ``widest``, as ``fold<i>``, and L^i, i = 1 .. ``widest``, as ``close<i>``.
        widest: columns of the widest kernel, at least 2.
        lengths_B: positions of each sentence, 1 to S.
    """
    sentences = columns_of(x_SBD, lengths_B)
    return _laid_along(sentences, folding(sentences.lengths_B.tolist(), widest), kernels).x_SBD[0]


def ngrams(x_SBD: Tensor, kernels: Kernels, widest: int, folds: int, lengths_B: Tensor, enough_B: Tensor) -> Columns:
    """Return the columns after the first ``folds`` kernels; a sentence with more than ``enough_B`` there is folded on.

    Args, errors: as for ``convolution``.
    """
    sentences = columns_of(x_SBD, lengths_B)
    plan = folding(sentences.lengths_B.tolist(), widest, folds, enough_B.tolist())
    return _laid_along(sentences, plan, kernels)


def unfold_columns(x_SBD: Tensor, kernels: Kernels, widest: int, lengths_B: Tensor, wanted_B: Tensor) -> Tensor:
    """Return as many columns as are wanted of each sentence (T x B x D), zero past the last.

    Raises ShapeError for lengths outside 1 .. S, or fewer columns wanted than there are.

    Args:
        x_SBD: columns to unfold; what lies past the last of a sentence is never used.
        kernels: D x i for each J^i, i = 2 .. ``widest``, as ``unfold<i>``, and H^i, i = 1 .. ``widest``, as
            ``open<i>``.
        widest: columns of the widest kernel, at least 2.
        lengths_B: columns of each sentence, 1 to S.
        wanted_B: how many it shall have, no fewer; T is the most of them.
    """
    sentences, wanted_B = columns_of(x_SBD, lengths_B), wanted_B.to("cpu")
    if bool((wanted_B < sentences.lengths_B).any()):
        raise ShapeError(f"cannot unfold {sentences.lengths_B.tolist()} columns to fewer, {wanted_B.tolist()}.")
    return _laid_along(sentences, unfolding(sentences.lengths_B.tolist(), wanted_B.tolist(), widest), kernels).x_SBD


def columns_of(x_SBD: Tensor, lengths_B: Tensor) -> Columns:
    """Return the columns of sentences; ShapeError for lengths outside 1 .. S."""
    lengths_B = lengths_B.to("cpu")  # they decide what is done, so the processor has to know them
    check_lengths(lengths_B, x_SBD.shape[0])
    return Columns(_zero_past_end(x_SBD, lengths_B), lengths_B)


def _zero_past_end(x_SBD: Tensor, lengths_B: Tensor) -> Tensor:
    """Return the columns of each sentence, and zeros after them."""
    closed_SB1 = (torch.arange(x_SBD.shape[0]).unsqueeze(1) >= lengths_B).unsqueeze(-1)
    return x_SBD.masked_fill(closed_SB1.to(x_SBD.device), 0)


def _laid_along(sentences: Columns, plan: Plan, kernels: Kernels) -> Columns:
    """Return the columns of sentences after all kernels of a plan.

    Past its columns, a sentence that was folded has numbers that mean nothing, and no other number sees them.
    """
    met = list[tuple[Tensor, Tensor]]()
    """The columns before and after each kernel."""
    last = max(plan.columns)

    def forward(recording: bool, x_SBD: Tensor, *weights: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        named = dict(zip(kernels, weights, strict=True))
        now_SBD = x_SBD.new_zeros(max(len(x_SBD), last), *x_SBD.shape[1:])
        now_SBD[: len(x_SBD)] = x_SBD
        for application in plan.applications:
            rows = list(application.rows)
            x = now_SBD[: application.columns, rows]
            y = torch.tanh((_widen if application.widens else _narrow)(x, named[application.kernel]))  # 1, 2
            if recording:
                met.append((x, y))
            now_SBD[: len(y), rows] = y
        return now_SBD[:last], (x_SBD, *weights)

    def backward(saved: Sequence[Tensor], dy_SBD: Tensor) -> tuple[Tensor, ...]:
        x_SBD, *weights = saved
        named = dict(zip(kernels, weights, strict=True))
        dnamed = {name: torch.zeros_like(kernel) for name, kernel in named.items()}
        dnow_SBD = dy_SBD.new_zeros(max(len(x_SBD), len(dy_SBD)), *dy_SBD.shape[1:])
        dnow_SBD[: len(dy_SBD)] = dy_SBD
        for application, (x, y) in zip(reversed(plan.applications), reversed(met), strict=True):
            rows, kernel = list(application.rows), named[application.kernel]
            da = tanh_back_(dnow_SBD[: len(y), rows], y)  # 2
            dnow_SBD[: len(y), rows] = 0
            dnow_SBD[: application.columns, rows] = (_narrow if application.widens else _widen)(da, kernel)  # 1
            dnamed[application.kernel] += _dkernel(da, x) if application.widens else _dkernel(x, da)
        return dnow_SBD[: len(x_SBD)], *dnamed.values()

    y_SBD = apply_derived(forward, backward, sentences.x_SBD, *kernels.values())
    lengths_B = torch.tensor(plan.columns)
    return Columns(_zero_past_end(y_SBD, lengths_B), lengths_B)


def _narrow(x: Tensor, kernel_DI: Tensor) -> Tensor:
    """sum_m K_m * x_{j+m}: columns x rows x D become fewer by the kernel's width less one."""
    columns = len(x) - kernel_DI.shape[1] + 1
    a = x[:columns] * kernel_DI[:, 0]
    for m in range(1, kernel_DI.shape[1]):
        a = torch.addcmul(a, x[m : m + columns], kernel_DI[:, m])
    return a


def _widen(x: Tensor, kernel_DI: Tensor) -> Tensor:
    """sum_m J_m * x_{j-m}: they become more by as many."""
    a = x.new_zeros(len(x) + kernel_DI.shape[1] - 1, *x.shape[1:])
    for m in range(kernel_DI.shape[1]):
        a[m : m + len(x)] += x * kernel_DI[:, m]
    return a


def _dkernel(more: Tensor, fewer: Tensor) -> Tensor:
    """The gradient of a kernel between ``more`` columns and ``fewer``: what of one met what of the other under it."""
    width = len(more) - len(fewer) + 1
    return torch.stack([(fewer * more[m : m + len(fewer)]).sum((0, 1)) for m in range(width)], 1)
