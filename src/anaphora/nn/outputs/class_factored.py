"""The output in two steps: p(word) = p(its class) p(word among its class) (Goodman 2001; Mikolov et al. 2011)."""

import math
from itertools import accumulate
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from anaphora.errors import ConfigError
from anaphora.kernels.outputs.class_factored import Classes, class_factored_log_probs, class_factored_loss
from anaphora.nn.counts import Counts, by_frequency
from anaphora.nn.outputs.output import Predictions, WordsConfig, WordsOutput, affine
from anaphora.options import MAX_COUNT
from anaphora.protocols import VocabularyInfo


class ClassFactored(WordsConfig):
    """A softmax over classes of words, then one over the words of the class."""

    kind: Literal["class-factored"] = "class-factored"
    classes: int = Field(0, ge=0, le=MAX_COUNT)
    """Number of classes; 0 takes the square root of the size of the vocabulary, rounded up."""
    bins: Literal["unigram", "square-root"] = "square-root"
    """Balance of classes: by word frequency, or its square root, which gives fewer words to the class of the
    rarest."""

    def build(self, embedding: nn.Embedding | None, width: int, text: VocabularyInfo) -> "ClassFactoredOutput":
        """Return the layer.

        ConfigError where the number of classes leaves nothing to choose, or nothing among a class.
        """
        if self.classes and not 1 < self.classes < text.size:
            raise ConfigError(f"output.classes should be 0 or from 2 to {text.size - 1}, but is {self.classes}.")
        return ClassFactoredOutput(self, embedding, width, text)


class ClassFactoredOutput(WordsOutput):
    """Two softmaxes; the rows of its matrix are words in the order of their ids, whatever their class.

    Words that come to the vocabulary later are in the last class, and no other word changes its own.
    """

    def __init__(self, config: ClassFactored, embedding: nn.Embedding | None, width: int, text: VocabularyInfo) -> None:
        super().__init__(config.tied, config.bias, embedding, width, text)
        classes = config.classes or math.ceil(text.size**0.5)
        self._bins = config.bins
        self.class_weight = nn.Parameter(torch.zeros(classes, width))
        self.class_bias = nn.Parameter(torch.zeros(classes if config.bias else 0))
        self.counts = Counts(text.size)

    @property
    def classes(self) -> Classes:
        return self.counts.derive(self._classes)

    def _classes(self, masses_V: Tensor) -> Classes:
        masses_V = masses_V.double().masked_fill(self.counts.later, 0)
        return Classes.of(
            bin_by_mass(masses_V.sqrt() if self._bins == "square-root" else masses_V, len(self.class_weight))
        )

    def sum(self, predictions: Predictions) -> Tensor:
        states_NH, ids_N, weights_N, *_ = predictions
        return class_factored_loss(
            states_NH, self.class_weight, self.class_bias, self.weight, self.bias, ids_N, self.classes, weights_N
        )

    def log_probs(self, states_NH: Tensor) -> Tensor:
        """ln p of the class of every word, and of the word among its class."""
        class_logits_NC = affine(states_NH, self.class_weight, self.class_bias)
        return class_factored_log_probs(class_logits_NC, self.logits(states_NH), self.classes)


def bin_by_mass(masses_V: Tensor, classes: int) -> Tensor:
    """The class of every unit: from the heaviest on, a class is full when all so far have their part of the mass.

    A unit that is heavier than a share is its own class, and every class gets a unit. Units without mass are in
    the last class, and change nothing for the others.
    """
    order_V = by_frequency(masses_V)
    ordered = masses_V[order_V].tolist()
    sums = list(accumulate(ordered))  # one after the other, so that they round alike for ever
    found, current, left = [], 0, sum(mass > 0 for mass in ordered)
    for mass, held in zip(ordered, sums, strict=True):
        found.append(current)
        left -= mass > 0
        full = held * classes >= (current + 1) * sums[-1] or left < classes - current
        current = min(current + full, classes - 1)
    class_V = torch.empty_like(order_V)
    class_V[order_V] = torch.tensor(found, device=class_V.device)
    return class_V
