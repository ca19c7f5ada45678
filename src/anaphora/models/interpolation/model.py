"""Linear interpolation of language models over one vocabulary, perhaps with a cache of recent text.

The models may be of any kind: recurrent, feed-forward, n-gram. Their probabilities are interpolated (``weights.py``);
each order of the cache is a component of its own. The interpolation implements the contracts of its models, so it is
evaluated, searched and sampled as they are; its state is theirs, side by side.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, cast

import torch
from pydantic import Field
from torch import Tensor, nn

from anaphora.batch import Batch
from anaphora.config import Config, Conflict
from anaphora.models import registry
from anaphora.models.feed_forward import FeedForwardLanguageModelConfig
from anaphora.models.interpolation.cache import NO_COUNTS, AnyCache, ComponentPredictions, NoCache
from anaphora.models.interpolation.weights import interpolate
from anaphora.models.language_model import LanguageModelConfig
from anaphora.models.ngram.model import NgramModelConfig
from anaphora.protocols import Carry, Growing, Loss, SearchStart, Step, TextModel, TextStepper, VocabularyInfo


class RecurrentMember(LanguageModelConfig):
    """A recurrent language model."""

    model: Literal["recurrent"] = "recurrent"
    """The kind of model."""


class FeedForwardMember(FeedForwardLanguageModelConfig):
    """A feed-forward language model."""

    model: Literal["feed-forward"] = "feed-forward"
    """The kind of model."""


class NgramMember(NgramModelConfig):
    """An n-gram language model."""

    model: Literal["ngram"] = "ngram"
    """The kind of model."""


AnyMember = Annotated[RecurrentMember | FeedForwardMember | NgramMember, Field(discriminator="model")]


MEMBERS: Mapping[str, type[Config]] = {
    "recurrent": RecurrentMember,
    "feed-forward": FeedForwardMember,
    "ngram": NgramMember,
}
"""The tables of a member by its kind."""


class InterpolationConfig(Config):
    """Models and cache to interpolate."""

    runs: tuple[str, ...] = Field(min_length=1)
    """Run folders of the models; not needed any more once the interpolation is made."""
    members: tuple[AnyMember, ...] = ()
    """Tables of these models; filled in when the interpolation is made."""
    cache: AnyCache = NoCache()
    """Cache of recent text."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            lambda table: len(table.runs) == 1 and isinstance(table.cache, NoCache),
            "{at}runs names one run without a cache, which is nothing to mix: name another run, or add a cache",
        ),
    )

    @property
    def component_names(self) -> list[str]:
        """The components, in the order of their weights: every run, and every order of the cache."""
        return [*self.runs, *(f"cache of order {order}" for order in range(1, self.cache.order + 1))]


class InterpolationModelConfig(Config):
    """The table of an interpolation."""

    interpolation: InterpolationConfig
    """Models and cache to interpolate."""


