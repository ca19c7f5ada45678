"""Projection, softmax and cross-entropy in one pass: the loss and its gradients without ever keeping N x V.

For each row n with hidden state h, target y, and label smoothing e (Szegedy et al. 2016; 0 for the plain loss):

    1  z  = W h + b
    2  q  = exp(z - max z),  s = sum q                     softmax(z) = q / s
    3  L  = log s + max z - (1 - e) z_y - e mean(z)
    3' dz = q / s - (1 - e) 1_y - e / V
    1' dh = W' dz,  dW += dz h',  db += dz

Rows are taken a chunk at a time. Where a gradient is wanted, 3' and 1' follow in the same pass while q is at hand, so
that z is made once; what is kept is dh, dW and db, which ``backward`` only scales. The division by s and the constant
e / V never touch the chunk: they are carried through the products (dh = W' (s dz) / s, dW = (s dz) (h / s)', and the
constant times a column sum of W or of h).
"""

import torch
from torch import Tensor

from anaphora.kernels import compiled
from anaphora.kernels.derived import derived_loss
from anaphora.kernels.prepared import prepare
from anaphora.kernels.runtime import current
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
    """The summed cross-entropy, a scalar in nats, of predicting ``targets_N`` from ``hidden_NH``.

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
    dweight_VH = hidden_NH.new_empty(0)
    dbias_V = torch.zeros_like(bias_V)
    size = weight_VH.shape[0]
    share = smoothing / size
    loss = torch.zeros((), dtype=torch.float64, device=hidden_NH.device)
    if share:  # 3: e mean(z); w weights both the loss of a row and, in 3', its dz
        weighted_NH = hidden_NH if weights_N is None else hidden_NH * weights_N[:, None]
        total = len(targets_N) if weights_N is None else weights_N.sum()
        spread_H = weight_VH.sum(0)
        loss -= share * ((weighted_NH @ spread_H).sum(dtype=torch.float64) + total * bias_V.sum())
    rows = max(8, CHUNK // size)
    weight = prepare(weight_VH)
    for start in range(0, len(targets_N), rows):
        h, y = hidden_NH[start : start + rows], targets_N[start : start + rows, None]
        q, right, top, s = _exponentials(weight.times(h), bias_V, y)  # 1, 2
        w = 1 if weights_N is None else weights_N[start : start + rows, None]
        loss += (w * (s.log() + top - (1 - smoothing) * right)).sum(dtype=torch.float64)  # 3
        if recording:
            q.scatter_add_(1, y, (smoothing - 1) * s)  # 3': q is now s (dz + e / V)
            dh = weight.back(q).div_(s)  # 1'
            dhidden_NH[start : start + rows] = (dh.sub_(share * spread_H) if share else dh).mul_(w)
            of_chunk = weight.outer(q, h * (w / s))
            dweight_VH = dweight_VH.add_(of_chunk) if start else of_chunk
            if bias_V.numel():
                dbias_V.addmv_(q.T, (w / s).squeeze(1))
    if recording and not len(targets_N):
        dweight_VH = torch.zeros_like(weight_VH)
    if recording and share:
        dweight_VH -= share * weighted_NH.sum(0)
        if bias_V.numel():
            dbias_V -= share * total
    return loss, (dhidden_NH, dweight_VH, dbias_V) if recording else ()


def _exponentials(z_NV: Tensor, bias_V: Tensor, y_N1: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """q in the place of ``z_NV``, which has no bias yet; z_y, max z and s, each N x 1."""
    right = z_NV.gather(1, y_N1)
    if bias_V.numel():
        right += bias_V[y_N1]
    if not current().native(z_NV):
        if bias_V.numel():
            z_NV += bias_V
        top = z_NV.amax(-1, keepdim=True)
        q_NV = z_NV.sub_(top).exp_()
        return q_NV, right, top, q_NV.sum(-1, keepdim=True)
    return z_NV, right, *compiled.softmax_exponentials(z_NV, bias_V)
