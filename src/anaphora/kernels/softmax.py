"""Projection, softmax and cross-entropy in one pass: the loss and its gradients without ever keeping N x V.

For each row n with hidden state h, target y, and label smoothing e (Szegedy et al. 2016; 0 for the plain loss):

    1  z  = W h + b
    2  q  = exp(z - max z),  s = sum q                     softmax(z) = q / s
    3  L  = log s + max z - (1 - e) z_y - e mean(z)
    3' dz = q / s - (1 - e) 1_y - e / V
    1' dh = W' dz,  dW += dz h',  db += dz

Rows are taken a chunk at a time. Where a gradient is wanted, 3' and 1' follow in the same pass while q is at hand, so
that z is made once; what is kept is dh, dW and db, which ``backward`` only scales. A row's weight multiplies its L and
its dz.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from anaphora.kernels.autograd_bridge import apply_derived, derived_loss
from anaphora.kernels.compiled.library import Array
from anaphora.kernels.compiled.softmax import log_softmax_rows, softmax_rows
from anaphora.kernels.prepared import array_of
from anaphora.kernels.runtime import current
from anaphora.kernels.tensor_backends import prepare
from anaphora.shapes import check_shapes

CHUNK = 1 << 23
"""Numbers of z made at once (32 MiB in single precision)."""

Gradients = tuple[Tensor, ...]
"""dh, dW and db; nothing where they are not wanted."""


def softmax_loss(
    hidden_NH: Tensor,
    weight_VH: Tensor,
    bias_V: Tensor,
    targets_N: Tensor,
    smoothing: float = 0.0,
    weights_N: Tensor | None = None,
) -> Tensor:
    """Return the summed cross-entropy, a scalar in nats, of predicting ``targets_N`` from ``hidden_NH``.

    Raises ShapeError where the sizes do not agree.

    Args:
        hidden_NH: the states to predict from; padding is already left out.
        weight_VH: the output matrix W.
        bias_V: the output bias b; a tensor of no elements for none.
        targets_N: int64, the ids of the right answers.
        smoothing: the share e of the target distribution that is spread evenly over all V.
        weights_N: what each row's loss is multiplied by before they are summed; 1 where there are none.
    """
    check_shapes(hidden_NH=hidden_NH, weight_VH=weight_VH, targets_N=targets_N)
    if bias_V.numel():
        check_shapes(weight_VH=weight_VH, bias_V=bias_V)
    if weights_N is not None:
        check_shapes(targets_N=targets_N, weights_N=weights_N)

    def derive(recording: bool, h: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, Gradients]:
        return cross_entropy(recording, h, w, b, targets_N, weights_N, smoothing)

    return derived_loss(derive, hidden_NH, weight_VH, bias_V)


def cross_entropy(
    recording: bool,
    hidden_NH: Tensor,
    weight_VH: Tensor,
    bias_V: Tensor,
    targets_N: Tensor,
    weights_N: Tensor | None,
    smoothing: float = 0.0,
) -> tuple[Tensor, Gradients]:
    """The loss of ``softmax_loss`` in double precision and, if ``recording``, its gradients: without autograd."""
    dhidden_NH = torch.empty_like(hidden_NH) if recording else hidden_NH.new_empty(0)
    dweight_VH = torch.zeros_like(weight_VH) if recording and not len(targets_N) else hidden_NH.new_empty(0)
    dbias_V = torch.zeros_like(bias_V)
    loss = torch.zeros((), dtype=torch.float64, device=hidden_NH.device)
    rows = max(8, CHUNK // weight_VH.shape[0])
    weight = prepare(weight_VH)
    for start in range(0, len(targets_N), rows):
        chunk = slice(start, start + rows)
        h, w = hidden_NH[chunk], None if weights_N is None else weights_N[chunk]
        dz, (top, s, right, mean) = _derive(recording, weight.times(h), bias_V, targets_N[chunk], w, smoothing)
        losses = s.log() + top - (1 - smoothing) * right - smoothing * mean  # 3
        loss += (losses if w is None else losses * w).sum(dtype=torch.float64)
        if recording:
            dhidden_NH[chunk] = weight.back(dz)  # 1'
            dweight_VH = weight.outer(dz, h, dweight_VH if start else None)
            if bias_V.numel():
                dbias_V.addmv_(dz.T, dz.new_ones(len(dz)))
    return loss, (dhidden_NH, dweight_VH, dbias_V) if recording else ()


def target_log_probs(hidden_NH: Tensor, weight_VH: Tensor, bias_V: Tensor, targets_N: Tensor) -> Tensor:
    """Return ln p of ``targets_N``, a number a row; see ``softmax_loss``.

    With the gradient d of each, dz = -d (softmax(z) - 1_y): 3' for rows that are weighted by -d. Going back makes z a
    second time, so that N x V numbers are never kept.
    """
    check_shapes(hidden_NH=hidden_NH, weight_VH=weight_VH, targets_N=targets_N)

    def forward(recording: bool, *leaves: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        h_NH, w_VH, b_V = leaves
        weight, rows, found = prepare(w_VH), max(8, CHUNK // len(w_VH)), list[Tensor]()
        for some_NH, ids_N in zip(torch.split(h_NH, rows), torch.split(targets_N, rows), strict=True):
            _, (top_N, s_N, right_N, _) = _derive(False, weight.times(some_NH), b_V, ids_N, None, 0.0)
            found.append(right_N - top_N - s_N.log())
        return torch.cat(found), leaves if recording else ()

    def backward(leaves: Sequence[Tensor], d_N: Tensor) -> Gradients:
        return cross_entropy(True, leaves[0], leaves[1], leaves[2], targets_N, -d_N)[1]

    return apply_derived(forward, backward, hidden_NH, weight_VH, bias_V)


def picked_log_softmax(z_NV: Tensor, bias_V: Tensor, rows_E: Array, ids_E: Array) -> Tensor:
    """ln p of some words, log softmax(z + b) at rows and ids; each with the same bits whatever the others are.

    ``z_NV``, which has no bias yet (of no elements for none), is used up.
    """
    right_E: Tensor = z_NV[rows_E, ids_E]
    if bias_V.numel():
        right_E += bias_V[ids_E]
    anywhere_N = torch.zeros(len(z_NV), dtype=torch.int64, device=z_NV.device)
    _, found_4N = _derive(False, z_NV, bias_V, anywhere_N, None, 0.0)
    return right_E - (found_4N[0] + found_4N[1].log())[rows_E]


def log_softmax(z_NV: Tensor) -> Tensor:
    """log softmax(z) of every row; ``z_NV`` is used up."""
    if current().native(z_NV) and not z_NV.requires_grad:
        return torch.from_numpy(log_softmax_rows(array_of(z_NV.contiguous())))
    return torch.log_softmax(z_NV, 1)


def _derive(
    recording: bool, z_NV: Tensor, bias_V: Tensor, targets_N: Tensor, weights_N: Tensor | None, smoothing: float
) -> tuple[Tensor, Tensor]:
    """If ``recording``, w dz in the place of ``z_NV``, which has no bias yet; max z, s, z_y and mean z (4 x N)."""
    if current().native(z_NV):
        z, bias, targets = map(array_of, (z_NV, bias_V, targets_N))
        weights = None if weights_N is None else array_of(weights_N)
        return z_NV, torch.from_numpy(softmax_rows(recording, z, bias, targets, weights, smoothing))
    if bias_V.numel():
        z_NV += bias_V
    size, y_N1 = z_NV.shape[1], targets_N[:, None]
    top_N1, right_N1 = z_NV.amax(-1, keepdim=True), z_NV.gather(1, y_N1)
    mean_N1 = z_NV.mean(-1, keepdim=True) if smoothing else torch.zeros_like(top_N1)
    q_NV = z_NV.sub_(top_N1).exp_()  # 2
    s_N1 = q_NV.sum(-1, keepdim=True)
    if recording:
        w_N1 = torch.ones_like(s_N1) if weights_N is None else weights_N[:, None]
        q_NV.mul_(w_N1 / s_N1)  # 3'
        q_NV.scatter_add_(1, y_N1, (smoothing - 1) * w_N1)
        if smoothing:
            q_NV.sub_(smoothing / size * w_N1)
    return q_NV, torch.cat([top_N1, s_N1, right_N1, mean_N1], 1).T
