"""Networks of real-valued sequences: they predict the next vector, and flags beside it."""

from collections.abc import Mapping
from math import log, pi
from typing import Any, NamedTuple

import numpy as np

from anaphora.batch import Batch, Items, Values
from anaphora.errors import ShapeError
from anaphora.inference.array_ops import sigmoid
from anaphora.inference.encoder_decoder import Decoder
from anaphora.inference.operations import Recurrence
from anaphora.inference.weights import Weights, affine
from anaphora.kernels.compiled import Array


class ValuePredictions(NamedTuple):
    """Prediction of each vector of a batch, and the probability of the true one; padding has any value."""

    means_BTD: Array
    log_probs_BT: Array | None
    """ln of the density at the true vector; None for an output without a density."""
    flag_log_probs_BT: Array
    """ln of the probability of all true flags."""


class Mixture(NamedTuple):
    """Mixtures of Gaussians: see ``kernels/mixture.py``."""

    log_weights_NK: Array
    means_NKD: Array
    log_deviations_NKD: Array
    r_NK: Array | None
    """atanh of the correlation; None without."""

    def biased(self, bias: float) -> "Mixture":
        """Return mixtures of less spread (Graves 2013, equations 61 and 62)."""
        weights_NK = _log_softmax(self.log_weights_NK * (1 + bias))
        return self._replace(log_weights_NK=weights_NK, log_deviations_NKD=self.log_deviations_NKD - bias)

    def log_probs(self, targets_ND: Array) -> Array:
        """ln p of each row; equations 4 to 7."""
        u_NKD = (targets_ND[:, None] - self.means_NKD) * np.exp(-self.log_deviations_NKD)  # 4
        joint_NK = self.log_weights_NK - self.log_deviations_NKD.sum(2) - 0.5 * log(2 * pi) * u_NKD.shape[2]
        if self.r_NK is None:
            joint_NK = joint_NK - 0.5 * (u_NKD * u_NKD).sum(2)
        else:
            u1_NK, u2_NK, cosh_NK = u_NKD[..., 0], u_NKD[..., 1], np.cosh(self.r_NK)
            v_NK = u2_NK * cosh_NK - u1_NK * np.sinh(self.r_NK)  # 5
            joint_NK = joint_NK + np.log(cosh_NK) - 0.5 * (u1_NK * u1_NK + v_NK * v_NK)  # 6
        top_N1 = joint_NK.max(1, keepdims=True)
        found: Array = np.log(np.exp(joint_NK - top_N1).sum(1)) + top_N1[:, 0]  # 7
        return found

    def draw(self, uniform_N: Array, normal_ND: Array) -> Array:
        """A vector of each row: a number in [0, 1) chooses its component, D of a standard normal its place."""
        passed_NK = np.exp(self.log_weights_NK).cumsum(1) <= uniform_N[:, None]
        rows_N, k_N = np.arange(len(uniform_N)), np.minimum(passed_NK.sum(1), passed_NK.shape[1] - 1)
        u_ND = normal_ND
        if self.r_NK is not None:
            r_N1 = self.r_NK[rows_N, k_N, None]
            u1_N1, u2_N1 = normal_ND[:, :1], normal_ND[:, 1:]
            u_ND = np.concatenate([u1_N1, np.tanh(r_N1) * u1_N1 + u2_N1 / np.cosh(r_N1)], 1)
        found: Array = self.means_NKD[rows_N, k_N] + np.exp(self.log_deviations_NKD[rows_N, k_N]) * u_ND
        return found


