"""Outputs over real vectors: a mixture density, or the expected vector; and flags beside them, each yes or no.

Targets are ``Values`` of D numbers and then F flags, 1 or 0: whether a stroke ends after a point, whether a sequence
does. The loss is -ln p(vector) - ln p(flags). A new output is a class here and a name in ``AnyValueOutput``.
"""

from abc import abstractmethod
from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor

from anaphora.batch import NO_SUPERVISION, Items, Supervision
from anaphora.config import Config, by_kind_or
from anaphora.kernels.densities import MixtureShape, VectorOutput
from anaphora.kernels.losses import label_loss, squared_error
from anaphora.kernels.mixture import mixture_loss
from anaphora.nn.device import array_of, device_of
from anaphora.nn.weights import Layer, Start, Weights, project, projection_matrices
from anaphora.options import MAX_UNITS
from anaphora.protocols import Array, Loss


class ValueOutput(Layer, VectorOutput):
    """Predictions of vectors and flags, from states."""

    def __init__(self, parameters: int, width: int, size: int, flags: int) -> None:
        """``parameters`` of the density of a vector, ``width`` of the states, D and F."""
        super().__init__()
        self.size, self.flags = size, flags
        matrices = projection_matrices("values", parameters, width, True)
        self.weights = Weights(matrices | projection_matrices("flags", flags, width, True))

    def loss(self, states_TBH: Tensor, targets: Items | None, supervision: Supervision = NO_SUPERVISION) -> Loss:
        """Return the summed loss, one prediction a vector; ShapeError for targets of another kind."""
        values = self.check(targets)
        open_TB = values.mask_BT.T
        targets_NX = values.values_BTD.transpose(0, 1)[open_TB]
        weights_N = supervision.weights_of(open_TB, states_TBH)
        parameters_NP, logits_NF = self._outputs(states_TBH[open_TB])
        of_vectors = self.vector_loss(parameters_NP, targets_NX[:, : self.size], weights_N)
        of_flags = label_loss(logits_NF, targets_NX[:, self.size :], weights_N)
        return Loss(of_vectors + of_flags, len(targets_NX))

    def parameters_of(self, states_NH: Array | Tensor) -> list[Array]:
        with torch.no_grad():
            outputs = self._outputs(torch.as_tensor(states_NH, device=device_of(self)))
        return [array_of(block.double()) for block in outputs]

    @abstractmethod
    def vector_loss(self, parameters_NP: Tensor, targets_ND: Tensor, weights_N: Tensor | None) -> Tensor:
        """Return the summed loss of vectors, a scalar."""

    def _outputs(self, states_XH: Tensor) -> tuple[Tensor, Tensor]:
        """Return the parameters of vectors and the scores of flags."""
        weights = self.weights.tensors()
        return project(weights, "values", states_XH), project(weights, "flags", states_XH)


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

    shape: MixtureShape

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


AnyValueOutput = Annotated[MixtureDensity | SquaredError, Field(discriminator="kind"), by_kind_or("mixture")]
"""The output as a recipe names it: ``"squared-error"``, or ``{kind = "mixture", components = 20}``."""
