"""Steppers over networks of tensors: arrays in, arrays out."""

from collections.abc import Mapping
from typing import Any, cast

import torch
from torch import Tensor

from anaphora.batch import Batch
from anaphora.inference.encoder_decoder import DecodingStepper
from anaphora.inference.language_models import RecurrentStepper, TextStepper
from anaphora.inference.outputs import NetworkStepper
from anaphora.nn.device import array_of, device_of
from anaphora.protocols import Array, SearchStart, Step


class TensorStepper(NetworkStepper):
    """Stepper of a network of tensors, whose answers are arrays."""

    @torch.inference_mode()
    def start(self, batch: Batch) -> SearchStart:
        start: SearchStart = cast(Any, super()).start(batch.to(device_of(self._model)))
        return start._replace(memory_lengths_B=array_of(torch.as_tensor(start.memory_lengths_B)))

    def advance(self, memory: Any, state: Any, ids_N: Array) -> Step:
        """Read one token a row and predict the next; on the CPU, nothing is copied."""
        step = self.read(memory, state, torch.from_numpy(ids_N).to(device_of(self._model)))
        log_probs_NV, weights_NS, state, states_NH, candidates_BC = step
        # a search may change the log-probabilities, but nothing changes a tensor that was made in inference mode
        if log_probs_NV.is_cpu:
            log_probs_NV, states_NH = array_of(log_probs_NV), _array_if_any(states_NH)
        else:
            log_probs_NV = log_probs_NV.clone()
        return Step(log_probs_NV, _array_if_any(weights_NS), state, states_NH, _array_if_any(candidates_BC))

    @torch.inference_mode()
    def read(self, memory: Any, state: Any, ids_N: Tensor) -> Step:
        """Return the step of ``advance`` in tensors."""
        step: Step = cast(Any, super()).advance(memory, state, ids_N)
        return step

    @torch.no_grad()
    def words(self, ids: Array) -> Any:
        return self._model.words(torch.from_numpy(ids))

    def weights_of(self, layers: Any) -> Mapping[str, Tensor]:
        found: Mapping[str, Tensor] = layers.weights.tensors()
        return found


def _array_if_any(tensor: Any) -> Array | None:
    return None if tensor is None else array_of(tensor)


class TensorDecodingStepper(TensorStepper, DecodingStepper):
    """An encoder-decoder of tensors."""

    def as_given(self, array: Array) -> Any:
        return torch.from_numpy(array).to(device_of(self._model))


class TensorTextStepper(TensorStepper, TextStepper):
    """A language model of tensors."""


class TensorRecurrentStepper(TensorStepper, RecurrentStepper):
    """A recurrent language model of tensors."""
