"""Several models that predict the same symbols, as one: what each of them expects next is averaged at every step."""

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from anaphora.errors import ConfigError
from anaphora.protocols import Batch, Step, Stepper

Mean = Literal["arithmetic", "geometric"]
"""``arithmetic``: p = sum_k p_k / K, which sums to 1; ``geometric``: ln p = sum_k ln p_k / K, which does not, and the
score of an output is the mean of its scores."""


class Ensemble:
    """Steppers over one vocabulary as one Stepper; its memory and its state are theirs, side by side."""

    def __init__(self, members: Sequence[Stepper], mean: Mean = "arithmetic") -> None:
        """Raises ConfigError where members do not predict the same symbols."""
        first = members[0]
        for other in members[1:]:
            if _symbols(other) != _symbols(first):
                raise ConfigError(
                    f"An ensemble needs models that predict the same symbols, but one has {first.size:,} and another "
                    f"{other.size:,}: take models that were trained with one vocabulary."
                )
        self._members, self._mean = members, mean
        self.size, self.bos, self.eos, self.unk = _symbols(first)

    def start(self, batch: Batch) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """What each member remembers and starts from."""
        memories, states = zip(*(member.start(batch) for member in self._members), strict=True)
        return memories, states

    def advance(self, memory: tuple[Any, ...], state: tuple[Any, ...], ids_N: Tensor) -> Step:
        """One symbol of every row, read by every member; attention is the mean of theirs, None where one has none."""
        rows = zip(self._members, memory, state, strict=True)
        steps = [member.advance(own, before, ids_N) for member, own, before in rows]
        log_probs_NV = _mean([step.log_probs_NV.double() for step in steps], self._mean)
        weights = [step.weights_NS for step in steps if step.weights_NS is not None]
        weights_NS = sum(weights[1:], weights[0]) / len(weights) if len(weights) == len(steps) else None
        return Step(log_probs_NV, weights_NS, tuple(step.state for step in steps))

    def select(self, state: tuple[Any, ...], rows_N: Tensor) -> tuple[Any, ...]:
        """The states of the given rows."""
        return tuple(member.select(before, rows_N) for member, before in zip(self._members, state, strict=True))

    def keep(self, memory: tuple[Any, ...], sentences_B: Tensor) -> tuple[Any, ...]:
        """The memories of the given sentences."""
        return tuple(member.keep(own, sentences_B) for member, own in zip(self._members, memory, strict=True))


def _symbols(stepper: Stepper) -> tuple[int, int, int, int]:
    return stepper.size, stepper.bos, stepper.eos, stepper.unk


def _mean(log_probs: list[Tensor], mean: Mean) -> Tensor:
    """The mean of rows of log-probabilities; one member after the other, so no row depends on those beside it."""
    if mean == "geometric":
        return sum(log_probs[1:], log_probs[0]) / len(log_probs)
    top_NV = torch.stack(log_probs).amax(0).clamp(min=torch.finfo(torch.float64).min)  # what no member may write
    p_NV = torch.zeros_like(top_NV)
    for log_probs_NV in log_probs:
        p_NV += (log_probs_NV - top_NV).exp()
    return (p_NV / len(log_probs)).log() + top_NV
