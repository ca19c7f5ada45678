"""One output a sentence, reported token by token as it is written: what sampling and greedy search share."""

from collections import abc
from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from anaphora.batch import Batch
from anaphora.protocols import SearchStart, Stepper
from anaphora.search.bounds import Bounds
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.steering import Steered, Steering
from anaphora.search.unroll import unroll

OnToken = Callable[[int, int], None]
"""Called with (example id, token) for every token as it is written, except for forced ones."""


class Pick(Protocol):
    """The next token of each live sentence, where it is not forced."""

    def __call__(self, step: int, sentences_B: Tensor, log_probs_BV: Tensor) -> Tensor:
        """The tokens."""


@torch.no_grad()
def write(
    stepper: Stepper,
    batch: Batch,
    start: SearchStart,
    bounds: Bounds,
    pick: Pick,
    on_token: OnToken,
    lines: int | None = 1,
    steering: abc.Sequence[Steering] = (),
) -> list[Hypothesis]:
    """The tokens of ``pick`` after the prefix of each sentence, up to its ``</s>``.

    ``start`` is where the search of ``batch`` starts, and ``steering`` that of ``beam``. A model of running text goes
    on after ``</s>``, up to that of number ``lines``, or to the maximum length where that is None.
    """
    sentences, device = len(start.memory_lengths_B), start.memory_lengths_B.device
    longest = int(bounds.max_lengths_B.max()) if sentences else 0
    bounds = bounds.to(device)
    example_ids = batch.example_ids_B.tolist()
    line_ends_B = torch.zeros_like(start.memory_lengths_B)
    steered = Steered.start(steering, torch.arange(sentences, device=device))

    def choose(step: int, sentences_B: Tensor, log_probs_BV: Tensor) -> tuple[Tensor, Tensor]:
        nonlocal steered
        forced_B, forced_ids_B = bounds.forced(step, sentences_B)
        if steered.by:
            log_probs_BV = log_probs_BV.clone()  # scores stay those of the model
            steered.edit(log_probs_BV)
        picked_B = pick(step, sentences_B, log_probs_BV)
        line_ends_B[sentences_B] += (picked_B == stepper.eos) & ~forced_B
        ended_B = line_ends_B[sentences_B] >= (lines or torch.inf)
        for sentence, token, forced in zip(sentences_B.tolist(), picked_B.tolist(), forced_B.tolist(), strict=True):
            if not forced:
                on_token(example_ids[sentence], token)
        chosen_B, last_B = torch.where(forced_B, forced_ids_B, picked_B), ended_B | bounds.at_end(step, sentences_B)
        if steered.by:
            kept_B = (~last_B).nonzero().squeeze(1)
            steered = steered.extended(kept_B, chosen_B[kept_B])
        return chosen_B, last_B

    return unroll(stepper, start, choose, longest)


def ignore_token(example_id: int, token: int) -> None:
    """The ``OnToken`` that does nothing."""
