"""What an encoder is to a translator: sentences in, annotations and summaries out.

A new encoder is one file like ``gated_convolution.py`` and one name in ``__init__.py``.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from anaphora.nn.weights import Start


class Encoded(NamedTuple):
    """What an encoder makes of a batch."""

    annotations_BSM: Tensor
    """One for each position, in the order of the sentence; zero behind its end. S is 0 where there are none."""
    summaries: list[dict[str, Tensor]]
    """The sentence as a whole, B x width by field: one for each layer, from the bottom up."""


class Gives(NamedTuple):
    """What a decoder may count on."""

    width: int
    """M, of an annotation."""
    summary: int
    """Numbers of every field of a summary."""
    layers: int
    """How many summaries there are."""
    fields: tuple[str, ...]
    """Of a summary; "h" is among them."""
    annotations: bool
    """Whether every position has an annotation, or the summary is all that is left of a sentence."""


class Encoder(nn.Module, ABC):
    """An encoder of any kind."""

    gives: Gives

    @property
    def width(self) -> int:
        """M."""
        return self.gives.width

    @abstractmethod
    def forward(self, x_BSD: Tensor, lengths_B: Tensor) -> Encoded:
        """Annotations and summaries of word vectors; what lies behind the end of a sentence is never used."""

    @abstractmethod
    def initialise(self, start: Start, generator: torch.Generator) -> None:
        """Fill the weights with what training starts from."""


def one_vector(summary_BM: Tensor) -> Encoded:
    """What an encoder gives that folds every sentence to one vector."""
    return Encoded(summary_BM.new_zeros(len(summary_BM), 0, summary_BM.shape[1]), [{"h": summary_BM}])
