"""The interface of encoders: sentences in, annotations and sentence encodings out.

A new encoder is one file like ``gated_convolution.py`` and one name in ``__init__.py``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from anaphora.nn.weights import Layer
from anaphora.protocols import PartDescription


class EncoderOutput(NamedTuple):
    """Encoded batch."""

    annotations_BSM: Tensor
    """One for each position, in the order of the sentence; zero past its end. S is 0 where there are none."""
    summaries: list[dict[str, Tensor]]
    """The sentence as a whole, B x width by field: one for each layer, from the bottom up. Of an encoder that gives
    columns, B x T x width: one for each unit of the translation, and the last one goes on."""
    words_BSD: Tensor | None = None
    """Vectors of the words that were read, where a decoder sees them too."""
    features_BD: Tensor | None = None
    """Sum of the vectors of the features of each row, where it has some."""


class EncoderSpec(NamedTuple):
    """The form of what an encoder gives, by which a decoder is built."""

    width: int
    """M, of an annotation."""
    summary: int
    """Numbers of every field of a summary."""
    layers: int
    """Number of sentence encodings."""
    fields: tuple[str, ...]
    """Fields of a summary; "h" is among them."""
    annotations: bool
    """True if every position has an annotation, false if only sentence encodings are left."""
    columns: bool = False
    """True if there is a sentence encoding for every token of the translation, false for one per sentence."""
    words: int = 0
    """Width of the word vectors that a lexical model of the decoder sees; 0 without one."""
    features: int = 0
    """Width of the feature vectors that every step of the decoder sees; 0 without features."""

    def example(self, like: Tensor) -> EncoderOutput:
        """Return this of a sentence of one position, all of it zero; ``like`` lends its type."""
        summary = like.new_zeros(1, *[1] * self.columns, self.summary)
        annotations_BSM = like.new_zeros(1, int(self.annotations), self.width)
        words_BSD = like.new_zeros(1, 1, self.words)
        summaries = [dict.fromkeys(self.fields, summary)] * self.layers
        return EncoderOutput(annotations_BSM, summaries, words_BSD, like.new_zeros(1, self.features))


class Encoder(Layer, ABC):
    """An encoder of any kind."""

    spec: EncoderSpec
    reads_words: ClassVar[bool] = False
    """True if ``forward`` also takes words that were not looked up yet."""

    @abstractmethod
    def forward(self, x_BSD: Tensor, lengths_B: Tensor, targets_B: Tensor | None = None) -> EncoderOutput:
        """Annotations and summaries of word vectors; what lies past the end of a sentence is never used.

        ``targets_B`` are the units of the translations, which are known in training alone.
        """

    def programs(self) -> Mapping[str, Sequence[PartDescription]]:
        """Return the parts of each step, by the name of what takes it; none where a sentence is read without steps."""
        return {"encoder": ()}


def open_positions(x_BSD: Tensor, lengths_B: Tensor) -> Tensor:
    """True if each position is within its sentence, B x S x 1."""
    return (torch.arange(x_BSD.shape[1], device=x_BSD.device) < lengths_B.to(x_BSD.device).unsqueeze(1)).unsqueeze(-1)


def annotations_only(h_BSM: Tensor, lengths_B: Tensor) -> EncoderOutput:
    """Return annotations, zero past the end, and the last of them, of an encoder without sentence encodings."""
    last_B, rows_B = lengths_B.to(h_BSM.device) - 1, torch.arange(len(h_BSM), device=h_BSM.device)
    return EncoderOutput(h_BSM.masked_fill(~open_positions(h_BSM, lengths_B), 0), [{"h": h_BSM[rows_B, last_B]}])


def summary_only(summary: Tensor) -> EncoderOutput:
    """Return a vector (B x M) or columns (B x T x M), of an encoder without annotations."""
    return EncoderOutput(summary.new_zeros(len(summary), 0, summary.shape[-1]), [{"h": summary}])
