"""Two small softmaxes in the place of a large one: first the class of the word, then the word among its class.

Every word y belongs to one class c(y) (Goodman 2001; Mikolov et al. 2011), so for a hidden state h

    1  L = -log softmax(C h + d)_{c(y)} - log softmax(W_c h + b_c)_y        W_c, b_c: the rows of the words of c(y)

and both terms, with their gradients, are those of ``softmax.py``. Rows whose words share a class go through the second
together. A class of one word has no second term.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.derived import derived_loss
from anaphora.kernels.softmax import Gradients, cross_entropy
from anaphora.shapes import check_shapes


class Classes(NamedTuple):
    """Which word is in which class."""

    class_V: Tensor
    """The class of every word."""
    place_V: Tensor
    """Where it stands among the words of its class."""
    order_V: Tensor
    """The words, class by class."""
    sizes: list[int]
    """The number of words of every class, at least 1."""

    @classmethod
    def of(cls, class_V: Tensor) -> "Classes":
        """The layout of classes numbered from 0 without a gap."""
        sizes_C = torch.bincount(class_V)
        order_V = torch.argsort(class_V, stable=True)
        place_V = torch.empty_like(order_V)
        place_V[order_V] = torch.arange(len(order_V)) - (sizes_C.cumsum(0) - sizes_C)[class_V[order_V]]
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
    """The summed -ln p of ``targets_N``; both biases may be tensors of no elements, for none.

    Raises:
        ShapeError: the sizes do not agree.
    """
    check_shapes(hidden_NH=hidden_NH, classes_CH=classes_CH, weight_VH=weight_VH, targets_N=targets_N)

    def derive(recording: bool, *leaves: Tensor) -> tuple[Tensor, Gradients]:
        return _walk(recording, leaves, targets_N, classes, weights_N)

    return derived_loss(derive, hidden_NH, classes_CH, class_bias_C, weight_VH, bias_V)


def _walk(
    recording: bool, leaves: tuple[Tensor, ...], targets_N: Tensor, classes: Classes, weights_N: Tensor | None
) -> tuple[Tensor, Gradients]:
    """Both terms of 1; the gradients of the second are added to, or stand beside, those of the first."""
    hidden_NH, classes_CH, class_bias_C, weight_VH, bias_V = leaves
    class_N = classes.class_V[targets_N]
    loss, of_class = cross_entropy(recording, hidden_NH, classes_CH, class_bias_C, class_N, weights_N)
    dweight_VH, dbias_V = torch.zeros_like(weight_VH) if recording else weight_VH, torch.zeros_like(bias_V)
    rows_C = torch.bincount(class_N, minlength=len(classes.sizes)).tolist()
    by_class = torch.split(torch.argsort(class_N, stable=True), rows_C)
    for rows, words in zip(by_class, torch.split(classes.order_V, classes.sizes), strict=True):
        if not len(rows) or len(words) == 1:
            continue
        more, of_words = cross_entropy(
            recording,
            hidden_NH[rows],
            weight_VH[words],
            bias_V[words] if bias_V.numel() else bias_V,
            classes.place_V[targets_N[rows]],
            None if weights_N is None else weights_N[rows],
        )
        loss += more
        if recording:
            of_class[0][rows] += of_words[0]
            dweight_VH[words] = of_words[1]
            if bias_V.numel():
                dbias_V[words] = of_words[2]
    return loss, (*of_class, dweight_VH, dbias_V) if recording else ()


def class_factored_log_probs(class_logits_NC: Tensor, logits_NV: Tensor, classes: Classes) -> Tensor:
    """ln p of every word, N x V: that of its class, and that of the word among its class."""
    class_log_probs_NC = torch.log_softmax(class_logits_NC, -1)
    by_class = torch.split(logits_NV[:, classes.order_V], classes.sizes, 1)
    among_class = [torch.log_softmax(z, -1) for z in by_class]
    log_probs_NV = torch.empty_like(logits_NV)
    log_probs_NV[:, classes.order_V] = torch.cat(among_class, 1)
    return log_probs_NV + class_log_probs_NC[:, classes.class_V]
