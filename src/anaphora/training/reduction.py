"""What an update minimises: how the losses of a batch become one number.

For B rows (sentences, or windows of running text) with T_b predictions each, of which prediction t costs L_bt nats:

    sum                  sum_b sum_t L_bt
    sum_per_sentence     sum_b sum_t L_bt / B           summed over the steps, averaged over the rows
    mean_per_sequence    sum_b (sum_t L_bt / T_b) / B   every row over its own length
    mean_per_token       sum_b sum_t L_bt / sum_b T_b

Gradients are those of this number, and are clipped after it. With ``sum_per_sentence`` and ``sum`` they grow with the
length of the rows: a rate or a bound on the norm that suits one reduction does not suit another.
"""

from dataclasses import replace
from typing import Literal

from torch import Tensor

from anaphora.protocols import Batch, Loss

Reduction = Literal["sum", "sum_per_sentence", "mean_per_sequence", "mean_per_token"]


def weighted(batch: Batch, reduction: Reduction) -> Batch:
    """``batch``, its rows weighted by 1 / T_b where the reduction asks for it."""
    if reduction != "mean_per_sequence" or batch.targets is None:
        return batch
    return replace(batch, targets=replace(batch.targets, weights_B=1 / batch.targets.lengths_B.double()))


def reduced(loss: Loss, rows: int, reduction: Reduction) -> Tensor:
    """The number to minimise, from the loss of a ``weighted`` batch of this many rows."""
    return loss.minimised / {"sum": 1, "mean_per_token": loss.count}.get(reduction, rows)


def per_prediction(loss: Loss, rows: int, reduction: Reduction) -> float:
    """What to tell people: nats a prediction, where ``mean_per_sequence`` lets every row count the same."""
    return float(loss.sum.detach()) / (rows if reduction == "mean_per_sequence" else loss.count)
