"""A mixture of language models over one vocabulary, and perhaps of what the text itself said lately.

Its members may be of any kind: recurrent, with a window, counted. Their probabilities are mixed linearly
(``interpolation.py``), each order of the cache being a source of its own. The mixture meets the contracts of its
members, so that it is measured, searched and sampled as they are; what it carries is what they carry, side by side.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Self, cast

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn

from anaphora.config import Config
from anaphora.models.feed_forward import FeedForwardLanguageModel, FeedForwardLanguageModelConfig
from anaphora.models.interpolation.cache import AnyCache, ComponentPredictions, NoCache
from anaphora.models.interpolation.weights import mixed
from anaphora.models.language_model import LanguageModel, LanguageModelConfig
from anaphora.models.ngram.model import NgramModel, NgramModelConfig
from anaphora.protocols import Batch, Carry, Growing, Loss, Step, TextModel, TextStepper, VocabularyInfo


class RecurrentMember(LanguageModelConfig):
    """A recurrent member."""

    model: Literal["recurrent"] = "recurrent"
    """The kind of model."""


class FeedForwardMember(FeedForwardLanguageModelConfig):
    """A member that sees a fixed number of symbols."""

    model: Literal["window"] = "window"
    """The kind of model."""


class NgramMember(NgramModelConfig):
    """A member that was counted."""

    model: Literal["ngram"] = "ngram"
    """The kind of model."""


AnyMember = Annotated[RecurrentMember | FeedForwardMember | NgramMember, Field(discriminator="model")]


class InterpolationConfig(Config):
    """What is mixed."""

    runs: tuple[str, ...] = Field(min_length=1)
    """The run folders that the members come from; once they are mixed, the mixture needs them no more."""
    members: tuple[AnyMember, ...] = ()
    """What each of the runs is; filled in when they are mixed."""
    cache: AnyCache = NoCache()
    """What is remembered of the text itself."""

    @model_validator(mode="after")
    def _something_to_mix(self) -> Self:
        if len(self.runs) == 1 and isinstance(self.cache, NoCache):
            raise ValueError(
                "is of one run without a cache, which is nothing to mix: name another run, or add a cache."
            )
        return self

    @property
    def sources(self) -> list[str]:
        """What has a weight, in order: every run, and every order of the cache."""
        return [*self.runs, *(f"cache of {order} unit{'s' * (order > 1)}" for order in range(1, self.cache.order + 1))]


class InterpolationModelConfig(Config):
    """The table of a mixture."""

    mixture: InterpolationConfig
    """What is mixed."""


class Interpolation(nn.Module):
    """Language models whose probabilities are mixed."""

    def __init__(self, config: InterpolationModelConfig, text: VocabularyInfo, words: Sequence[str] = ()) -> None:
        """Size and marks of the vocabulary, which is the same for all members, and its words where units are words."""
        super().__init__()
        self.symbols, self.cache = text, config.mixture.cache
        self.members = nn.ModuleList(_make(member, text, words) for member in config.mixture.members)
        sources = len(self.members) + self.cache.order
        self.weights: Tensor
        self.register_buffer("weights", torch.full((sources,), 1 / max(1, sources), dtype=torch.float64))

    def initialise(self, seed: int) -> None:
        """There is nothing to draw: members have learnt, and weights are fitted."""

    def allocate(self, shapes: Mapping[str, torch.Size]) -> None:
        """Take the shape of a saved mixture, for its numbers to be filled in."""
        for place, member in enumerate(self.members):
            if isinstance(member, Growing):
                begin = f"members.{place}."
                member.allocate({name.removeprefix(begin): of for name, of in shapes.items() if name.startswith(begin)})

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """The loss of a window, and what the next may go on from."""
        log_probs_BT, after = self.target_log_probs(batch, carry)
        assert batch.targets is not None
        return Loss(-log_probs_BT.sum(), int(batch.targets.lengths_B.sum())), after

    def target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Tensor, Carry]:
        """What each target of a window costs: see ``protocols.TextModel``."""
        members = cast("Sequence[TextModel]", self.members)
        own = self.apart(carry)
        read = [member.target_log_probs(batch, before) for member, before in zip(members, own, strict=True)]
        sources, after = self.sources(read, batch, carry)
        return self.mix(sources, batch), after

    def carry_after(self, batch: Batch, carry: Carry | None = None) -> Carry:
        """What the members and the cache go on from: see ``protocols.TextModel``."""
        members = cast("Sequence[TextModel]", self.members)
        own = [member.carry_after(batch, before) for member, before in zip(members, self.apart(carry), strict=True)]
        read = batch.inputs
        return _together(own, self.cache.after(self._history(batch, carry), read.ids_BT, read.lengths_B))

    def apart(self, carry: Carry | None) -> list[Carry | None]:
        """What each member goes on from."""
        if not carry:
            return [None] * len(self.members)
        begins = [f"{place}." for place in range(len(self.members))]
        return [
            {name.removeprefix(begin): rows for name, rows in carry.items() if name.startswith(begin)}
            for begin in begins
        ]

    def sources(
        self, members: Sequence[tuple[Tensor, Carry]], batch: Batch, carry: Carry | None
    ) -> tuple[ComponentPredictions, Carry]:
        """What every source says of the targets of a window, given what the members say; and what is carried on."""
        assert batch.targets is not None
        own_KBT = torch.stack([log_probs_BT for log_probs_BT, _ in members])
        history_BL, ids_BT = self._history(batch, carry), batch.inputs.ids_BT
        said = self.cache.along(history_BL, ids_BT, batch.targets.ids_BT)
        history_after_BL = self.cache.after(history_BL, ids_BT, batch.inputs.lengths_B)
        return _beside(own_KBT, said), _together([own for _, own in members], history_after_BL)

    def mix(self, sources: ComponentPredictions, batch: Batch) -> Tensor:
        """ln p of the targets of a window, B x T, by what the sources say of them."""
        assert batch.targets is not None
        mixed_BT = mixed(sources.log_probs, sources.known, self.weights)
        open_BT = torch.arange(mixed_BT.shape[1]) < batch.targets.lengths_B.unsqueeze(1)
        return mixed_BT.where(open_BT, 0)

    def _history(self, batch: Batch, carry: Carry | None) -> Tensor:
        """What is remembered of the text before a window, a row for each of its rows."""
        empty_BL = self.cache.empty_context(len(batch.numbers_B))
        return torch.where(batch.continues_B.unsqueeze(1), carry["history"], empty_BL) if carry else empty_BL

    def stepper(self) -> "InterpolationStepper":
        """The mixture one symbol at a time; puts its members into evaluation mode."""
        return InterpolationStepper(self)


class InterpolationState(NamedTuple):
    """What a row carries."""

    members: tuple[Any, ...]
    history_NL: Tensor
    """What is remembered of the text."""


class InterpolationStepper:
    """A mixture for search: see ``protocols.TextStepper``."""

    def __init__(self, model: Interpolation) -> None:
        """The model is read, never changed."""
        self._members = [cast(TextStepper, cast(TextModel, member).stepper()) for member in model.members]
        self._cache, self._weights_K = model.cache, model.weights
        self.size, _, self.unk, _, self.eos = model.symbols
        self.bos = self.eos
        orders = [member.order for member in self._members]
        self.order = 0 if 0 in orders or self._cache.order else max(orders)

    def start(self, batch: Batch) -> tuple[None, InterpolationState]:
        """The states before anything was read, for each row of the batch."""
        history_NL = self._cache.empty_context(len(batch.numbers_B))
        return None, InterpolationState(tuple(member.start(batch)[1] for member in self._members), history_NL)

    def advance(self, memory: None, state: InterpolationState, ids_N: Tensor) -> Step:
        """One symbol of every row."""
        steps = [
            member.advance(None, before, ids_N) for member, before in zip(self._members, state.members, strict=True)
        ]
        return self._mixed(steps, self._cache.read(state.history_NL, ids_N))

    def select(self, state: InterpolationState, rows_N: Tensor) -> InterpolationState:
        """The states of the given rows."""
        own = zip(self._members, state.members, strict=True)
        return InterpolationState(
            tuple(member.select(before, rows_N) for member, before in own), state.history_NL[rows_N]
        )

    def keep(self, memory: None, sentences_B: Tensor) -> None:
        """There is nothing to keep."""

    def unconditional(self) -> Step:
        """What the members predict without any context."""
        return self._mixed([member.unconditional() for member in self._members], self._cache.empty_context(1))

    def matched(self, state: InterpolationState, ids_N: Tensor, read: int) -> int:
        """What the member that looks furthest back looks at; all of them where there is a cache."""
        if not self.order:
            return read + 1
        own = zip(self._members, state.members, strict=True)
        return max(member.matched(before, ids_N, read) for member, before in own)

    def _mixed(self, steps: Sequence[Step], history_NL: Tensor) -> Step:
        own_KNV = torch.stack([step.log_probs_NV.double() for step in steps])
        sources = _beside(own_KNV, self._cache.log_probs(history_NL, self.size))
        log_probs_NV = mixed(sources.log_probs, sources.known, self._weights_K)
        return Step(log_probs_NV, None, InterpolationState(tuple(step.state for step in steps), history_NL))


def _beside(own: Tensor, said: ComponentPredictions) -> ComponentPredictions:
    """What members say, who always know something, and what a cache says."""
    always = torch.ones(len(own), *said.known.shape[1:], dtype=torch.bool)
    return ComponentPredictions(torch.cat([own, said.log_probs]), torch.cat([always, said.known]))


def _together(members: Sequence[Carry], history_BL: Tensor) -> Carry:
    """What members and the cache carry on, as one; ``Interpolation.apart`` takes it apart."""
    carried = {f"{place}.{name}": rows for place, own in enumerate(members) for name, rows in own.items()}
    return carried | {"history": history_BL}


def _make(config: AnyMember, text: VocabularyInfo, words: Sequence[str]) -> nn.Module:
    if isinstance(config, RecurrentMember):
        return LanguageModel(config, text, words)
    return FeedForwardLanguageModel(config, text) if isinstance(config, FeedForwardMember) else NgramModel(config, text)
