"""Output layers: log-probabilities of words from states."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from anaphora.batch import Ids
from anaphora.errors import ShapeError
from anaphora.inference.weights import Weights, affine, freeze
from anaphora.kernels.compiled.library import Array
from anaphora.kernels.compiled.softmax import log_softmax_rows, softmax_rows
from anaphora.kernels.fixed_norm import FixedNorm
from anaphora.kernels.linear import linear
from anaphora.kernels.log_probs import Attended, CandidateLayer, OutputLayer, locate_candidates, with_copies
from anaphora.kernels.prepared import array_of
from anaphora.kernels.search_step import Scores, SearchedNetwork, is_possible
from anaphora.kernels.word_tables import Words


class SoftmaxOutput(OutputLayer):
    """One softmax over all words: log softmax(W h + b), where W and h may have a fixed norm."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        self.weight_VH, self.bias_V = weights[data["weight"]], weights[data["bias"]]
        self.norm = FixedNorm(**data.get("norm", {}))
        if lexical := data.get("lexical_weight"):
            self.weight_VH = freeze(np.concatenate([self.weight_VH, weights[lexical]], 1))
        if self.norm.radius:
            self.weight_VH = freeze(self.norm(self.weight_VH))
        self.size = len(self.weight_VH)
        if self.bias_V.shape not in ((0,), (self.size,)) or self.bias_V.dtype != np.float32:
            raise ShapeError(f"the bias of {self.size} words should have as many numbers, not {self.bias_V.shape}.")
        if data["never"]:
            self.bias_V = self.bias_V.copy() if self.bias_V.size else np.zeros(self.size, np.float32)
            self.bias_V[data["never"]] = -np.inf

    def log_probs(self, states_NH: Array) -> Array:
        return log_softmax(affine(self.norm(states_NH), self.weight_VH, self.bias_V))

    def picked_log_probs(self, states_RH: Array, rows_E: Array, ids_E: Array) -> Array:
        z_RV = linear(self.norm(states_RH), self.weight_VH)
        right_E = z_RV[rows_E, ids_E] + (self.bias_V[ids_E] if self.bias_V.size else 0)
        tops_R, sums_R, *_ = softmax_rows(False, z_RV, self.bias_V, np.zeros(len(z_RV), np.int64), None, 0.0)
        found: Array = right_E - (tops_R + np.log(sums_R))[rows_E]
        return found

    def shortlist(self, candidates: Ids) -> "CandidateOutput":
        words_U, located = locate_candidates(candidates, self.bias_V, self.size)
        return CandidateOutput(freeze(self.weight_VH[words_U]), located, self.size, self.norm)

    def scores(self) -> Scores:
        return Scores(self.weight_VH, self.bias_V, norm=self.norm)


class PointerGeneratorOutput(OutputLayer):
    """A softmax over all words, mixed with the attention on those of the source."""

    copies: ClassVar[bool] = True

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        self._words = SoftmaxOutput(weights, data)
        self.size = self._words.size

    def log_probs(self, states_NH: Array, attended: Attended | None = None) -> Array:
        assert attended
        return with_copies(self._words.log_probs(states_NH), attended)


class AdaptiveOutput(OutputLayer):
    """A head over frequent words and clusters, and a tail for each cluster: see ``kernels/outputs/adaptive.py``."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        def layer(name: str) -> tuple[Array, Array]:
            bias = f"{data['weights']}{name}.bias"
            return weights[f"{data['weights']}{name}.weight"], weights[bias if bias in weights else ""]

        self._head, tails = layer("head"), [f"tail{n}" for n in range(data["tails"])]
        self._tails = [(weights[f"{data['weights']}{name}.project"], *layer(name)) for name in tails]
        self._ranks_V, self.size = np.array(data["ranks"]), len(data["ranks"])

    def log_probs(self, states_NH: Array) -> Array:
        head_NV = log_softmax(affine(states_NH, *self._head))
        known = head_NV.shape[1] - len(self._tails)
        found = [head_NV[:, :known]]
        for n, (project, weight, bias) in enumerate(self._tails, known):
            found.append(log_softmax(affine(linear(states_NH, project), weight, bias)) + head_NV[:, n, None])
        return np.concatenate(found, 1)[:, self._ranks_V]


class ClassFactoredOutput(OutputLayer):
    """p(its class) p(word among its class): see ``kernels/outputs/class_factored.py``."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        self._words, self._classes = (weights[data["weight"]], weights[data["bias"]]), np.array(data["classes"])
        self._of_classes = weights[data["class_weight"]], weights[data["class_bias"]]
        order_V = np.argsort(self._classes, kind="stable")
        self._members = np.split(order_V, np.bincount(self._classes).cumsum()[:-1])
        self.size = len(self._classes)

    def log_probs(self, states_NH: Array) -> Array:
        z_NV = affine(states_NH, *self._words)
        for words in self._members:
            z_NV[:, words] = log_softmax(z_NV[:, words])
        return z_NV + log_softmax(affine(states_NH, *self._of_classes))[:, self._classes]


