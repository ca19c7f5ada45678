"""Two small softmaxes in the place of a large one: first the class of the word, then the word among its class.

Every word y belongs to one class c(y) (Goodman 2001; Mikolov et al. 2011), so for a hidden state h

    1  L = -log softmax(C h + d)_{c(y)} - log softmax(W_c h + b_c)_y        W_c, b_c: the rows of the words of c(y)

The first term with its gradients is that of ``softmax.py``. For the second, rows are sorted by the class of their word:

    2  z = W_c h + b_c                          one product for all rows of a class, side by side padded with -inf
    3  q = exp(z - max z),  s = sum q,  L = log s + max z - z_y
    3' dz = q / s - 1_y
    2' dh = W_c' dz,  dW_c += dz h',  db_c += dz
"""

from typing import NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.autograd_bridge import derived_loss
from anaphora.kernels.softmax import CHUNK, Gradients, cross_entropy
from anaphora.kernels.tensor_backends import prepare
from anaphora.shapes import check_shapes


class Classes(NamedTuple):
    class_V: Tensor
    """The class of every word."""
    place_V: Tensor
    """Place of each word among the words of its class."""
    order_V: Tensor
    """The words, class by class."""
    sizes: list[int]
    """The number of words of every class, at least 1."""

    @classmethod
    def of(cls, class_V: Tensor) -> "Classes":
        """Return the layout of classes numbered from 0 without a gap."""
        sizes_C = torch.bincount(class_V)
        order_V = torch.argsort(class_V, stable=True)
        place_V = torch.empty_like(order_V)
        place_V[order_V] = (
            torch.arange(len(order_V), device=class_V.device) - (sizes_C.cumsum(0) - sizes_C)[class_V[order_V]]
        )
        return cls(class_V, place_V, order_V, sizes_C.tolist())


def class_factored_loss(
    hidden_NH: Tensor,
    classes_CH: Tensor,
    class_bias_C: Tensor,
    weight_VH: Tensor,
    bias_V: Tensor,
    targets_N: Tensor,
    classes: Classes,
    weights_N: Tensor | None = None,
) -> Tensor:
    """Return the summed -ln p of ``targets_N``; both biases may be tensors of no elements, for none.

    Raises ShapeError where the sizes do not agree.
    """
    check_shapes(hidden_NH=hidden_NH, classes_CH=classes_CH, weight_VH=weight_VH, targets_N=targets_N)

    def derive(recording: bool, *leaves: Tensor) -> tuple[Tensor, Gradients]:
        hidden_NH, classes_CH, class_bias_C, weight_VH, bias_V = leaves
        class_N = classes.class_V[targets_N]
        loss, of_class = cross_entropy(recording, hidden_NH, classes_CH, class_bias_C, class_N, weights_N)
        of_words = tuple(torch.zeros_like(leaf) for leaf in (weight_VH, bias_V)) if recording else ()
        by_class_N = torch.argsort(class_N, stable=True)
        for rows in torch.split(by_class_N, max(8, CHUNK // max(classes.sizes))):
            runs, words_W = _runs(class_N[rows], classes)
            h_NH, weight_WH, y = hidden_NH[rows], weight_VH[words_W], classes.place_V[targets_N[rows]][:, None]
            weights = [prepare(weight_WH[words]) for _, words in runs]
            longest = max(words.stop - words.start for _, words in runs)
            z = h_NH.new_full((len(h_NH), longest), -torch.inf)
            for weight, (some, words) in zip(weights, runs, strict=True):  # 2
                of_class_z = weight.times(h_NH[some])
                z[some, : of_class_z.shape[1]] = of_class_z + bias_V[words_W[words]] if bias_V.numel() else of_class_z
            top, right = z.amax(-1, keepdim=True), z.gather(1, y)
            q = z.sub_(top).exp_()  # 3
            s = q.sum(-1, keepdim=True)
            w = torch.ones_like(s) if weights_N is None else weights_N[rows][:, None]
            loss += (w * (s.log() + top - right)).sum(dtype=torch.float64)
            if not recording:
                continue
            dz, dh_NH = q.scatter_add_(1, y, -s).mul_(w / s), torch.empty_like(h_NH)  # 3'
            own = [dz[some, : words.stop - words.start] for some, words in runs]
            by_class = [*zip(weights, own, (some for some, _ in runs), strict=True)]
            for weight, d, some in by_class:  # 2'
                dh_NH[some] = weight.back(d)
            of_words[0].index_add_(0, words_W, torch.cat([weight.outer(d, h_NH[some]) for weight, d, some in by_class]))
            if bias_V.numel():
                of_words[1].index_add_(0, words_W, torch.cat([d.sum(0) for d in own]))
            of_class[0][rows] += dh_NH
        return loss, of_class + of_words

    return derived_loss(derive, hidden_NH, classes_CH, class_bias_C, weight_VH, bias_V)


def _runs(class_N: Tensor, classes: Classes) -> tuple[list[tuple[slice, slice]], Tensor]:
    """Return of rows sorted by class the rows of each class and its words, as a stretch of all their words."""
    found, counts = torch.unique_consecutive(class_N, return_counts=True)
    by_class = torch.split(classes.order_V, classes.sizes)
    runs, words, row, word = [], [], 0, 0
    for c, count in zip(found.tolist(), counts.tolist(), strict=True):
        runs.append((slice(row, row + count), slice(word, word + classes.sizes[c])))
        words.append(by_class[c])
        row, word = runs[-1][0].stop, runs[-1][1].stop
    return runs, torch.cat(words)


def class_factored_log_probs(class_logits_NC: Tensor, logits_NV: Tensor, classes: Classes) -> Tensor:
    """ln p of every word, N x V: that of its class, and that of the word among its class."""
    class_log_probs_NC = torch.log_softmax(class_logits_NC, -1)
    by_class = torch.split(logits_NV[:, classes.order_V], classes.sizes, 1)
    among_class = [torch.log_softmax(z, -1) for z in by_class]
    log_probs_NV = torch.empty_like(logits_NV)
    log_probs_NV[:, classes.order_V] = torch.cat(among_class, 1)
    return log_probs_NV + class_log_probs_NC[:, classes.class_V]
