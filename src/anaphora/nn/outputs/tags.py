"""Outputs over tags: one for each token of a sentence, or any number of labels.

A tag is a number from 0; there are no special tokens among them. A new output is a class here and a name in
``AnyTagOutput``.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import product
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from anaphora.batch import NO_SUPERVISION, Ids, Items, Supervision, Values
from anaphora.config import ByKind, Config
from anaphora.errors import ConfigError, ShapeError
from anaphora.formats.span_tags import OUTSIDE, Encoding, Tag, may_follow, split_tag
from anaphora.kernels.losses import label_loss
from anaphora.kernels.outputs.linear_chain import Chain, linear_chain_loss
from anaphora.kernels.outputs.viterbi import best_tags
from anaphora.kernels.softmax import softmax_loss
from anaphora.nn.device import array_of
from anaphora.nn.weights import Layer, Matrix, Start, Weights, project, projection_matrices
from anaphora.protocols import Loss


class TagOutput(Layer, ABC):
    """Scores of tags, from the states of tokens."""

    def __init__(self, width: int, tags: int, more: dict[str, Matrix] | None = None) -> None:
        """``width`` of the states, the number of tags, and other weights."""
        super().__init__()
        self.tags = tags
        self.weights = Weights(projection_matrices("tags", tags, width, True) | (more or {}))

    def scores(self, states_TBH: Tensor) -> Tensor:
        """Return a score for each tag, T x B x C; each row has the same bits in any batch."""
        return project(self.weights.tensors(), "tags", states_TBH)

    @abstractmethod
    def loss(self, states_TBH: Tensor, targets: Items | None, supervision: Supervision = NO_SUPERVISION) -> Loss:
        """Return the summed loss, one prediction a token; ShapeError for targets of another kind."""

    @abstractmethod
    def predict(self, states_TBH: Tensor, lengths_B: Tensor) -> Items:
        """Return the predictions as arrays, in the form of the targets."""


class Softmax(Config):
    """One tag a token, each predicted by itself."""

    kind: Literal["softmax"] = "softmax"
    label_smoothing: float = Field(0.0, ge=0, lt=1)
    """Fraction of the target distribution spread evenly over all tags while training (Szegedy et al. 2016)."""

    several: ClassVar[bool] = False
    """True if a token may have several labels."""

    def build(self, width: int, tags: Sequence[str], encoding: Encoding | None) -> TagOutput:
        return SoftmaxTags(self, width, len(tags))


class SoftmaxTags(TagOutput):
    def __init__(self, config: Softmax, width: int, tags: int) -> None:
        super().__init__(width, tags)
        self._smoothing = config.label_smoothing

    def loss(self, states_TBH: Tensor, targets: Items | None, supervision: Supervision = NO_SUPERVISION) -> Loss:
        """Cross-entropy, with smoothed targets in training."""
        ids, weights = _tags(targets), self.weights.tensors()
        open_TB = ids.mask_BT.T
        weights_N = supervision.weights_of(open_TB, states_TBH)
        smoothing = self._smoothing if self.training else 0.0
        matrix_CH, bias_C, tags_N = weights["tags.weight"], weights["tags.bias"], ids.ids_BT.T[open_TB]
        return Loss(softmax_loss(states_TBH[open_TB], matrix_CH, bias_C, tags_N, smoothing, weights_N), len(tags_N))

    def predict(self, states_TBH: Tensor, lengths_B: Tensor) -> Items:
        return Ids(array_of(self.scores(states_TBH).argmax(2).T), array_of(lengths_B))


class Sigmoid(Config):
    """Any number of labels a token, each predicted by itself: tags such as ``Case=Nom|Number=Sing``."""

    kind: Literal["sigmoid"] = "sigmoid"

    several: ClassVar[bool] = True
    """True if a token may have several labels."""

    def build(self, width: int, tags: Sequence[str], encoding: Encoding | None) -> TagOutput:
        """Return the layer. Raises ConfigError for tags of spans."""
        if encoding is not None:
            raise ConfigError('Spans need output.kind = "softmax" or "crf": set it, or spans = "none".')
        return SigmoidTags(width, len(tags))


class SigmoidTags(TagOutput):
    def loss(self, states_TBH: Tensor, targets: Items | None, supervision: Supervision = NO_SUPERVISION) -> Loss:
        """Cross-entropy, summed over the labels of a token."""
        if not isinstance(targets, Values):
            raise ShapeError("This output needs targets that are Values, 1 for each label of a token, else 0.")
        labels_TBC = targets.values_BTD.transpose(0, 1)
        open_TB = targets.mask_BT.T
        weights_N = supervision.weights_of(open_TB, states_TBH)
        loss = label_loss(self.scores(states_TBH)[open_TB], labels_TBC[open_TB], weights_N)
        return Loss(loss, int(targets.lengths_B.sum()))

    def predict(self, states_TBH: Tensor, lengths_B: Tensor) -> Items:
        """1 for each label that is more probable than not, else 0."""
        return Values(array_of((self.scores(states_TBH) > 0).float().transpose(0, 1)), array_of(lengths_B))


class LinearChain(Config):
    """One tag a token, the tags of a sentence predicted together by a linear-chain CRF (Lafferty et al. 2001).

    With an encoding of spans, sequences of tags that make no whole spans are barred.
    """

    kind: Literal["crf"] = "crf"

    several: ClassVar[bool] = False
    """True if a token may have several labels."""

    def build(self, width: int, tags: Sequence[str], encoding: Encoding | None) -> TagOutput:
        """Return the layer. Raises ConfigError for tags that the encoding has not."""
        return LinearChainTags(width, tags, encoding)


class LinearChainTags(TagOutput):
    def __init__(self, width: int, tags: Sequence[str], encoding: Encoding | None) -> None:
        size = len(tags)
        shapes = {"transitions": Matrix(size, size), "first": Matrix(size), "last": Matrix(size)}
        super().__init__(width, size, {f"chain.{name}": matrix for name, matrix in shapes.items()})
        # made of the vocabulary, so no checkpoint needs them
        for name, barred in zip(shapes, _transition_masks(tags, encoding), strict=True):
            self.register_buffer(f"barred_{name}", barred, persistent=False)

    @property
    def barred(self) -> dict[str, Tensor]:
        """Masks of the scores of the chain that are barred, by their names among the weights."""
        return {f"chain.{name}": self.get_buffer(f"barred_{name}") for name in ("transitions", "first", "last")}

    def loss(self, states_TBH: Tensor, targets: Items | None, supervision: Supervision = NO_SUPERVISION) -> Loss:
        ids = _tags(targets)
        weights_B = supervision.weights_B
        loss = linear_chain_loss(self.scores(states_TBH), self.chain(), ids.ids_BT.T, ids.lengths_B, weights_B)
        return Loss(loss, int(ids.lengths_B.sum()))

    def predict(self, states_TBH: Tensor, lengths_B: Tensor) -> Items:
        lengths, chain = array_of(lengths_B), map(array_of, self.chain().double())
        return Ids(best_tags(array_of(self.scores(states_TBH)), lengths, *chain).T, lengths)

    def initialise(self, start: Start, generator: torch.Generator) -> None:
        """Fill the weights with what training starts from; transitions start from 0."""
        super().initialise(start, generator)
        with torch.no_grad():
            self.weights.tensors()["chain.transitions"].zero_()

    def chain(self) -> Chain:
        """Return the scores of neighbouring tags and of the ends; -inf bars."""
        weights = self.weights.tensors()
        return Chain(*(weights[name].masked_fill(mask, -torch.inf) for name, mask in self.barred.items()))


AnyTagOutput = ByKind[Softmax | Sigmoid | LinearChain]
"""An output as a recipe names it: ``"crf"``, or ``{kind = "softmax", label_smoothing = 0.1}``."""


def _transition_masks(tags: Sequence[str], encoding: Encoding | None) -> tuple[Tensor, Tensor, Tensor]:
    """Return masks of tags that may not follow each other, begin a sentence, or end it."""
    size = len(tags)
    if encoding is None:
        return tuple(torch.zeros(shape, dtype=torch.bool) for shape in ((size, size), (size,), (size,)))  # type: ignore[return-value]
    read = [split_tag(tag, encoding) for tag in tags]
    wrong = [tag for tag, one in zip(tags, read, strict=True) if one is None]
    if wrong:
        raise ConfigError(f"'{wrong[0]}' is no tag of spans in {encoding.upper()}: set spans to what the tags are.")
    known, outside = [one for one in read if one], Tag(OUTSIDE, "")
    pairs = [not may_follow(before, after, encoding) for before, after in product(known, repeat=2)]
    return (
        torch.tensor(pairs, dtype=torch.bool).view(size, size),
        torch.tensor([not may_follow(outside, tag, encoding) for tag in known]),
        torch.tensor([not may_follow(tag, outside, encoding) for tag in known]),
    )


def _tags(targets: Items | None) -> Ids:
    if not isinstance(targets, Ids):
        raise ShapeError("This output needs targets that are Ids, a tag a token.")
    return targets
