"""Networks that answer from a sequence without a search: classifiers and taggers."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from anaphora.batch import Batch, Ids, Items, Labels, Values
from anaphora.inference.machinery import Array
from anaphora.inference.operations import Graph, Weights


class Classifier:
    """A class for each sequence, or any number of labels."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        self._graph, self.names = Graph(weights, data["graph"]), tuple(data["names"])
        self.several = bool(data["thresholds"])
        """True if an example may have several labels."""
        self.thresholds = weights[data["thresholds"]].astype(np.float64)
        """The least probability at which each label is predicted, where there may be several."""

    def predict(self, batch: Batch) -> Labels:
        """Return the probability of each class, B x C."""
        scores_BC = self._graph.read(batch.inputs)[0]["scores"].astype(np.float64)
        if self.several:
            return Labels(1 / (1 + np.exp(-scores_BC)))
        q_BC = np.exp(scores_BC - scores_BC.max(1, keepdims=True))
        return Labels(q_BC / q_BC.sum(1, keepdims=True))


class Tagger:
    """A tag for each step of a sequence, or any number of labels."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        self._graph, self._several = Graph(weights, data["graph"]), data["several"]
        self._chain = {name: with_barred(weights[one["weight"]], one["barred"]) for name, one in data["chain"].items()}

    def predict(self, batch: Batch) -> Items:
        """Return the tags of each step, in the form of the targets."""
        found, lengths_B = self._graph.read(batch.inputs)
        scores_TBC = found["scores"]
        if self._several:
            return Values((scores_TBC > 0).astype(np.float32).swapaxes(0, 1), lengths_B)
        tags_TB = best_tags(scores_TBC, lengths_B, **self._chain) if self._chain else scores_TBC.argmax(2)
        return Ids(tags_TB.T, lengths_B)


def best_tags(scores_TBC: Array, lengths_B: Array, transitions: Array, first: Array, last: Array) -> Array:
    """Return the most probable tags of each row (Viterbi 1967), T x B; 0 in the padding.

    Of equally probable sequences the one with lower tag numbers from its end.
    """
    best_BC, sources = first + scores_TBC[0].astype(np.float64), list[Array]()
    open_TB = np.arange(len(scores_TBC))[:, None] < lengths_B
    for scores_BC, open_B in zip(scores_TBC[1:], open_TB[1:], strict=True):
        through_BCC = best_BC[:, :, None] + transitions
        sources.append(through_BCC.argmax(1))
        best_BC = np.where(open_B[:, None], through_BCC.max(1) + scores_BC, best_BC)
    tag_B, tags_TB = (best_BC + last).argmax(1), np.zeros(open_TB.shape, np.int64)
    for step in range(len(tags_TB) - 1, -1, -1):
        tags_TB[step] = np.where(open_TB[step], tag_B, 0)
        if step:
            before_B = sources[step - 1][np.arange(len(tag_B)), tag_B]
            tag_B = np.where(open_TB[step], before_B, tag_B)
    return tags_TB


def with_barred(scores: Array, barred: Any) -> Array:
    """Return scores in float64, minus infinity at the flat places that are barred."""
    found = scores.astype(np.float64)
    found.flat[barred] = -np.inf
    return found
