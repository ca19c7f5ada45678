"""The likeliest symbol at every step: what a beam of one finds, reported as it is found."""

from collections import abc

from torch import Tensor

from anaphora.protocols import Batch, Stepper
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.writing import OnSymbol, ignore_symbol, write


def greedy(
    stepper: Stepper, batch: Batch, *, max_length: int | abc.Sequence[int], on_symbol: OnSymbol = ignore_symbol
) -> list[Hypothesis]:
    """One output a sentence, beginning with the sentence's row of ``batch.targets``, where there is one.

    ``max_length`` is that of ``beam``. Of equally likely symbols the lower id is taken. Raises ConfigError for a length
    below 1.
    """

    def take(step: int, sentences_B: Tensor, log_probs_BV: Tensor) -> Tensor:
        return log_probs_BV.argmax(dim=1)

    return write(stepper, batch, take, max_length, on_symbol)
