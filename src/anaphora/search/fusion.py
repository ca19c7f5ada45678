"""Shallow fusion of a translator with a language model of the target side (Gulcehre et al. 2015, section 4.1)."""

from math import inf
from typing import Any

import torch
from torch import Tensor

from anaphora.batch import Batch
from anaphora.errors import ConfigError
from anaphora.protocols import SearchStart, Step, Stepper
from anaphora.search.wrapper import Wrapper


class Fused(Wrapper):
    """score = ln p + weight ln p_LM for every token; its memory and state are pairs of theirs."""

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
        super().__init__(translator)
        self._added, self._weight = model, weight

    def start(self, batch: Batch) -> SearchStart:
        """The starts of both; positions of the memory are the translator's."""
        start, own = super().start(batch), self._added.start(batch)
        return SearchStart((start.memory, own.memory), (start.state, own.state), start.memory_lengths_B)

    def advance(self, memory: tuple[Any, Any], state: tuple[Any, Any], ids_N: Tensor) -> Step:
        """One token of every row, read by both; attention is the translator's."""
        step = super().advance(memory[0], state[0], ids_N)
        # the language model may begin a sentence after </s>, the end of the line before
        read_N = torch.where(ids_N == self.bos, self._added.bos, ids_N)
        own = self._added.advance(memory[1], state[1], read_N)
        score_NV = step.log_probs_NV.double() + self._weight * own.log_probs_NV.double()
        return Step(score_NV, step.weights_NS, (step.state, own.state))

    def select(self, state: tuple[Any, Any], rows_N: Tensor) -> tuple[Any, Any]:
        return super().select(state[0], rows_N), self._added.select(state[1], rows_N)

    def keep(self, memory: tuple[Any, Any], sentences_B: Tensor) -> tuple[Any, Any]:
        return super().keep(memory[0], sentences_B), self._added.keep(memory[1], sentences_B)
