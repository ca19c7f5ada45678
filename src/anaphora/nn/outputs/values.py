"""Outputs over real vectors: a mixture density, or the expected vector; and flags beside them, each yes or no.

Targets are ``Values`` of D numbers and then F flags, 1 or 0: whether a stroke ends after a point, whether a sequence
does. The loss is -ln p(vector) - ln p(flags). A new output is a class here and a name in ``AnyValueOutput``.
"""

from abc import ABC, abstractmethod
from typing import Annotated, Literal, NamedTuple

import torch
from pydantic import Field
from torch import Tensor, nn

from anaphora.batch import NO_SUPERVISION, Items, Supervision, Values
from anaphora.config import MAX_UNITS, Config, by_kind_or
from anaphora.errors import ShapeError
from anaphora.kernels.losses import label_loss, squared_error
from anaphora.kernels.mixture import MixtureShape, bias_mixture, draw, mean, mixture_log_probs, mixture_loss, mixture_of
from anaphora.kernels.tensor_backends import pad_rows
from anaphora.nn.device import array_of, device_of
from anaphora.nn.weights import Layer, Start, Weights, project, projection_matrices
from anaphora.protocols import Array, Loss


class ValuePredictions(NamedTuple):
    """Prediction of each vector of a batch, and the probability of the true one, as arrays; padding has any value."""

    means_BTD: Array
    log_probs_BT: Array | None
    """ln of the density at the true vector; None for an output without a density."""
    flag_log_probs_BT: Array
    """ln of the probability of all true flags."""


class Draws(NamedTuple):
    """Random numbers for one vector of each row, as arrays."""

    component_N: Array
    """In [0, 1)."""
    normal_ND: Array
    flags_NF: Array
    """In [0, 1)."""


class ValueOutput(Layer, ABC):
    """Predictions of vectors and flags, from states."""

    def __init__(self, parameters: int, width: int, size: int, flags: int) -> None:
        """``parameters`` of the density of a vector, ``width`` of the states, D and F."""
        super().__init__()
        self.size, self.flags = size, flags
        matrices = projection_matrices("values", parameters, width, True)
        self.weights = Weights(matrices | projection_matrices("flags", flags, width, True))

    def loss(self, states_TBH: Tensor, targets: Items | None, supervision: Supervision = NO_SUPERVISION) -> Loss:
        """Return the summed loss, one prediction a vector; ShapeError for targets of another kind."""
        values = self._values(targets)
        open_TB = values.mask_BT.T
        targets_NX = values.values_BTD.transpose(0, 1)[open_TB]
        weights_B = supervision.weights_B
        weights_N = None if weights_B is None else weights_B.expand(open_TB.shape)[open_TB]
        parameters_NP, logits_NF = self._outputs(states_TBH[open_TB])
        of_vectors = self.vector_loss(parameters_NP, targets_NX[:, : self.size], weights_N)
        of_flags = label_loss(logits_NF, targets_NX[:, self.size :], weights_N)
        return Loss(of_vectors + of_flags, len(targets_NX))

    def predict(self, states_TBH: Tensor, targets: Items | None) -> ValuePredictions:
        """Predict vectors where ``targets`` are true; each row has the same bits in any batch."""
        values = self._values(targets)
        targets_BTX = values.values_BTD
        parameters_NP, logits_NF = self._steady_outputs(states_TBH.transpose(0, 1).flatten(0, 1))
        targets_NX = pad_rows(targets_BTX.flatten(0, 1).double(), 0)
        signs_NF = 2 * targets_NX[:, self.size :] - 1
        of_flags_N = nn.functional.logsigmoid(signs_NF * logits_NF).sum(1)
        rows, count = targets_BTX.shape[:2], targets_BTX.shape[:2].numel()
        log_probs_N = self.log_probs(parameters_NP, targets_NX[:, : self.size])
        return ValuePredictions(
            array_of(self.means(parameters_NP)[:count].view(*rows, self.size)),
            None if log_probs_N is None else array_of(log_probs_N[:count].view(rows)),
            array_of(of_flags_N[:count].view(rows)),
        )

    def draw(self, states_NH: Array, draws: Draws, bias: float) -> Array:
        """Return a vector and its flags for each row, N x (D + F); each row has the same bits in any batch.

        A higher ``bias`` draws nearer to the most probable: as weights of Gaussians, the probabilities of a flag and of
        its absence are raised to the power 1 + bias.
        """
        device = device_of(self)
        parameters_NP, logits_NF = self._steady_outputs(torch.from_numpy(states_NH).to(device))
        component_N, normal_ND, flags_NF = (pad_rows(torch.from_numpy(numbers).to(device), 0) for numbers in draws)
        vectors_ND = self.vectors(parameters_NP, component_N, normal_ND, bias)
        flags_NF = flags_NF < torch.sigmoid((1 + bias) * logits_NF)
        return array_of(torch.cat([vectors_ND, flags_NF.double()], 1)[: len(states_NH)])

    @abstractmethod
    def vector_loss(self, parameters_NP: Tensor, targets_ND: Tensor, weights_N: Tensor | None) -> Tensor:
        """Return the summed loss of vectors, a scalar."""

    @abstractmethod
    def log_probs(self, parameters_NP: Tensor, targets_ND: Tensor) -> Tensor | None:
        """ln of the density at each vector; None without a density."""

    @abstractmethod
    def means(self, parameters_NP: Tensor) -> Tensor:
        """Return the expected vectors, N x D."""

    @abstractmethod
    def vectors(self, parameters_NP: Tensor, component_N: Tensor, normal_ND: Tensor, bias: float) -> Tensor:
        """Return vectors of the density, N x D."""

    def _outputs(self, states_XH: Tensor) -> tuple[Tensor, Tensor]:
        """Return the parameters of vectors and the scores of flags."""
        weights = self.weights.tensors()
        return project(weights, "values", states_XH), project(weights, "flags", states_XH)

    def _steady_outputs(self, states_NH: Tensor) -> tuple[Tensor, Tensor]:
        """Return the parameters and scores in double precision, with rows of zeros behind them.

        Several functions of torch round the last numbers of a run otherwise than the rest: see ``pointwise.py``.
        """
        parameters_NP, logits_NF = (pad_rows(block.double(), 0) for block in self._outputs(states_NH))
        return parameters_NP, logits_NF

    def _values(self, targets: Items | None) -> Values:
        width = self.size + self.flags
        if not isinstance(targets, Values) or targets.values_BTD.shape[2] != width:
            raise ShapeError(
                f"This output needs targets that are Values of {self.size} numbers and {self.flags} flags."
            )
        return targets


