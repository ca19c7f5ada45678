"""A Stepper that is small enough to be searched by hand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from anaphora.batch import Batch
from anaphora.protocols import Array, SearchStart, Step

from ..batches import pair_batch

STATES = 997


@dataclass
class Automaton:
    """Its log-probabilities are a random table's row, picked by a hash of the sentence and all that was read."""

    log_probs_QV: Array
    attends: bool = True
    bos: int = 0
    eos: int = 1
    unk: int = 2
    normalised: bool = True
    scale: float = 1.0
    """Factor of the attention, which is not normalised."""

    @property
    def size(self) -> int:
        return self.log_probs_QV.shape[1]

    def start(self, batch: Batch) -> SearchStart:
        read = batch.input_ids
        keys_B = (np.where(read.mask_BT, read.ids_BT, 0) + 1).cumprod(axis=1)[:, -1] % STATES
        width_B = np.full_like(keys_B, read.ids_BT.shape[1])
        return SearchStart(np.stack([keys_B, read.lengths_B, width_B], axis=1), keys_B, read.lengths_B)

    def advance(self, memory: Array, state: Array, ids_N: Array) -> Step:
        assert len(ids_N) == len(state) and len(ids_N) % len(memory) == 0
        rows_N = np.arange(len(ids_N)) // (len(ids_N) // len(memory))
        state = (state * 31 + ids_N * 7 + memory[rows_N, 0] + 1) % STATES
        weights_NS = None
        if self.attends:
            places_S = np.arange(int(memory[0, 2]))
            weights_NS = (self.scale * (1.0 + (state[:, None] * (places_S + 3)) % 11)).astype(np.float32)
            weights_NS[places_S >= memory[rows_N, 1:2]] = np.nan
        return Step(self.log_probs_QV[state], weights_NS, state)

    def select(self, state: Array, rows_N: Array) -> Array:
        found: Array = state[rows_N]
        return found

    def keep(self, memory: Array, sentences_B: Array) -> Array:
        found: Array = memory[sentences_B]
        return found


@pytest.fixture(scope="session")
def automaton() -> Callable[..., Automaton]:
    """Make an Automaton over ``size`` symbols; ``sharpness`` tells how sure it is, ``grain`` makes ties."""

    def make(size: int = 5, seed: int = 0, sharpness: float = 2.0, grain: float = 0.0, **facts: object) -> Automaton:
        logits_QV = np.random.default_rng(seed).normal(size=(STATES, size)) * sharpness
        log_probs_QV = logits_QV - np.log(np.exp(logits_QV).sum(axis=1, keepdims=True))
        if grain:
            log_probs_QV = np.floor(log_probs_QV / grain) * grain
        return Automaton(log_probs_QV.astype(np.float32), **facts)  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="session")
def batch() -> Callable[..., Batch]:
    """Make a Batch of source rows, perhaps with targets or prefixes; example ids count from 0 unless given."""

    def make(
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]] | None = None,
        example_ids: Sequence[int] = (),
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> Batch:
        return pair_batch(sources, targets, example_ids, multiple=1, value=99, prefixes=prefixes)

    return make