class HierarchicalOutput(OutputLayer):
    """A path through a binary tree: see ``kernels/outputs/hierarchical.py``."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        self._nodes = weights[data["nodes"]], weights[data["bias"]]
        self._levels, self._leaf_V = [np.array(level) for level in data["levels"]], np.array(data["leaves"])
        self.size = len(self._leaf_V)

    def log_probs(self, states_NH: Array) -> Array:
        z_NI = affine(states_NH, *self._nodes)
        turned_NI2 = -np.logaddexp(0, np.stack([-z_NI, z_NI], 2))
        above_NL, found, first = np.zeros((len(z_NI), 1), np.float32), list[Array](), 0
        for inner_L in self._levels:
            turned_NL2 = turned_NI2[:, first : first + len(inner_L)]
            above_NL = (above_NL[:, inner_L, None] + turned_NL2).reshape(len(z_NI), -1)
            found.append(above_NL)
            first += len(inner_L)
        return np.concatenate(found, 1)[:, self._leaf_V]


class CandidateOutput(CandidateLayer):
    """A softmax over candidates: see ``nn/outputs/candidates.py``."""

    def log_probs(self, states_NH: Array) -> Array:
        """N x V: log-probabilities that sum to 1 over the words of the row's sentence; minus infinity for all others.

        Rows ``b * K .. b * K + K - 1`` belong to sentence b.
        """
        ids_BC = self.candidates.ids_BC
        ids_NC = ids_BC.repeat(len(states_NH) // len(ids_BC), 0)
        found_NW = np.full((len(states_NH), self.size + 1), -np.inf, np.float32)
        np.put_along_axis(found_NW, ids_NC, self.narrow_log_probs(states_NH), 1)
        return np.ascontiguousarray(found_NW[:, : self.size])

    def narrow_log_probs(self, states_NH: Array) -> Array:
        """N x C: those of the words of the row's sentence alone, in their order; minus infinity in the padding."""
        places_BC, bias_BC, _ = self.candidates
        z_BKU = linear(self.norm(states_NH), self.weight_UH).reshape(len(places_BC), -1, len(self.weight_UH))
        z_BKC = np.take_along_axis(z_BKU, places_BC[:, None], 2) + bias_BC[:, None]
        return log_softmax(z_BKC.reshape(-1, z_BKC.shape[2]))


def log_softmax(z_NV: Array) -> Array:
    """log softmax(z) of every row; ``z_NV`` may be used up."""
    return log_softmax_rows(np.ascontiguousarray(z_NV))


_KINDS = {
    "softmax": SoftmaxOutput,
    "adaptive": AdaptiveOutput,
    "class-factored": ClassFactoredOutput,
    "hierarchical": HierarchicalOutput,
    "pointer-generator": PointerGeneratorOutput,
}


def output_of(weights: Weights, data: Mapping[str, Any]) -> OutputLayer:
    """Return the output layer that data describes."""
    return _KINDS[data["kind"]](weights, data)  # type: ignore[abstract]


class NetworkStepper:
    """A network one step at a time, for search; it computes with arrays, or with tensors (``models.searches``)."""

    def __init__(self, model: Any) -> None:
        """The model is read, never changed."""
        self._model = model
        self.size, _, self.unk, self.bos, self.eos = model.symbols

    def words(self, ids: Array) -> Any:
        """Return words that a step reads."""
        return self._model.words(ids)

    def weights_of(self, layers: Any) -> Mapping[str, Any]:
        """Return the weights of a step by name."""
        found: Mapping[str, Any] = layers.weights
        return found

    def lower_layers(
        self, layers: Any, memory: Mapping[str, Any], first: Mapping[str, Any], output: Any
    ) -> SearchedNetwork | None:
        """Return a network as a search in C takes it; ``first`` is the initial state, B x width by carried signal.

        None where the steps cannot be taken in C: where parts have an obstacle, products are not made in C, or words
        are not looked up in a table and scored by one softmax. ``layers`` have the program of a step and its weights;
        the numbers are arrays, or tensors on the CPU.
        """
        scores = output.scores()
        if scores is None or not first or not is_possible(layers.program, scores.weight_UH):
            return None
        words = self.words(np.full((len(next(iter(first.values()))), 1), self.bos))
        if not isinstance(words, Words):
            return None
        words = words._replace(ids_XB1=array_of(words.ids_XB1))
        read, state = ({name: array_of(block) for name, block in of.items()} for of in (memory, first))
        return SearchedNetwork(layers.program, self.weights_of(layers), read, state, words, scores, self.bos, self.eos)
