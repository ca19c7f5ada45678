"""Convolutions over steps, over the columns of sentences, and over the characters of words, without a gradient."""

from collections.abc import Mapping, Sequence

import numpy as np

from anaphora.inference.array_ops import sigmoid, sum_steps
from anaphora.inference.weights import affine
from anaphora.kernels.compiled.library import Array
from anaphora.kernels.convolution_plan import Plan
from anaphora.kernels.linear import linear


def windows_of(x_TBW: Array, width: int) -> Array:
    """Return every ``width`` vectors that follow each other as one."""
    steps = len(x_TBW) - width + 1
    return np.concatenate([x_TBW[place : place + steps] for place in range(width)], -1)


def weighted_windows(x_TBW: Array, scales_NW: Array) -> Array:
    """Return the sum of every N vectors that follow each other, each times its scale, number by number."""
    steps = len(x_TBW) - len(scales_NW) + 1
    return sum_steps(np.stack([x_TBW[n : n + steps] * scale_W for n, scale_W in enumerate(scales_NW)]))


def compose_words(words: Sequence[Array], weights: Mapping[str, Array], widths: int, highways: int) -> Array:
    """Return a vector for each word, given by the numbers of its characters."""
    grid_LN = np.full((max(map(len, words)) + widths - 1, len(words)), -1)
    for column, word in zip(grid_LN.T, words, strict=True):
        column[: len(word)] = word
    inside_LN1 = (grid_LN >= 0)[..., None]
    x_LNE = weights["characters.weight"][np.maximum(grid_LN, 0)] * inside_LN1
    inside_LN1, tops = inside_LN1[: len(grid_LN) - widths + 1], list[Array]()
    for width in range(1, widths + 1):
        moved = windows_of(x_LNE, width)[: len(inside_LN1)]
        a = affine(moved, weights[f"width{width}.weight"], weights[f"width{width}.bias"])  # 1
        tops.append(np.tanh(np.where(inside_LN1, a, np.float32(-np.inf)).max(0)))  # 2
    y = np.concatenate(tops, -1)
    for layer in range(highways):
        t, g = (
            affine(y, weights[f"{part}{layer}.weight"], weights[f"{part}{layer}.bias"])
            for part in ("transform", "hidden")
        )
        y = y + sigmoid(t) * (np.maximum(g, 0) - y)  # 3, 4
    return y


def fold(h: Array, fold_NH: Array, bias_C: Array) -> Array:
    """Return the parents of all neighbours: one level of a gated convolution."""
    size, p = h.shape[-1], linear(h, fold_NH)  # 1
    choices = (len(fold_NH) - 2 * size) // 2
    left, right = p[:-1], p[1:]
    a = left[..., :size] + right[..., size : 2 * size]
    g = left[..., 2 * size : 2 * size + choices] + right[..., 2 * size + choices :]
    if bias_C.size:
        a, g = a + bias_C[:size], g + bias_C[size:]
    q = np.exp(g - g.max(-1, keepdims=True))  # 3
    w = q / (q[..., 0:1] + q[..., 1:2] + q[..., 2:3])
    parents: Array = w[..., 0:1] * np.tanh(a) + w[..., 1:2] * h[:-1] + w[..., 2:3] * h[1:]  # 2, 4
    return parents


def lay_along(x_SBD: Array, plan: Plan, kernels: Mapping[str, Array]) -> Array:
    """Return the columns of rows after all kernels of a plan, zero past the last of a row."""
    last = max(plan.columns)
    now_SBD = np.pad(x_SBD, ((0, max(0, last - len(x_SBD))), (0, 0), (0, 0)))
    for application in plan.applications:
        rows, kernel_DI = list(application.rows), kernels[f"{application.kernel}.kernel"]
        x, beyond = now_SBD[: application.columns, rows], kernel_DI.shape[1] - 1
        if application.widens:  # sum_m J_m * x_{j-m} is a sum over windows from the last column of the kernel
            x, kernel_DI = np.pad(x, ((beyond, beyond), (0, 0), (0, 0))), kernel_DI[:, ::-1]
        y = np.tanh(weighted_windows(x, kernel_DI.T))
        now_SBD[: len(y), rows] = y
    return now_SBD[:last] * (np.arange(last)[:, None] < np.array(plan.columns))[..., None]