class ValueOutput:
    """Predictions of vectors and flags, from states: see ``nn/outputs/values.py``."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        self.size, self.flags, self._mixture = data["size"], data["flags"], data["mixture"]
        own = weights.by_prefix(data["output"])
        self._layers = [(own[f"{part}.weight"], own[f"{part}.bias"]) for part in ("values", "flags")]

    def predict(self, states_TBH: Array, targets: Items | None) -> ValuePredictions:
        """Predict vectors where ``targets`` are true."""
        if not isinstance(targets, Values) or targets.values_BTD.shape[2] != self.size + self.flags:
            raise ShapeError(f"This output needs targets of {self.size} numbers and {self.flags} flags.")
        targets_BTX = targets.values_BTD.astype(np.float64)
        parameters_NP, logits_NF = self._outputs(states_TBH.swapaxes(0, 1).reshape(-1, states_TBH.shape[2]))
        targets_NX, rows = targets_BTX.reshape(-1, self.size + self.flags), targets_BTX.shape[:2]
        of_flags_N = -np.logaddexp(0, (1 - 2 * targets_NX[:, self.size :]) * logits_NF).sum(1)
        means_ND, log_probs_N = parameters_NP, None
        if self._mixture:
            mixture = self._mixture_of(parameters_NP)
            means_ND = (np.exp(mixture.log_weights_NK)[..., None] * mixture.means_NKD).sum(1)
            log_probs_N = mixture.log_probs(targets_NX[:, : self.size])
        return ValuePredictions(
            means_ND.reshape(*rows, self.size),
            None if log_probs_N is None else log_probs_N.reshape(rows),
            of_flags_N.reshape(rows),
        )

    def draw(self, states_NH: Array, draws: tuple[Array, Array, Array], bias: float) -> Array:
        """Return a vector and its flags for each row, N x (D + F); a higher ``bias`` draws nearer to the most probable.

        ``draws`` are a number in [0, 1) for the component of each row, D of a standard normal, and F in [0, 1).
        """
        (component_N, normal_ND, flags_NF), (parameters_NP, logits_NF) = draws, self._outputs(states_NH)
        flags_NF = flags_NF < sigmoid((1 + bias) * logits_NF)
        vectors_ND = parameters_NP
        if self._mixture:
            vectors_ND = self._mixture_of(parameters_NP).biased(bias).draw(component_N, normal_ND)
        return np.concatenate([vectors_ND, flags_NF.astype(np.float64)], 1)

    def _outputs(self, states_NH: Array) -> list[Array]:
        """Return the parameters of vectors and the scores of flags, in float64."""
        return [affine(np.ascontiguousarray(states_NH), *layer).astype(np.float64) for layer in self._layers]

    def _mixture_of(self, parameters_NP: Array) -> Mixture:
        """Equations 1 to 3."""
        components, f = self._mixture["components"], log(self._mixture["min_deviation"])
        ends = np.cumsum([components, components * self.size, components * self.size])
        w_hat_NK, means, s_hat, r_hat_NK = np.split(parameters_NP, ends, 1)
        means_NKD, s_hat_NKD = (block.reshape(-1, components, self.size) for block in (means, s_hat))
        largest = self._mixture["largest"]
        r_NK = largest * np.tanh(r_hat_NK / largest) if self._mixture["correlated"] else None  # 3
        return Mixture(_log_softmax(w_hat_NK), means_NKD, f + np.logaddexp(0, s_hat_NKD - f), r_NK)  # 1, 2


def _log_softmax(z_NK: Array) -> Array:
    z_NK = z_NK - z_NK.max(1, keepdims=True)
    found: Array = z_NK - np.log(np.exp(z_NK).sum(1, keepdims=True))
    return found


class ValueState(NamedTuple):
    """State that a network continues from."""

    memory: Mapping[str, Array]
    """The text, B in front; empty without."""
    state: Mapping[str, Array]
    """By carried signal, B in front."""


class PredictionNetwork:
    """Recurrent layers that read vector t - 1 and predict vector t."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        self.output, self.recurrence = ValueOutput(weights, data), Recurrence(weights, data["recurrence"])

    def start(self, batch: Batch) -> ValueState:
        """Return the state before the first vector."""
        return ValueState({}, self.recurrence.initial_state(batch.size))

    def advance(self, before: ValueState, x_BX: Array) -> tuple[Array, None, ValueState]:
        """Return the states to predict from after one vector and its pen flag, no attention, and the new state."""
        h_BH, after = self.recurrence.advance(x_BX[None], before.state)
        return h_BH, None, ValueState({}, after)

    def predict(self, batch: Batch) -> ValuePredictions:
        """Predict each true vector."""
        inputs = batch.inputs
        if not isinstance(inputs, Values):
            raise ShapeError("A prediction network needs a batch whose inputs are Values.")
        first = self.recurrence.initial_state(batch.size)
        states_TBH, _ = self.recurrence.scan(inputs.values_BTD.swapaxes(0, 1), inputs.lengths_B, first)
        return self.output.predict(states_TBH, batch.targets)


class SynthesisNetwork:
    """A decoder of vectors with attention over a text."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        self.output, self.decoder = ValueOutput(weights, data), Decoder(weights, data)

    def start(self, batch: Batch) -> ValueState:
        """Return the text, and the state before the first vector."""
        memory, state, _ = self.decoder.encode(batch)
        return ValueState(memory, state)

    def advance(self, before: ValueState, x_BX: Array) -> tuple[Array, Array | None, ValueState]:
        """Return the states to predict from after one vector and its pen flag, attention, and the new state."""
        state = {name: rows[None] for name, rows in before.state.items()}
        o_1BH, weights_1BS, after = self.decoder.advance(x_BX[None], state, dict(before.memory))
        weights_BS = None if weights_1BS is None else weights_1BS[0]
        return o_1BH[0], weights_BS, before._replace(state={name: rows[0] for name, rows in after.items()})

    def predict(self, batch: Batch) -> ValuePredictions:
        """Predict each true vector."""
        targets = batch.targets
        if not isinstance(targets, Values):
            raise ShapeError("A synthesis network needs a batch whose targets are Values.")
        memory, state, _ = self.decoder.encode(batch)
        true_TBX = targets.values_BTD.swapaxes(0, 1)[..., : self.output.size + self.output.flags - 1]
        x_TBX = np.concatenate([np.zeros_like(true_TBX[:1]), true_TBX[:-1]])
        states_TBH = self.decoder.scan(x_TBX, targets.lengths_B, state, memory)
        return self.output.predict(states_TBH, targets)