class MixtureDensity(Config):
    """A mixture of Gaussians (Bishop 1994); of two dimensions, such as a pen has, each correlated (Graves 2013)."""

    kind: Literal["mixture"] = "mixture"
    components: int = Field(20, ge=1, le=MAX_UNITS)
    """Number of Gaussians."""
    min_deviation: float = Field(0.01, gt=0)
    """Least standard deviation of a Gaussian, in standard deviations of the data."""

    def build(self, width: int, size: int, flags: int) -> ValueOutput:
        """Return the layer over states of ``width``, for vectors of ``size``."""
        return MixtureOutput(MixtureShape(self.components, size, size == 2, self.min_deviation), width, flags)


class MixtureOutput(ValueOutput):
    """A mixture density."""

    def __init__(self, shape: MixtureShape, width: int, flags: int) -> None:
        """``shape`` of the densities, ``width`` of the states, F."""
        super().__init__(shape.width, width, shape.size, flags)
        self.shape = shape

    def initialise(self, start: Start, generator: torch.Generator) -> None:
        """Means start apart from each other, so that components differ."""
        super().initialise(start, generator)
        weights, (before, means, *_) = self.weights.tensors(), self.shape.blocks
        with torch.no_grad():
            weights["values.bias"][before : before + means].normal_(0, 1, generator=generator)

    def vector_loss(self, parameters_NP: Tensor, targets_ND: Tensor, weights_N: Tensor | None) -> Tensor:
        """-ln p."""
        return mixture_loss(parameters_NP, targets_ND, self.shape, weights_N)

    def log_probs(self, parameters_NP: Tensor, targets_ND: Tensor) -> Tensor:
        """Of the mixture."""
        return mixture_log_probs(mixture_of(parameters_NP, self.shape), targets_ND)

    def means(self, parameters_NP: Tensor) -> Tensor:
        """Of the mixture."""
        return mean(mixture_of(parameters_NP, self.shape))

    def vectors(self, parameters_NP: Tensor, component_N: Tensor, normal_ND: Tensor, bias: float) -> Tensor:
        """Drawn from the mixture, biased (Graves 2013, section 5.4)."""
        return draw(bias_mixture(mixture_of(parameters_NP, self.shape), bias), component_N, normal_ND)


class SquaredError(Config):
    """The expected vector, trained by squared error."""

    kind: Literal["squared-error"] = "squared-error"

    def build(self, width: int, size: int, flags: int) -> ValueOutput:
        """Return the layer over states of ``width``, for vectors of ``size``."""
        return SquaredErrorOutput(size, width, size, flags)


class SquaredErrorOutput(ValueOutput):
    """The expected vector."""

    def vector_loss(self, parameters_NP: Tensor, targets_ND: Tensor, weights_N: Tensor | None) -> Tensor:
        """Half the squared error."""
        return squared_error(parameters_NP, targets_ND, weights_N)

    def log_probs(self, parameters_NP: Tensor, targets_ND: Tensor) -> None:
        """There is no density."""

    def means(self, parameters_NP: Tensor) -> Tensor:
        """Return the prediction."""
        return parameters_NP

    def vectors(self, parameters_NP: Tensor, component_N: Tensor, normal_ND: Tensor, bias: float) -> Tensor:
        """Return the prediction: there is nothing to draw from."""
        return parameters_NP


AnyValueOutput = Annotated[MixtureDensity | SquaredError, Field(discriminator="kind"), by_kind_or("mixture")]
"""The output as a recipe names it: ``"squared-error"``, or ``{kind = "mixture", components = 20}``."""
