"""Forced decoding: the score and the attention of outputs that are given."""

from collections.abc import Callable

from torch import Tensor

from anaphora.errors import ShapeError
from anaphora.protocols import Batch, Stepper
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.walk import walk


def score(
    stepper: Stepper, batch: Batch, heard: Callable[[int, float], None] = lambda number, log_prob: None
) -> list[Hypothesis]:
    """Every row of ``batch.targets`` as a hypothesis, with the score that a search would give it.

    A row that ends in ``</s>`` is a finished hypothesis; without it, the beginning of one is scored. ``heard`` is told
    ln p of every symbol of every row in order, with the number of the row's sentence. Raises ShapeError when the batch
    has no targets.
    """
    if batch.targets is None:
        raise ShapeError("Scoring needs a batch with targets, but this one has inputs alone: add what is to be scored.")
    targets, numbers = batch.targets, batch.numbers_B.tolist()

    def given(step: int, sentences_B: Tensor, log_probs_BV: Tensor) -> tuple[Tensor, Tensor]:
        ids_B = targets.ids_BT[sentences_B, step]
        log_probs_B = log_probs_BV.gather(1, ids_B.unsqueeze(1)).squeeze(1)
        for sentence, log_prob in zip(sentences_B.tolist(), log_probs_B.tolist(), strict=True):
            heard(numbers[sentence], log_prob)
        return ids_B, step + 1 >= targets.lengths_B[sentences_B]

    return walk(stepper, batch, given, int(targets.lengths_B.max()) if len(targets.lengths_B) else 0)