class Interpolation(nn.Module):
    """Language models whose probabilities are interpolated."""

    def __init__(self, config: InterpolationModelConfig, text: VocabularyInfo, words: Sequence[str] = ()) -> None:
        """``text`` is the vocabulary that all members share; ``words`` are its words where tokens are words."""
        super().__init__()
        self.symbols, cache = text, config.interpolation.cache
        self.cache = NO_COUNTS if isinstance(cache, NoCache) else cache
        self.members = nn.ModuleList(
            registry.build(registry.NETWORKS[member.model], member, {"text": text}, {"text": words})
            for member in config.interpolation.members
        )
        components = len(self.members) + self.cache.order
        self.weights: Tensor
        self.register_buffer("weights", torch.full((components,), 1 / max(1, components), dtype=torch.float64))

    def initialise(self, seed: int) -> None:
        """There is nothing to draw: the members are trained already, and the weights are fitted."""

    def allocate(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Take the shapes of a saved interpolation, so that its numbers can be filled in."""
        for place, member in enumerate(self.members):
            if isinstance(member, Growing):
                begin = f"members.{place}."
                member.allocate({name.removeprefix(begin): of for name, of in shapes.items() if name.startswith(begin)})

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """Return the loss of a window, and the state for the next."""
        log_probs_BT, after = self.target_log_probs(batch, carry)
        return Loss(-log_probs_BT.sum(), int(batch.target_ids.lengths_B.sum())), after

    def target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Tensor, Carry]:
        """ln p of each target of a window: see ``protocols.TextModel``."""
        members = cast("Sequence[TextModel]", self.members)
        own = self.split_carry(carry)
        read = [member.target_log_probs(batch, before) for member, before in zip(members, own, strict=True)]
        components, after = self.components(read, batch, carry)
        return self.interpolate(components, batch), after

    def carry_after(self, batch: Batch, carry: Carry | None = None) -> Carry:
        """Return the states of the members and the cache after a window: see ``protocols.TextModel``."""
        members, before = cast("Sequence[TextModel]", self.members), self.split_carry(carry)
        after = [member.carry_after(batch, own) for member, own in zip(members, before, strict=True)]
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
        self, members: Sequence[tuple[Tensor, Carry]], batch: Batch, carry: Carry | None
    ) -> tuple[ComponentPredictions, Carry]:
        """Return the predictions of all components for the targets of a window, and the state after it.

        ``members`` holds ln p of the targets (B x T) and the state after the window of each member.
        """
        own_KBT = torch.stack([log_probs_BT for log_probs_BT, _ in members])
        history_BL, read = self._history(batch, carry), batch.input_ids
        cached = self.cache.along(history_BL, read.ids_BT, batch.target_ids.ids_BT)
        history_after_BL = self.cache.after(history_BL, read.ids_BT, read.lengths_B)
        return _with_cache(own_KBT, cached), _joined_carry([own for _, own in members], history_after_BL)

    def interpolate(self, components: ComponentPredictions, batch: Batch) -> Tensor:
        """ln p of the targets of a window, B x T, from the predictions of the components."""
        return interpolate(*components, self.weights).where(batch.target_ids.mask_BT, 0)

    def _history(self, batch: Batch, carry: Carry | None) -> Tensor:
        """Return the history of the cache before a window, B x L."""
        empty_BL = self.cache.empty_context(batch.size)
        return torch.where(batch.carry_mask_B.unsqueeze(1), carry["history"], empty_BL) if carry else empty_BL

    def stepper(self) -> "InterpolationStepper":
        """Return the interpolation one token at a time; puts its members into evaluation mode."""
        return InterpolationStepper(self)


class InterpolationState(NamedTuple):
    """The state of N rows."""

    members: tuple[Any, ...]
    history_NL: Tensor
    """The history of the cache."""


class InterpolationStepper:
    """An interpolation for search: see ``protocols.TextStepper``. It needs no memory."""

    def __init__(self, model: Interpolation) -> None:
        """The model is read, never changed."""
        self._members = [cast(TextStepper, cast(TextModel, member).stepper()) for member in model.members]
        self._cache, self._weights_K = model.cache, model.weights
        self.size, _, self.unk, _, self.eos = model.symbols
        self.bos = self.eos
        orders = [member.order for member in self._members]
        self.order = 0 if 0 in orders or self._cache.order else max(orders)

    def start(self, batch: Batch) -> SearchStart:
        """Return the initial states for each row of the batch."""
        history_BL = self._cache.empty_context(batch.size)
        states = tuple(member.start(batch).state for member in self._members)
        return SearchStart(None, InterpolationState(states, history_BL), history_BL.new_zeros(batch.size))

    def advance(self, memory: None, state: InterpolationState, ids_N: Tensor) -> Step:
        own = zip(self._members, state.members, strict=True)
        steps = [member.advance(None, before, ids_N) for member, before in own]
        return self._interpolate(steps, self._cache.read(state.history_NL, ids_N))

    def select(self, state: InterpolationState, rows_N: Tensor) -> InterpolationState:
        """Return the states of the given rows."""
        own = zip(self._members, state.members, strict=True)
        members = tuple(member.select(before, rows_N) for member, before in own)
        return InterpolationState(members, state.history_NL[rows_N])

    def keep(self, memory: None, sentences_B: Tensor) -> None:
        """There is no memory."""

    def unconditional(self) -> Step:
        """Return the prediction of the members without any context."""
        return self._interpolate([member.unconditional() for member in self._members], self._cache.empty_context(1))

    def match_length(self, state: InterpolationState, ids_N: Tensor, read: int) -> int:
        """Return the longest match of a member; all tokens where there is a cache."""
        if not self.order:
            return read + 1
        own = zip(self._members, state.members, strict=True)
        return max(member.match_length(before, ids_N, read) for member, before in own)

    def _interpolate(self, steps: Sequence[Step], history_NL: Tensor) -> Step:
        own_KNV = torch.stack([step.log_probs_NV.double() for step in steps])
        components = _with_cache(own_KNV, self._cache.log_probs(history_NL, self.size))
        state = InterpolationState(tuple(step.state for step in steps), history_NL)
        return Step(interpolate(*components, self._weights_K), None, state)


def _with_cache(own: Tensor, cached: ComponentPredictions) -> ComponentPredictions:
    """Return the predictions of members, which always make one, and those of a cache."""
    always = torch.ones(len(own), *cached.known.shape[1:], dtype=torch.bool)
    return ComponentPredictions(torch.cat([own, cached.log_probs]), torch.cat([always, cached.known]))


def _joined_carry(members: Sequence[Carry], history_BL: Tensor) -> Carry:
    """Return the carried states of members and cache as one; ``Interpolation.split_carry`` is the inverse."""
    carried = {f"{place}.{name}": rows for place, own in enumerate(members) for name, rows in own.items()}
    return carried | {"history": history_BL}
