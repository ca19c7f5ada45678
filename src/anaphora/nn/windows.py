"""Bodies of language models with a fixed context and no state.

Each gives a state for every place from the vectors of the ``steps`` words that end there; x_LD below is one row of
vectors, W and C matrices of the papers' shapes.

    feed-forward   tanh(H [x_{t-n+1}; ..; x_t] + d), and the vectors themselves beside it with direct connections
                   (Bengio et al. 2003, equation 1)
    log-bilinear   sum_i C_i x_{t-i}, with diagonal C_i or full ones (Mnih and Hinton 2007, section 3)
    convolution    layers of tanh(sum_i W_i h_{t-i} + b), each seeing no word after its place

With ``layer_norm``, what stands under a tanh is normalised before its bias is added (Ba, Kiros and Hinton 2016,
equation 4).

Nothing here goes from step to step, so all but the products is left to autograd; these give every row the same bits in
any batch.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field
from torch import Tensor

from anaphora.config import ByKind, Config
from anaphora.nn.dropout import Rate
from anaphora.nn.operations import TensorOperations
from anaphora.nn.randomness import apply_dropout
from anaphora.nn.weights import Layer, Matrix, Weights
from anaphora.options import MAX_LAYERS, MAX_LENGTH, MAX_UNITS


class WindowConfig(Config, ABC):
    """A body that reads a fixed number of words."""

    kind: str
    """The kind's name."""
    dropout: Rate = 0.0
    """Dropout probability of the state."""
    words: int
    """Number of words it sees."""

    @property
    def steps(self) -> int:
        """Number of words that a state depends on."""
        return self.words

    @abstractmethod
    def width(self, embedding: int) -> int:
        """Return the width of a state."""

    @abstractmethod
    def matrices(self, embedding: int) -> dict[str, Matrix]:
        """Return its weights."""

    @abstractmethod
    def states(self, ops: Any, x_BLD: Any, weights: Mapping[str, Tensor]) -> Any:
        """Return the states of the last L - steps + 1 places of every row, B x T x width.

        ``ops`` are those of ``operations.py``, or the graph that lists them instead (``models.description.graph``).
        """


class Feedforward(WindowConfig):
    """A hidden layer over the words side by side."""

    kind: Literal["feed-forward"] = "feed-forward"
    words: int = Field(5, ge=1, le=MAX_LENGTH)
    """Number of words it sees; the n-grams it could memorise have one more."""
    size: int = Field(100, ge=1, le=MAX_UNITS)
    """Units of the hidden layer."""
    direct: bool = False
    """True if the output sees the words' vectors too."""
    layer_norm: bool = False
    """True if H x is normalised before d is added."""
    bias: bool = True
    """True if d is there."""

    def width(self, embedding: int) -> int:
        """Return the hidden units, and the words' vectors with direct connections."""
        return self.size + (self.words * embedding if self.direct else 0)

    def matrices(self, embedding: int) -> dict[str, Matrix]:
        """H, and perhaps its gain and d."""
        return _layer_matrices("hidden", self.size, self.words * embedding, self.layer_norm, self.bias)

    def states(self, ops: Any, x_BLD: Any, weights: Mapping[str, Tensor]) -> Any:
        """tanh(H x + d), and x with direct connections."""
        x_BTX = ops.add("windows", x_BLD, words=self.words)
        h_BTH = _layer(ops, "hidden", x_BTX, weights)
        return ops.join([h_BTH, x_BTX]) if self.direct else h_BTH


