"""Several models over one vocabulary as one: ensembles, and shallow fusion of a translator with a language model.

An ensemble averages the predictions of its members at every step; fusion adds those of a language model of the target
side (Gulcehre et al. 2015, section 4.1).
"""

from collections.abc import Sequence
from math import inf
from typing import Any, Literal

import numpy as np

from anaphora.batch import Batch
from anaphora.errors import ConfigError
from anaphora.kernels.log_probs import to_host
from anaphora.protocols import Array, SearchStart, Step, Stepper

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
        """Return the starts of all members; positions of the memory are those of the first member."""
        starts = [member.start(batch) for member in self._members]
        memory, state = tuple(start.memory for start in starts), tuple(start.state for start in starts)
        return SearchStart(memory, state, starts[0].memory_lengths_B)

    def advance(self, memory: tuple[Any, ...], state: tuple[Any, ...], ids_N: Array) -> Step:
        """One token of every row, read by every member; attention is averaged too, and None where a member has none."""
        rows = zip(self._members, memory, state, strict=True)
        steps = [member.advance(own, before, ids_N) for member, own, before in rows]
        log_probs_NV = _mean([_doubles(step) for step in steps], self._mean)
        weights = [step.weights_NS for step in steps if step.weights_NS is not None]
        weights_NS = sum(weights[1:], weights[0]) / len(weights) if len(weights) == len(steps) else None
        return Step(log_probs_NV, weights_NS, tuple(step.state for step in steps))

    def select(self, state: tuple[Any, ...], rows_N: Array) -> tuple[Any, ...]:
        return tuple(member.select(before, rows_N) for member, before in zip(self._members, state, strict=True))

    def keep(self, memory: tuple[Any, ...], sentences_B: Array) -> tuple[Any, ...]:
        return tuple(member.keep(own, sentences_B) for member, own in zip(self._members, memory, strict=True))


class FusedStepper(Ensemble):
    """score = ln p + weight ln p_LM for every token."""

    def __init__(self, translator: Stepper, model: Stepper, weight: float) -> None:
        """Raises ConfigError where they predict different tokens, or for a weight that is not finite and above 0."""
        if (model.size, model.eos, model.unk) != (translator.size, translator.eos, translator.unk):
            raise ConfigError(
                f"Fusion needs a language model of the tokens that the translator writes, but they have "
                f"{model.size:,} and {translator.size:,}: train it with the vocabulary of the translator."
            )
        if not 0 < weight < inf:
            raise ConfigError(
                f"Fusion needs a finite weight above 0, but it is {weight}: raise it, or leave out the model."
            )
        super().__init__([translator])
        self._members, self._weight = [translator, model], weight

    def advance(self, memory: tuple[Any, ...], state: tuple[Any, ...], ids_N: Array) -> Step:
        """Return one token of every row, read by both; attention is the translator's."""
        translator, model = self._members
        step = translator.advance(memory[0], state[0], ids_N)
        # the language model may begin a sentence after </s>, the end of the line before
        own = model.advance(memory[1], state[1], np.where(ids_N == self.bos, model.bos, ids_N))
        score_NV = _doubles(step) + self._weight * _doubles(own)
        return Step(score_NV, step.weights_NS, (step.state, own.state))


def _vocabulary(stepper: Stepper) -> tuple[int, int, int, int]:
    return stepper.size, stepper.bos, stepper.eos, stepper.unk


def _doubles(step: Step) -> Array:
    return to_host(step.log_probs_NV).astype(np.float64)


def _mean(log_probs: list[Array], mean: Mean) -> Array:
    """The mean of rows of log-probabilities; one member after the other, so that no row depends on other rows."""
    if mean == "geometric":
        return sum(log_probs[1:], log_probs[0]) / len(log_probs)
    top_NV = np.maximum.reduce(log_probs, initial=np.finfo(np.float64).min)  # tokens that no member allows
    p_NV = np.zeros_like(top_NV)
    for log_probs_NV in log_probs:
        p_NV += np.exp(log_probs_NV - top_NV)
    with np.errstate(divide="ignore"):
        found: Array = np.log(p_NV / len(log_probs)) + top_NV
    return found
