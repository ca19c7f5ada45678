"""Networks of real-valued sequences: they predict the next vector, and flags beside it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from anaphora.batch import Batch, Values
from anaphora.errors import ShapeError
from anaphora.inference.encoder_decoder import Decoder
from anaphora.inference.operations import Recurrence
from anaphora.inference.weights import Weights, affine
from anaphora.kernels.compiled.library import Array
from anaphora.kernels.densities import MixtureShape, ValuePredictions, VectorOutput


class ValueOutput(VectorOutput):
    """Two linear layers: see ``nn/outputs/values.py``."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        self.size, self.flags = data["size"], data["flags"]
        self.shape = MixtureShape(**data["mixture"]) if data["mixture"] else None
        own = weights.by_prefix(data["output"])
        self._layers = [(own[f"{part}.weight"], own[f"{part}.bias"]) for part in ("values", "flags")]

    def parameters_of(self, states_NH: Array) -> list[Array]:
        return [affine(np.ascontiguousarray(states_NH), *layer).astype(np.float64) for layer in self._layers]


class ValueState(NamedTuple):
    """State that a network continues from."""

    memory: Mapping[str, Any]
    """The text, B in front; empty without."""
    state: Mapping[str, Any]
    """State by carried signal, B in front."""


class PredictionNetwork:
    """Recurrent layers that read vector t - 1 and predict vector t; over arrays, or tensors (``models.values``)."""

    output: VectorOutput
    recurrence: Any

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        self.output, self.recurrence = ValueOutput(weights, data), Recurrence(weights, data["recurrence"])

    def start(self, batch: Batch) -> ValueState:
        """Return the state before the first vector."""
        return ValueState({}, self.recurrence.initial_state(batch.size))

    def advance(self, before: ValueState, x_BX: Any) -> tuple[Any, ValueState]:
        """Return the states to predict from after one vector and its pen flag, and the new state."""
        h_BH, after = self.recurrence.advance(x_BX[None], before.state)
        return h_BH, ValueState({}, after)

    def predict(self, batch: Batch) -> ValuePredictions:
        """Predict each true vector."""
        inputs = batch.inputs
        if not isinstance(inputs, Values):
            raise ShapeError("A prediction network needs a batch whose inputs are Values.")
        first = self.recurrence.initial_state(batch.size)
        states_TBH, _ = self.recurrence.scan(inputs.values_BTD.swapaxes(0, 1), inputs.lengths_B, first)
        return self.output.predict(states_TBH, batch.targets)


class SynthesisNetwork:
    """A decoder of vectors with attention over a text; over arrays, or tensors (``models.values``)."""

    output: VectorOutput
    decoder: Any

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        self.output, self.decoder = ValueOutput(weights, data), Decoder(weights, data)

    def start(self, batch: Batch) -> ValueState:
        """Return the text, and the state before the first vector."""
        return self.encode(batch)

    def encode(self, batch: Batch) -> ValueState:
        """Return the same, with its gradient where there is one."""
        memory, state, _ = self.decoder.encode(batch)
        return ValueState(memory, state)

    def advance(self, before: ValueState, x_BX: Any) -> tuple[Any, ValueState]:
        """Return the states to predict from after one vector and its pen flag, and the new state."""
        state = {name: rows[None] for name, rows in before.state.items()}
        signals, after = self.decoder.advance(x_BX[None], state, before.memory)
        return signals["o"][0], before._replace(state={name: rows[0] for name, rows in after.items()})

    def predict(self, batch: Batch) -> ValuePredictions:
        """Predict each true vector."""
        targets = batch.targets
        if not isinstance(targets, Values):
            raise ShapeError("A synthesis network needs a batch whose targets are Values.")
        memory, state = self.encode(batch)
        true_TBX = targets.values_BTD.swapaxes(0, 1)[..., : self.output.size + self.output.flags - 1]
        x_TBX = np.concatenate([np.zeros_like(true_TBX[:1]), true_TBX[:-1]])
        states_TBH = self.decoder.scan(x_TBX, targets.lengths_B, state, memory)["o"]
        return self.output.predict(states_TBH, targets)
