"""Ensembles: the predictions of several models over one vocabulary are averaged at every step."""

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from anaphora.batch import Batch
from anaphora.errors import ConfigError
from anaphora.protocols import SearchStart, Step, Stepper

Mean = Literal["arithmetic", "geometric"]
"""``arithmetic``: p = sum_k p_k / K, which sums to 1; ``geometric``: ln p = sum_k ln p_k / K, which does not, and the
score of an output is the mean of its scores."""


class Ensemble:
    """Steppers over one vocabulary as one Stepper; its memory and state are tuples of theirs."""

    def __init__(self, members: Sequence[Stepper], mean: Mean = "arithmetic") -> None:
        """Raises ConfigError where the members do not predict the same tokens."""
        first = members[0]
        for other in members[1:]:
            if _vocabulary(other) != _vocabulary(first):
                raise ConfigError(
                    f"An ensemble needs models that predict the same tokens, but one has {first.size:,} and another "
                    f"{other.size:,}: take models that were trained with one vocabulary."
                )
        self._members, self._mean = members, mean
        self.size, self.bos, self.eos, self.unk = _vocabulary(first)

    def start(self, batch: Batch) -> SearchStart:
        """The starts of all members; positions of the memory are those of the first member."""
        starts = [member.start(batch) for member in self._members]
        memory, state = tuple(start.memory for start in starts), tuple(start.state for start in starts)
        return SearchStart(memory, state, starts[0].memory_lengths_B)

    def advance(self, memory: tuple[Any, ...], state: tuple[Any, ...], ids_N: Tensor) -> Step:
        """One token of every row, read by every member; attention is averaged too, and None where a member has none."""
        rows = zip(self._members, memory, state, strict=True)
        steps = [member.advance(own, before, ids_N) for member, own, before in rows]
        log_probs_NV = _mean([step.log_probs_NV.double() for step in steps], self._mean)
        weights = [step.weights_NS for step in steps if step.weights_NS is not None]
        weights_NS = sum(weights[1:], weights[0]) / len(weights) if len(weights) == len(steps) else None
        return Step(log_probs_NV, weights_NS, tuple(step.state for step in steps))

    def select(self, state: tuple[Any, ...], rows_N: Tensor) -> tuple[Any, ...]:
        return tuple(member.select(before, rows_N) for member, before in zip(self._members, state, strict=True))

    def keep(self, memory: tuple[Any, ...], sentences_B: Tensor) -> tuple[Any, ...]:
        return tuple(member.keep(own, sentences_B) for member, own in zip(self._members, memory, strict=True))


def _vocabulary(stepper: Stepper) -> tuple[int, int, int, int]:
    return stepper.size, stepper.bos, stepper.eos, stepper.unk


def _mean(log_probs: list[Tensor], mean: Mean) -> Tensor:
    """The mean of rows of log-probabilities; one member after the other, so that no row depends on other rows."""
    if mean == "geometric":
        return sum(log_probs[1:], log_probs[0]) / len(log_probs)
    top_NV = torch.stack(log_probs).amax(0).clamp(min=torch.finfo(torch.float64).min)  # tokens that no member allows
    p_NV = torch.zeros_like(top_NV)
    for log_probs_NV in log_probs:
        p_NV += (log_probs_NV - top_NV).exp()
    return (p_NV / len(log_probs)).log() + top_NV
