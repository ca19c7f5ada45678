"""The objective of an update: how the losses of a batch are reduced to one number.

For B rows (sentences, or windows of running text) with T_b predictions each, and the loss L_bt of prediction t in nats:

    sum                  sum_b sum_t L_bt
    sum_per_sentence     sum_b sum_t L_bt / B           summed over the steps, averaged over the rows
    mean_per_sequence    sum_b (sum_t L_bt / T_b) / B   every row over its own length
    mean_per_token       sum_b sum_t L_bt / sum_b T_b

Rows and predictions are those of all micro-batches of an update together.

Gradients are those of this number, and are clipped after it. With ``sum_per_sentence`` and ``sum`` they grow with the
length of the rows: a learning rate or a maximum norm that suits one reduction does not suit another.
"""

from dataclasses import replace
from typing import Literal

import numpy as np
from torch import Tensor

from anaphora.batch import Batch, Ids, Values
from anaphora.protocols import Loss

Reduction = Literal["sum", "sum_per_sentence", "mean_per_sequence", "mean_per_token"]


def weight_rows(batch: Batch, reduction: Reduction) -> Batch:
    """``batch`` with its rows weighted by 1 / T_b where the reduction needs it."""
    if reduction != "mean_per_sequence":
        return batch
    assert isinstance(batch.targets, Ids | Values)
    weights_B = 1 / batch.targets.lengths_B.astype(np.float64)
    return replace(batch, supervision=replace(batch.supervision, weights_B=weights_B))


def reduce_loss(loss: Loss, rows: int, predictions: int, reduction: Reduction) -> Tensor:
    """Return what a ``weight_rows`` loss adds to the number to minimise, for so many rows and predictions in all."""
    return loss.minimised / {"sum": 1, "mean_per_token": predictions}.get(reduction, rows)


def per_prediction(nats: float, rows: int, predictions: int, reduction: Reduction) -> float:
    """Return the loss to report: nats a prediction; with ``mean_per_sequence`` every row has the same weight."""
    return nats / (rows if reduction == "mean_per_sequence" else predictions)
