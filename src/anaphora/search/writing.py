"""One output a sentence, reported symbol by symbol as it is written: what sampling and greedy search share."""

from collections import abc
from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from anaphora.protocols import Batch, Stepper
from anaphora.search.bounds import Bounds
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.unroll import unroll

OnSymbol = Callable[[int, int], None]
"""Called for every symbol as it is written, with the number of its sentence first, but not for forced ones."""


class Pick(Protocol):
    """Which symbol each of the live sentences goes on with, if nothing is forced on it."""

    def __call__(self, step: int, sentences_B: Tensor, log_probs_BV: Tensor) -> Tensor:
        """The symbols."""


def write(
    stepper: Stepper, batch: Batch, pick: Pick, max_length: int | abc.Sequence[int], on_symbol: OnSymbol
) -> list[Hypothesis]:
    """What ``pick`` writes after the sentence's row of ``batch.targets``, where there is one, to its ``</s>``.

    ``max_length`` is that of ``beam``. Raises ConfigError for a length below 1.
    """
    bounds = Bounds.of(batch, max_length)
    numbers = batch.numbers_B.tolist()

    def choose(step: int, sentences_B: Tensor, log_probs_BV: Tensor) -> tuple[Tensor, Tensor]:
        forced_B, forced_ids_B = bounds.forced(step, sentences_B)
        picked_B = pick(step, sentences_B, log_probs_BV)
        ended_B = (picked_B == stepper.eos) & ~forced_B
        for sentence, symbol, forced in zip(sentences_B.tolist(), picked_B.tolist(), forced_B.tolist(), strict=True):
            if not forced:
                on_symbol(numbers[sentence], symbol)
        return torch.where(forced_B, forced_ids_B, picked_B), ended_B | bounds.at_end(step, sentences_B)

    return unroll(stepper, batch, choose, int(bounds.longest_B.max()) if numbers else 0)


def ignore_symbol(number: int, symbol: int) -> None:
    """The ``OnSymbol`` that does nothing."""
