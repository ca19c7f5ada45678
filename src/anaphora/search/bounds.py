"""What bounds a search from outside: how each sentence must begin, and how long it may become."""

from collections import abc
from dataclasses import dataclass

import torch
from torch import Tensor

from anaphora.errors import ConfigError
from anaphora.protocols import Batch


@dataclass(frozen=True)
class Bounds:
    """The forced beginning and the greatest length of every sentence of a batch."""

    forced_BT: Tensor
    """int64: what sentence b must begin with, right-padded; T may be 0."""
    forced_B: Tensor
    """int64: how many symbols are forced. A forced ``</s>`` does not end a sentence."""
    longest_B: Tensor
    """int64: how many symbols may be predicted, forced ones and ``</s>`` included."""

    @classmethod
    def of(cls, batch: Batch, max_length: int | abc.Sequence[int]) -> "Bounds":
        """The bounds that ``batch.targets`` and ``max_length`` set; a forced beginning is always read whole.

        Raises ConfigError when a sentence is given no room at all.
        """
        sentences = len(batch.inputs.lengths_B)
        device = batch.inputs.lengths_B.device
        if batch.targets is None:
            forced_BT = torch.zeros(sentences, 0, dtype=torch.int64, device=device)
            forced_B = torch.zeros(sentences, dtype=torch.int64, device=device)
        else:
            forced_BT, forced_B = batch.targets.ids_BT, batch.targets.lengths_B
            # Padding may hold anything, and what is looked up should be a symbol.
            inside_BT = torch.arange(forced_BT.shape[1], device=device) < forced_B[:, None]
            forced_BT = forced_BT.where(inside_BT, 0)
        lengths = [max_length] * sentences if isinstance(max_length, int) else list(max_length)
        if len(lengths) != sentences or min(lengths, default=1) < 1:
            raise ConfigError(
                f"The greatest length should be at least 1 for each of {sentences} sentences, but is {max_length}: "
                f"give one number, or one a sentence."
            )
        longest_B = torch.tensor(lengths, dtype=torch.int64, device=device)
        return cls(forced_BT, forced_B, torch.maximum(longest_B, forced_B))

    def forced(self, step: int, sentences_B: Tensor) -> tuple[Tensor, Tensor]:
        """Which of the sentences are forced at ``step``, and to which symbol (any, where it is not forced)."""
        if step >= self.forced_BT.shape[1]:
            free_B = torch.zeros_like(sentences_B)
            return free_B.bool(), free_B
        return step < self.forced_B[sentences_B], self.forced_BT[sentences_B, step]

    def at_end(self, step: int, sentences_B: Tensor) -> Tensor:
        """Which of the sentences have no room after ``step``."""
        return step + 1 >= self.longest_B[sentences_B]
