"""Classifiers of sequences: an encoder, its annotations pooled, and a softmax over classes."""

from collections.abc import Mapping, Sequence
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from anaphora.batch import Batch, Labels
from anaphora.config import Config
from anaphora.errors import ShapeError
from anaphora.kernels.classes import class_loss
from anaphora.kernels.description import PartDescription
from anaphora.kernels.linear import linear
from anaphora.kernels.pooling import attention_pooled, max_pooled, mean_pooled
from anaphora.nn.embedding import EmbeddingConfig
from anaphora.nn.encoders.recurrent import EncoderConfig
from anaphora.nn.randomness import dropped, generator
from anaphora.nn.spelling import AnyEmbedding, embedding_of
from anaphora.nn.weights import AnyStart, Matrix, Orthogonal, Weights
from anaphora.protocols import Carry, Loss, VocabularyInfo


class ClassesConfig(Config):
    """Classes and the output layer."""

    names: tuple[str, ...] = ()
    """Class names in the order of their ids; without any, those of the training split, sorted."""
    pooling: Literal["max", "mean", "attention", "last"] = "max"
    """Pooling of annotations: maximum, mean, attention, or the last state of each direction."""
    dropout: float = Field(0.5, ge=0, lt=1)
    """Dropout probability of the pooled vector."""
    balanced: bool = False
    """Weight each class by the inverse of its frequency in training."""


class ClassifierConfig(Config):
    """The tables of a classifier."""

    embedding: AnyEmbedding = EmbeddingConfig()
    """Word vectors: a table, or words composed from their characters."""
    encoder: EncoderConfig = EncoderConfig()
    """Recurrent encoder."""
    classes: ClassesConfig = ClassesConfig()
    """Classes and the output layer."""
    initializer: AnyStart = Orthogonal()
    """Initial weights."""


class Classifier(nn.Module):
    """An embedding, an encoder, pooling, and one linear layer."""

    def __init__(self, config: ClassifierConfig, text: VocabularyInfo, words: Sequence[str] = ()) -> None:
        """The network with all weights 0; ``words`` are those of the vocabulary where tokens are words."""
        super().__init__()
        self.config, self.symbols = config, text
        self.embedding = embedding_of(config.embedding, text, words, "text")
        self.encoder = config.encoder.build(config.embedding.size)
        pooling, spec = config.classes.pooling, self.encoder.spec
        width = spec.summary if pooling == "last" else spec.width
        matrices = {
            "output.weight": Matrix(len(config.classes.names), width),
            "output.bias": Matrix(len(config.classes.names)),
        }
        if pooling == "attention":
            matrices |= {
                "pool.weight": Matrix(width, width),
                "pool.bias": Matrix(width),
                "pool.query": Matrix(1, width),
            }
        self.weights = Weights(matrices)

    def initialise(self, seed: int) -> None:
        """Fill every weight with its initial value under this seed."""
        source = generator(seed, "initialise")
        for layer in self.embedding, self.encoder, self.weights:
            layer.initialise(self.config.initializer, source)

    def scores_BC(self, batch: Batch, carry: Carry | None = None) -> Tensor:
        """The unnormalised log-probability of each class."""
        ids = batch.input_ids
        x_BSD = self.embedding.vectors(ids.ids_BT.transpose(0, 1)).transpose(0, 1)
        encoded = self.encoder(x_BSD, ids.lengths_B, None, carry, batch.carry_mask_B)
        weights = self.weights.tensors()
        h_BSM, mask_BS = encoded.annotations_BSM, ids.mask_BT
        match self.config.classes.pooling:
            case "last":
                pooled_BM = encoded.summaries[-1]["h"]
            case "mean":
                pooled_BM = mean_pooled(h_BSM, mask_BS)
            case "max":
                pooled_BM = max_pooled(h_BSM, mask_BS)
            case "attention":
                u_BSM = torch.tanh(linear(h_BSM, weights["pool.weight"]) + weights["pool.bias"])
                pooled_BM = attention_pooled(h_BSM, linear(u_BSM, weights["pool.query"]).squeeze(-1), mask_BS)
        pooled_BM = dropped(pooled_BM, "classes.pooled", self.config.classes.dropout, self.training)
        return linear(pooled_BM, weights["output.weight"]) + weights["output.bias"]

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """The loss of a batch, one prediction a row; nothing is carried on.

        Rows of the batch's carry mask start from the state in ``carry``, as for ``RecurrentEncoder``.
        """
        if not isinstance(batch.targets, Labels):
            raise ShapeError("A classifier needs a batch whose targets are Labels.")
        loss = class_loss(self.scores_BC(batch, carry), batch.targets.classes, batch.supervision.weights_B)
        return Loss(loss, batch.size), {}

    def predict(self, batch: Batch) -> Labels:
        """The probability of each class, B x C; puts the model into evaluation mode."""
        self.eval()
        with torch.no_grad():
            return Labels(torch.softmax(self.scores_BC(batch).double(), 1))

    def programs(self) -> Mapping[str, Sequence[PartDescription]]:
        """The parts of each step of the encoder; puts the model into evaluation mode."""
        self.eval()
        return self.encoder.programs()
