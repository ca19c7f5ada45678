"""Language models over one vocabulary as one, in arrays of numpy, perhaps with a cache of recent text.

The models may be of any kind: recurrent, feed-forward, n-gram. Their probabilities are interpolated (``weights.py``);
each order of the cache is its own component. The mixture implements the contracts of its models, so it is
evaluated, searched and sampled as they are; its state is theirs, side by side.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self, cast

import numpy as np

from anaphora.batch import Batch
from anaphora.inference.interpolation.cache import NO_COUNTS, ComponentPredictions, CountCache
from anaphora.inference.interpolation.weights import interpolate
from anaphora.inference.weights import Weights
from anaphora.kernels.log_probs import to_host
from anaphora.protocols import Array, Carry, SearchStart, Step, TextModel, TextStepper, VocabularyInfo


class Mixture:
    """Language models whose probabilities are interpolated: see ``protocols.TextModel``."""

    def __init__(
        self, members: Sequence[TextModel], cache: CountCache, weights_K: Array, symbols: VocabularyInfo
    ) -> None:
        """``weights_K`` has one for each member, then one for each order of the cache."""
        self.members: Sequence[Any] = members
        self.cache, self.symbols = cache, symbols
        self.weights: Any = weights_K

    @classmethod
    def described(
        cls, weights: Weights, data: Mapping[str, Any], build: Callable[[Weights, Mapping[str, Any]], TextModel]
    ) -> Self:
        """Return the mixture of a description; ``build`` returns a member of one."""
        members = [build(weights, member) for member in data["members"]]
        cache = CountCache.from_table(data["cache"], Path("the network"), "a cache") if data["cache"] else NO_COUNTS
        weights_K = weights[data["weights"]]
        if len(weights_K) != len(members) + cache.order:
            raise ValueError("another number of weights than of components")
        return cls(members, cache, weights_K, VocabularyInfo(*data["symbols"]))

    @property
    def weights_K(self) -> Array:
        """The weight of each component."""
        return np.asarray(self.weights)

    def target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Array, Carry]:
        """ln p of each target of a window: see ``protocols.TextModel``."""
        own = zip(self.members, self.split_carry(carry), strict=True)
        read = [member.target_log_probs(batch, before) for member, before in own]
        components, after = self.components(read, batch, carry)
        return self.interpolate(components, batch), after

    def carry_after(self, batch: Batch, carry: Carry | None = None) -> Carry:
        """Return the states of the members and the cache after a window: see ``protocols.TextModel``."""
        own = zip(self.members, self.split_carry(carry), strict=True)
        after = [member.carry_after(batch, before) for member, before in own]
        read = batch.input_ids
        return _joined_carry(after, self.cache.after(self._history(batch, carry), read.ids_BT, read.lengths_B))

    def split_carry(self, carry: Carry | None) -> list[Carry | None]:
        """Return the carried state of each member."""
        if not carry:
            return [None] * len(self.members)
        begins = [f"{place}." for place in range(len(self.members))]
        return [
            {name.removeprefix(begin): rows for name, rows in carry.items() if name.startswith(begin)}
            for begin in begins
        ]

    def components(
        self, members: Sequence[tuple[Array, Carry]], batch: Batch, carry: Carry | None
    ) -> tuple[ComponentPredictions, Carry]:
        """Return the predictions of all components for the targets of a window, and the state after it.

        ``members`` holds ln p of the targets (B x T) and the state after the window of each member.
        """
        own_KBT = np.stack([log_probs_BT for log_probs_BT, _ in members])
        history_BL, read = self._history(batch, carry), batch.input_ids
        cached = self.cache.along(history_BL, read.ids_BT, batch.target_ids.ids_BT)
        history_after_BL = self.cache.after(history_BL, read.ids_BT, read.lengths_B)
        return _with_cache(own_KBT, cached), _joined_carry([own for _, own in members], history_after_BL)

    def interpolate(self, components: ComponentPredictions, batch: Batch) -> Array:
        """ln p of the targets of a window, B x T, from the predictions of the components."""
        return np.where(batch.target_ids.mask_BT, interpolate(*components, self.weights_K), 0)

    def _history(self, batch: Batch, carry: Carry | None) -> Array:
        """Return the history of the cache before a window, B x L."""
        empty_BL = self.cache.empty_context(batch.size)
        return np.where(batch.carry_mask_B[:, None], carry["history"], empty_BL) if carry else empty_BL

    def stepper(self) -> "MixtureStepper":
        """Return the mixture one token at a time; puts its members into evaluation mode."""
        steppers = [cast(TextStepper, member.stepper()) for member in self.members]
        return MixtureStepper(steppers, self.cache, self.weights_K, self.symbols)


class MixtureState(NamedTuple):
    """The state of N rows."""

    members: tuple[Any, ...]
    history_NL: Array
    """The history of the cache."""


class MixtureStepper:
    """A mixture for search: see ``protocols.TextStepper``. It needs no memory."""

    def __init__(
        self, members: Sequence[TextStepper], cache: CountCache, weights_K: Array, symbols: VocabularyInfo
    ) -> None:
        self._members, self._cache, self._weights_K = members, cache, weights_K
        self.size, _, self.unk, _, self.eos = symbols
        self.bos = self.eos
        orders = [member.order for member in self._members]
        self.order = 0 if 0 in orders or self._cache.order else max(orders)

    def start(self, batch: Batch) -> SearchStart:
        """Return the initial states for each row of the batch."""
        history_BL = self._cache.empty_context(batch.size)
        states = tuple(member.start(batch).state for member in self._members)
        return SearchStart(None, MixtureState(states, history_BL), np.zeros(batch.size, dtype=np.int64))

    def advance(self, memory: None, state: MixtureState, ids_N: Array) -> Step:
        own = zip(self._members, state.members, strict=True)
        steps = [member.advance(None, before, ids_N) for member, before in own]
        return self._interpolate(steps, self._cache.read(state.history_NL, ids_N))

    def select(self, state: MixtureState, rows_N: Array) -> MixtureState:
        """Return the states of the given rows."""
        own = zip(self._members, state.members, strict=True)
        members = tuple(member.select(before, rows_N) for member, before in own)
        return MixtureState(members, state.history_NL[rows_N])

    def keep(self, memory: None, sentences_B: Array) -> None:
        """Keep nothing: such a model has no memory of a sentence."""

    def unconditional(self) -> Step:
        """Return the prediction of the members without any context."""
        return self._interpolate([member.unconditional() for member in self._members], self._cache.empty_context(1))

    def match_length(self, state: MixtureState, ids_N: Array, read: int) -> int:
        """Return the longest match of a member; all tokens where there is a cache."""
        if not self.order:
            return read + 1
        own = zip(self._members, state.members, strict=True)
        return max(member.match_length(before, ids_N, read) for member, before in own)

    def _interpolate(self, steps: Sequence[Step], history_NL: Array) -> Step:
        own_KNV = np.stack([to_host(step.log_probs_NV).astype(np.float64) for step in steps])
        components = _with_cache(own_KNV, self._cache.log_probs(history_NL, self.size))
        state = MixtureState(tuple(step.state for step in steps), history_NL)
        return Step(interpolate(*components, self._weights_K), None, state)


def _with_cache(own: Array, cached: ComponentPredictions) -> ComponentPredictions:
    """Return the predictions of members, which always make one, and those of a cache."""
    always = np.ones((len(own), *cached.known.shape[1:]), dtype=np.bool_)
    return ComponentPredictions(np.concatenate([own, cached.log_probs]), np.concatenate([always, cached.known]))


def _joined_carry(members: Sequence[Carry], history_BL: Array) -> Carry:
    """Return the carried states of members and cache as one; ``Mixture.split_carry`` is the inverse."""
    carried = {f"{place}.{name}": rows for place, own in enumerate(members) for name, rows in own.items()}
    return carried | {"history": history_BL}
