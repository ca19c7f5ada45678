"""Networks that answer from a sequence without a search: classifiers and taggers."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from anaphora.batch import Batch, Ids, Items, Labels, Values
from anaphora.inference.array_ops import sigmoid
from anaphora.inference.operations import Graph
from anaphora.inference.weights import Weights
from anaphora.kernels.compiled.library import Array
from anaphora.kernels.outputs.viterbi import best_tags


class Classifier:
    """A class for each sequence, or any number of labels."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        self.graph, self.names = Graph(weights, data["graph"]), tuple(data["names"])
        self.several = bool(data["thresholds"])
        """True if an example may have several labels."""
        self.thresholds = weights[data["thresholds"]].astype(np.float64)
        """The least probability at which each label is predicted, where there may be several."""

    def predict(self, batch: Batch) -> Labels:
        """Return the probability of each class, B x C."""
        return probabilities(self.graph.read(batch.inputs)[0]["scores"], self.several)


def probabilities(scores_BC: Array, several: bool) -> Labels:
    """Return the probability of each class, or of each of ``several`` labels; a row has the same bits in any batch."""
    scores_BC = scores_BC.astype(np.float64)
    if several:
        return Labels(sigmoid(scores_BC))
    q_BC = np.exp(scores_BC - scores_BC.max(1, keepdims=True))
    return Labels(q_BC / q_BC.sum(1, keepdims=True))


class Tagger:
    """A tag for each step of a sequence, or any number of labels."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        self.graph, self.several = Graph(weights, data["graph"]), data["several"]
        self._chain = {name: bar_scores(weights[one["weight"]], one["barred"]) for name, one in data["chain"].items()}

    def predict(self, batch: Batch) -> Items:
        """Return the tags of each step, in the form of the targets."""
        found, lengths_B = self.graph.read(batch.inputs)
        scores_TBC = found["scores"]
        if self.several:
            return Values((scores_TBC > 0).astype(np.float32).swapaxes(0, 1), lengths_B)
        tags_TB = best_tags(scores_TBC, lengths_B, **self._chain) if self._chain else scores_TBC.argmax(2)
        return Ids(tags_TB.T, lengths_B)


def bar_scores(scores: Array, barred: Any) -> Array:
    """Return scores in float64, minus infinity at the flat places that are ``barred``."""
    found = scores.astype(np.float64)
    found.flat[barred] = -np.inf
    return found
