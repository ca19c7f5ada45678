"""Classifiers of sequences: an encoder, its annotations pooled, and a softmax over classes or sigmoids of labels."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from anaphora.batch import Batch, Ids, Labels
from anaphora.config import Config, by_kind_or
from anaphora.errors import ShapeError
from anaphora.inference.sequences import probabilities
from anaphora.kernels.linear import linear
from anaphora.kernels.losses import class_loss, label_loss
from anaphora.kernels.pooling import attention_pool, max_pool, mean_pool
from anaphora.models.sequence_network import SequenceNetwork
from anaphora.nn.device import array_of, device_of
from anaphora.nn.embedding import Embedding, EmbeddingConfig
from anaphora.nn.encoders.cnn import CnnConfig
from anaphora.nn.encoders.none import NoEncoderConfig
from anaphora.nn.encoders.recurrent import EncoderConfig
from anaphora.nn.randomness import apply_dropout
from anaphora.nn.spelling import AnyEmbedding, Spelling, embedding_of
from anaphora.nn.vectors import VectorScale, VectorsConfig
from anaphora.nn.weights import AnyStart, Matrix, Orthogonal, Weights, project, projection_matrices
from anaphora.options import Conflict
from anaphora.protocols import Carry, Loss, VocabularyInfo


class ClassesConfig(Config):
    """Classes and the output layer."""

    names: tuple[str, ...] = ()
    """Class names in the order of their ids; without any, those of the training split, sorted."""
    output: Literal["softmax", "sigmoid"] = "softmax"
    """Output layer: "softmax" for one class, "sigmoid" for any number of labels, each by itself."""
    pooling: Literal["max", "mean", "attention", "last"] = "max"
    """Pooling of annotations: maximum, mean, attention, or the last state of each direction."""
    dropout: float = Field(0.5, ge=0, lt=1)
    """Dropout probability of the pooled vector."""
    balanced: bool = False
    """Weight each class by the inverse of its frequency in training."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"balanced": True, "output": "sigmoid"}, "every label has a threshold; leave {at}balanced out"),
    )

    @property
    def several(self) -> bool:
        """True if an example may have several labels."""
        return self.output == "sigmoid"


class PooledConfig(Config):
    """The tables of every classifier."""

    encoder: Annotated[
        EncoderConfig | CnnConfig | NoEncoderConfig, Field(discriminator="kind"), by_kind_or("recurrent")
    ] = EncoderConfig()
    """Encoder: recurrent, "cnn" for convolutions, or "none" to pool the vectors themselves."""
    classes: ClassesConfig = ClassesConfig()
    """Classes and the output layer."""
    initializer: AnyStart = Orthogonal()
    """Initial weights."""


class ClassifierConfig(PooledConfig):
    """The tables of a classifier of texts."""

    embedding: AnyEmbedding = EmbeddingConfig()
    """Word vectors: a table, or words composed from their characters."""


class VectorClassifierConfig(PooledConfig):
    """The tables of a classifier of sequences of vectors."""

    vectors: VectorsConfig = VectorsConfig()
    """Vectors that are read."""


class PooledClassifier(SequenceNetwork):
    """An encoder, pooling, and one linear layer."""

    config: PooledConfig
    thresholds_C: Tensor

    def __init__(self, config: PooledConfig, width: int, embedding: Embedding | Spelling | None = None) -> None:
        """The network over vectors of ``width``, which an ``embedding`` may give, with all weights 0."""
        super().__init__()
        self.config = config
        if embedding is not None:
            self.embedding = embedding
        self.encoder = config.encoder.build(width)
        if config.classes.several:
            self.register_buffer("thresholds_C", torch.full((len(config.classes.names),), 0.5))
        pooling, spec = config.classes.pooling, self.encoder.spec
        pooled = spec.summary if pooling == "last" else spec.width
        matrices = projection_matrices("output", len(config.classes.names), pooled, True)
        if pooling == "attention":
            matrices |= projection_matrices("pool", pooled, pooled, True) | {"pool.query": Matrix(1, pooled)}
        self.weights = Weights(matrices)

    def scores_BC(self, batch: Batch) -> Tensor:
        """Return the unnormalised log-probability of each class."""
        encoded, rows = self.encode(batch)
        weights = self.weights.tensors()
        h_BSM, mask_BS = encoded.annotations_BSM, rows.mask_BT
        match self.config.classes.pooling:
            case "last":
                pooled_BM = encoded.summaries[-1]["h"]
            case "mean":
                pooled_BM = mean_pool(h_BSM, mask_BS)
            case "max":
                pooled_BM = max_pool(h_BSM, mask_BS)
            case "attention":
                u_BSM = torch.tanh(project(weights, "pool", h_BSM))
                pooled_BM = attention_pool(h_BSM, linear(u_BSM, weights["pool.query"]).squeeze(-1), mask_BS)
        pooled_BM = apply_dropout(pooled_BM, "classes.pooled", self.config.classes.dropout, self.training)
        return project(weights, "output", pooled_BM)

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """Return the loss of a batch, one prediction a row; nothing is carried."""
        if not isinstance(batch.targets, Labels):
            raise ShapeError("A classifier needs a batch whose targets are Labels.")
        loss = label_loss if self.config.classes.several else class_loss
        nats = loss(self.scores_BC(batch), batch.targets.classes, batch.supervision.weights_B)
        return Loss(nats, batch.size), {}

    def predict(self, batch: Batch) -> Labels:
        """Return the probability of each class, B x C; puts the model into evaluation mode."""
        self.eval()
        with torch.no_grad():
            scores_BC = array_of(self.scores_BC(batch.to(device_of(self))))
        return probabilities(scores_BC, self.config.classes.several)

    @property
    def thresholds(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The least probability at which each label is predicted, where there may be several."""
        return self.thresholds_C.double().cpu().numpy()

    def set_thresholds(self, thresholds_C: np.ndarray[Any, np.dtype[np.float64]]) -> None:
        """Take thresholds, which are saved with the weights."""
        self.thresholds_C.copy_(torch.from_numpy(thresholds_C))


class Classifier(PooledClassifier):
    """A classifier of texts: an embedding before the encoder."""

    def __init__(self, config: ClassifierConfig, text: VocabularyInfo, words: Sequence[str] = ()) -> None:
        """The network with all weights 0; ``words`` are those of the vocabulary where tokens are words."""
        super().__init__(config, config.embedding.size, embedding_of(config.embedding, text, words))
        self.symbols = text

    def vectors(self, batch: Batch) -> tuple[Tensor, Ids]:
        """Return the vectors of the tokens."""
        ids = batch.input_ids
        return self.embedding.vectors(ids.ids_BT.transpose(0, 1)).transpose(0, 1), ids


class VectorClassifier(PooledClassifier):
    """A classifier of real-valued vectors, each number scaled by its mean and deviation in training."""

    def __init__(self, config: VectorClassifierConfig) -> None:
        """The network with all weights 0."""
        super().__init__(config, config.vectors.size)
        self.scale = VectorScale(config.vectors)
