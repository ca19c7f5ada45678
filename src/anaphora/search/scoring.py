"""Forced decoding: the score and the attention of outputs that are given."""

from torch import Tensor

from anaphora.errors import ShapeError
from anaphora.protocols import Batch, Stepper
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.unroll import unroll


def score(stepper: Stepper, batch: Batch) -> list[Hypothesis]:
    """Every row of ``batch.targets`` as a hypothesis, with the score that a search would give it.

    A row that ends in ``</s>`` is a finished hypothesis; without it, the beginning of one is scored. Raises ShapeError
    when the batch has no targets.
    """
    if batch.targets is None:
        raise ShapeError("Scoring needs a batch with targets, but this one has inputs alone: add what is to be scored.")
    targets = batch.targets

    def given(step: int, sentences_B: Tensor, log_probs_BV: Tensor) -> tuple[Tensor, Tensor]:
        return targets.ids_BT[sentences_B, step], step + 1 >= targets.lengths_B[sentences_B]

    return unroll(stepper, batch, given, int(targets.lengths_B.max()) if len(targets.lengths_B) else 0)