class LogBilinear(WindowConfig):
    """A prediction of the next word's vector that is linear in those before it."""

    kind: Literal["log-bilinear"] = "log-bilinear"
    words: int = Field(5, ge=1, le=MAX_LENGTH)
    """Number of words it sees."""
    diagonal: bool = False
    """True if each C_i is diagonal."""

    def width(self, embedding: int) -> int:
        """Return the width of a vector, so that the output can be tied."""
        return embedding

    def matrices(self, embedding: int) -> dict[str, Matrix]:
        """Return every C_i side by side; of diagonal ones, the diagonals."""
        if self.diagonal:
            return {"predict.weight": Matrix(self.words, embedding)}
        return {"predict.weight": Matrix(embedding, self.words * embedding)}

    def states(self, ops: Any, x_BLD: Any, weights: Mapping[str, Tensor]) -> Any:
        """sum_i C_i x_{t-i}."""
        if self.diagonal:
            return ops.add("diagonal_windows", x_BLD, weight=ops.named(weights["predict.weight"]))
        return ops.project(weights, "predict", ops.add("windows", x_BLD, words=self.words))


class Convolution(WindowConfig):
    """Causal convolutions on each other."""

    kind: Literal["convolution"] = "convolution"
    layers: int = Field(2, ge=1, le=MAX_LAYERS)
    """Number of layers."""
    words: int = Field(3, ge=1, le=MAX_LENGTH)
    """Number of positions of the layer below that each sees."""
    size: int = Field(200, ge=1, le=MAX_UNITS)
    """Units of a layer."""
    layer_norm: bool = False
    """True if what every layer sums up is normalised before b is added."""
    bias: bool = True
    """True if every layer has b."""

    @property
    def steps(self) -> int:
        """Return the number of words that the top layer sees through those below."""
        return self.layers * (self.words - 1) + 1

    def width(self, embedding: int) -> int:
        """Return the units of the top layer."""
        return self.size

    def matrices(self, embedding: int) -> dict[str, Matrix]:
        """W of every layer, and perhaps its gain and b."""
        found: dict[str, Matrix] = {}
        for layer in range(self.layers):
            below = embedding if layer == 0 else self.size
            found |= _layer_matrices(f"layer{layer}", self.size, self.words * below, self.layer_norm, self.bias)
        return found

    def states(self, ops: Any, x_BLD: Any, weights: Mapping[str, Tensor]) -> Any:
        """Layer on layer, each shorter than the one below by what it cannot see whole."""
        for layer in range(self.layers):
            x_BLD = _layer(ops, f"layer{layer}", ops.add("windows", x_BLD, words=self.words), weights)
        return x_BLD


AnyWindow = ByKind[Feedforward | LogBilinear | Convolution]
"""A body as a recipe names it: ``{kind = "feed-forward", words = 5}``."""


def _layer_matrices(name: str, size: int, width: int, layer_norm: bool, bias: bool) -> dict[str, Matrix]:
    """Return the weights of ``_layer`` over vectors of ``width`` numbers."""
    found = {f"{name}.weight": Matrix(size, width)}
    if layer_norm:
        found[f"{name}.gain"] = Matrix(size, gain=True)
    if bias:
        found[f"{name}.bias"] = Matrix(size)
    return found


def _layer(ops: Any, name: str, x_BTX: Any, weights: Mapping[str, Tensor]) -> Any:
    """tanh(W x + b), or with a gain tanh(gain * normal(W x) + b)."""
    gain = weights.get(f"{name}.gain")
    if gain is None:
        return ops.add("tanh", ops.project(weights, name, x_BTX))
    a_BTH = ops.project({f"{name}.weight": weights[f"{name}.weight"]}, name, x_BTX)
    scaled = ops.add("normalize", a_BTH, gain=ops.named(gain), bias=ops.named(weights.get(f"{name}.bias")))
    return ops.add("tanh", scaled)


class WindowBody(Layer):
    """A body with its weights."""

    def __init__(self, config: WindowConfig, embedding: int) -> None:
        """``embedding`` numbers of a vector."""
        super().__init__()
        self.config, self.width = config, config.width(embedding)
        self.weights = Weights(config.matrices(embedding))

    def forward(self, x_BLD: Tensor) -> Tensor:
        """Return the states of the last L - steps + 1 places of every row, B x T x width."""
        states_BTH = self.config.states(TensorOperations(), x_BLD, self.weights.tensors())
        return apply_dropout(states_BTH, "window", self.config.dropout, self.training)
