"""Nearest-neighbour mixing: known translations of similar sentences take part in every prediction.

(Khandelwal et al. 2021, over the few pairs that are similar to each sentence and not over a corpus.) Each target token
of such a pair is kept with the decoder state that it should be predicted from, its key. A step then predicts

    p(y) = (1 - w) p_model(y) + w sum over keys m of y of softmax_m(-d_m / (T s))

where d_m is the squared distance between key m and the state of the step, s the mean squared norm of the keys, which
makes the temperature T the same for networks of any width, and w the weight of the sentence.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from anaphora.batch import Batch
from anaphora.errors import ConfigError
from anaphora.kernels.log_probs import to_host
from anaphora.protocols import Array, SearchStart, Step, Stepper
from anaphora.search.wrapper import Wrapper


class Neighbours(NamedTuple):
    """The target tokens of the pairs that are similar to one sentence."""

    keys_MH: Array
    """States that the tokens should be predicted from."""
    ids_M: Array
    """int64: the tokens."""
    weight: float
    """w, from 0 to below 1: how much of each prediction is theirs."""


class _Memory(NamedTuple):
    model: Any
    neighbours: tuple[Neighbours | None, ...]
    """Neighbours by sentence; None for one that is left to the model."""


class MixedStepper(Wrapper):
    """A Stepper whose predictions are mixed with those of neighbours; its state is that of the model.

    Sentences are mixed one by one, so that nothing depends on others in the batch.
    """

    def __init__(self, model: Stepper, neighbours: Sequence[Neighbours | None], temperature: float) -> None:
        """``neighbours`` are those of the sentences of the only batch that it can start with."""
        super().__init__(model)
        self._neighbours, self._temperature = tuple(neighbours), temperature

    def start(self, batch: Batch) -> SearchStart:
        start = self._model.start(batch)
        return start._replace(memory=_Memory(start.memory, self._neighbours))

    def advance(self, memory: _Memory, state: Any, ids_N: Array) -> Step:
        """Return one token of every row; ConfigError for a model whose steps give no states."""
        step = self._model.advance(memory.model, state, ids_N)
        if step.states_NH is None:
            raise ConfigError("Mixing needs the states of one network, but this model gives none: leave it out.")
        rows, log_probs_NV, states_NH = (
            len(ids_N) // len(memory.neighbours),
            *map(to_host, (step.log_probs_NV, step.states_NH)),
        )
        for sentence, neighbours in enumerate(memory.neighbours):
            if neighbours is not None:
                own = slice(sentence * rows, (sentence + 1) * rows)
                self._mix(log_probs_NV[own], states_NH[own], neighbours)
        return step._replace(log_probs_NV=log_probs_NV)

    def _mix(self, log_probs_KV: Array, states_KH: Array, neighbours: Neighbours) -> None:
        """Change the log-probabilities of the rows of a sentence in place."""
        keys_MH = neighbours.keys_MH.astype(np.float64)
        distances_KM = np.square(states_KH[:, None, :].astype(np.float64) - keys_MH).sum(axis=2)
        scale = max(np.square(keys_MH).sum(axis=1).mean(), 1e-30)
        near_KM = np.exp((distances_KM.min(axis=1, keepdims=True) - distances_KM) / (self._temperature * scale))
        p_KM = near_KM / near_KM.sum(axis=1, keepdims=True)
        ids_U, places_M = np.unique(neighbours.ids_M, return_inverse=True)
        p_KU = np.zeros((len(p_KM), len(ids_U)))
        np.add.at(p_KU.T, places_M, p_KM.T)
        weight = neighbours.weight
        known_KU = np.exp(log_probs_KV[:, ids_U].astype(np.float64))
        log_probs_KV += np.log1p(log_probs_KV.dtype.type(-weight))
        with np.errstate(divide="ignore"):
            log_probs_KV[:, ids_U] = np.log((1 - weight) * known_KU + weight * p_KU)

    def keep(self, memory: _Memory, sentences_B: Array) -> _Memory:
        kept = tuple(memory.neighbours[place] for place in sentences_B.tolist())
        return _Memory(self._model.keep(memory.model, sentences_B), kept)
