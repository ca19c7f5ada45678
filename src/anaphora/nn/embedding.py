"""Word vectors: a table, its dropout, and what it starts from."""

import torch
from torch import Tensor, nn

from anaphora.config import Config
from anaphora.nn.randomness import dropped
from anaphora.nn.weights import Start


class EmbeddingConfig(Config):
    """A table of word vectors."""

    size: int = 256
    """Numbers of a word vector."""
    scaled: bool = False
    """Multiply looked-up vectors by the square root of their size and start them so much smaller: for tied outputs."""
    dropout: float = 0.0
    """Share of the numbers of each looked-up vector that is dropped in training."""


class Embedding(nn.Embedding):
    """A table of word vectors with dropout behind it."""

    def __init__(self, config: EmbeddingConfig, words: int, name: str) -> None:
        """``words`` rows; ``name`` tells its dropout masks apart from those of others."""
        super().__init__(words, config.size, _weight=torch.zeros(words, config.size))
        self._rate, self._name = config.dropout, name
        self._scale = config.size**0.5 if config.scaled else 1.0

    def vectors(self, ids: Tensor, purpose: str = "") -> Tensor:
        """The vectors of ids, with one dimension more; ``purpose`` tells two uses of one table apart."""
        return dropped(self(ids) * self._scale, f"embedding.{self._name}.{purpose}", self._rate, self.training)

    def initialise(self, start: Start, generator: torch.Generator) -> None:
        """Fill the table with what training starts from."""
        with torch.no_grad():
            start.fill_table(self.weight, generator)
            self.weight /= self._scale
