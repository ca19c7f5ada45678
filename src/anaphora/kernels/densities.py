"""Densities of real vectors as arrays, in float64: mixtures of Gaussians (equations 1 to 7 of ``mixture.py``).

Beside a vector lie flags, each yes or no. No number depends on another row.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pi
from typing import Any, NamedTuple, Self

import numpy as np

from anaphora.batch import Items, Values
from anaphora.errors import ShapeError
from anaphora.kernels.compiled.library import Array

LARGEST = 4.0
"""R: correlations are within tanh(4) = 0.9993 of 0."""


@dataclass(frozen=True)
class MixtureShape:
    """Meaning of the parameters of a row."""

    components: int
    """K."""
    size: int
    """D, the numbers of a vector."""
    correlated: bool
    """True if the two dimensions of a vector are correlated within a component; D is 2 then."""
    min_deviation: float
    """No standard deviation is smaller."""

    @property
    def blocks(self) -> list[int]:
        """Return the numbers of parameters that are weights, means, deviations and correlations."""
        both = self.components * self.size
        return [self.components, both, both, self.components if self.correlated else 0]

    @property
    def width(self) -> int:
        """Parameters of a row."""
        return sum(self.blocks)


class Mixture(NamedTuple):
    """The mixtures of N rows."""

    log_weights_NK: Any
    means_NKD: Any
    log_deviations_NKD: Any
    """s."""
    r_NK: Any
    """atanh of the correlation; None without."""

    @classmethod
    def of(cls, parameters_NP: Array, shape: MixtureShape) -> Self:
        """Equations 1 to 3."""
        w_hat_NK, means, s_hat, r_hat_NK = np.split(parameters_NP, np.cumsum(shape.blocks)[:-1], 1)
        means_NKD, s_hat_NKD = (block.reshape(-1, shape.components, shape.size) for block in (means, s_hat))
        f, r_NK = log(shape.min_deviation), LARGEST * np.tanh(r_hat_NK / LARGEST) if shape.correlated else None  # 3
        return cls(_log_softmax(w_hat_NK), means_NKD, f + np.logaddexp(0, s_hat_NKD - f), r_NK)  # 1, 2

    @property
    def mean_ND(self) -> Array:
        """The mean of each row."""
        found: Array = (np.exp(self.log_weights_NK)[..., None] * self.means_NKD).sum(1)
        return found

    def biased(self, bias: float) -> Self:
        """Return mixtures of less spread (Graves 2013, equations 61 and 62)."""
        weights_NK = _log_softmax(self.log_weights_NK * (1 + bias))
        return self._replace(log_weights_NK=weights_NK, log_deviations_NKD=self.log_deviations_NKD - bias)

    def joint(self, targets_ND: Any, library: Any = np) -> tuple[Any, Any, Any]:
        """ln w + ln N, u and v, which is None without correlation; equations 4 to 6, in arrays of ``library``."""
        u_NKD = (targets_ND[:, None] - self.means_NKD) * library.exp(-self.log_deviations_NKD)  # 4
        joint_NK = self.log_weights_NK - self.log_deviations_NKD.sum(2) - 0.5 * log(2 * pi) * u_NKD.shape[2]
        if self.r_NK is None:
            return joint_NK - 0.5 * (u_NKD * u_NKD).sum(2), u_NKD, None
        u1_NK, u2_NK, cosh_NK = u_NKD[..., 0], u_NKD[..., 1], library.cosh(self.r_NK)
        v_NK = u2_NK * cosh_NK - u1_NK * library.sinh(self.r_NK)  # 5
        return joint_NK + library.log(cosh_NK) - 0.5 * (u1_NK * u1_NK + v_NK * v_NK), u_NKD, v_NK  # 6

    def log_probs(self, targets_ND: Array) -> Array:
        """ln p of each row; equations 4 to 7."""
        joint_NK, *_ = self.joint(targets_ND)
        top_N1 = joint_NK.max(1, keepdims=True)
        found: Array = np.log(np.exp(joint_NK - top_N1).sum(1)) + top_N1[:, 0]  # 7
        return found

    def draw(self, uniform_N: Array, normal_ND: Array) -> Array:
        """Return a vector of each row: a number in [0, 1) chooses its component, D of a standard normal its place."""
        passed_NK = np.exp(self.log_weights_NK).cumsum(1) <= uniform_N[:, None]
        rows_N, k_N = np.arange(len(uniform_N)), np.minimum(passed_NK.sum(1), passed_NK.shape[1] - 1)
        u_ND = normal_ND
        if self.r_NK is not None:
            r_N1 = self.r_NK[rows_N, k_N, None]
            u1_N1, u2_N1 = normal_ND[:, :1], normal_ND[:, 1:]
            u_ND = np.concatenate([u1_N1, np.tanh(r_N1) * u1_N1 + u2_N1 / np.cosh(r_N1)], 1)
        found: Array = self.means_NKD[rows_N, k_N] + np.exp(self.log_deviations_NKD[rows_N, k_N]) * u_ND
        return found


def _log_softmax(z_NK: Array) -> Array:
    z_NK = z_NK - z_NK.max(1, keepdims=True)
    found: Array = z_NK - np.log(np.exp(z_NK).sum(1, keepdims=True))
    return found


class ValuePredictions(NamedTuple):
    """Prediction of each vector of a batch, and the probability of the true one; padding has any value."""

    means_BTD: Array
    log_probs_BT: Array | None
    """ln of the density at the true vector; None for an output without a density."""
    flag_log_probs_BT: Array
    """ln of the probability of all true flags."""


class Draws(NamedTuple):
    """Random numbers for one vector of each row."""

    component_N: Array
    """Numbers in [0, 1)."""
    normal_ND: Array
    flags_NF: Array
    """Numbers in [0, 1)."""


class VectorOutput(ABC):
    """Predictions of vectors and flags, from states."""

    size: int
    """D."""
    flags: int
    """F."""
    shape: MixtureShape | None = None
    """Shape of the densities; None for an output of the expected vector alone."""

    @abstractmethod
    def parameters_of(self, states_NH: Any) -> Sequence[Array]:
        """Return the parameters of vectors and the scores of flags, in float64."""

    def predict(self, states_TBH: Any, targets: Items | None) -> ValuePredictions:
        """Predict vectors where ``targets`` are true; each row has the same bits in any batch."""
        targets_BTX = self.check(targets).values_BTD.astype(np.float64)
        parameters_NP, logits_NF = self.parameters_of(states_TBH.swapaxes(0, 1).reshape(-1, states_TBH.shape[2]))
        targets_NX, rows = targets_BTX.reshape(-1, self.size + self.flags), targets_BTX.shape[:2]
        of_flags_N = -np.logaddexp(0, (1 - 2 * targets_NX[:, self.size :]) * logits_NF).sum(1)
        means_ND, log_probs_BT = parameters_NP, None
        if self.shape:
            mixture = Mixture.of(parameters_NP, self.shape)
            means_ND = mixture.mean_ND
            log_probs_BT = mixture.log_probs(targets_NX[:, : self.size]).reshape(rows)
        return ValuePredictions(means_ND.reshape(*rows, self.size), log_probs_BT, of_flags_N.reshape(rows))

    def draw(self, states_NH: Array, draws: Sequence[Array], bias: float) -> Array:
        """Return a vector and its flags for each row, N x (D + F); each row has the same bits in any batch.

        A higher ``bias`` draws nearer to the most probable (Graves 2013, section 5.4): as weights of Gaussians, the
        probabilities of a flag and of its absence are raised to the power 1 + bias. ``draws`` are ``Draws``.
        """
        (component_N, normal_ND, flags_NF), (vectors_ND, logits_NF) = draws, self.parameters_of(states_NH)
        with np.errstate(over="ignore"):
            flags_NF = flags_NF < 1 / (1 + np.exp(-(1 + bias) * logits_NF))
        if self.shape:
            vectors_ND = Mixture.of(vectors_ND, self.shape).biased(bias).draw(component_N, normal_ND)
        return np.concatenate([vectors_ND, flags_NF.astype(np.float64)], 1)

    def check(self, targets: Items | None) -> Values:
        """Return targets; ShapeError for those of another kind."""
        if not isinstance(targets, Values) or targets.values_BTD.shape[2] != self.size + self.flags:
            raise ShapeError(
                f"This output needs targets that are Values of {self.size} numbers and {self.flags} flags."
            )
        return targets
