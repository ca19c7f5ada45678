"""Linear interpolations of language models, as they are fitted and saved; ``inference`` scores and searches them."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, cast

import torch
from pydantic import Field
from torch import Tensor, nn

from anaphora.batch import Batch
from anaphora.config import ByKind, Config
from anaphora.inference.interpolation.cache import NO_COUNTS, AnyCache, NoCache
from anaphora.inference.interpolation.mixture import Mixture
from anaphora.models import registry
from anaphora.models.feed_forward import FeedForwardLanguageModelConfig
from anaphora.models.language_model import LanguageModelConfig
from anaphora.models.ngram.model import NgramModelConfig
from anaphora.options import Conflict
from anaphora.protocols import Carry, Growing, Loss, VocabularyInfo


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
    cache: ByKind[AnyCache] = NoCache()
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


class Interpolation(Mixture, nn.Module):
    """Language models whose probabilities are interpolated."""

    def __init__(self, config: InterpolationModelConfig, text: VocabularyInfo, words: Sequence[str] = ()) -> None:
        """``text`` is the vocabulary that all members share; ``words`` are its words where tokens are words."""
        nn.Module.__init__(self)
        self.symbols, cache = text, config.interpolation.cache
        self.cache = NO_COUNTS if isinstance(cache, NoCache) else cache
        built = (
            registry.build(registry.NETWORKS[member.model], member, {"text": text}, {"text": words})
            for member in config.interpolation.members
        )
        self.members = cast("Sequence[Any]", nn.ModuleList(built))
        components = len(self.members) + self.cache.order
        self.weights: Tensor
        self.register_buffer("weights", torch.full((components,), 1 / max(1, components), dtype=torch.float64))

    def initialise(self, seed: int) -> None:
        """Draw nothing: the members are trained already, and the weights are fitted."""

    def allocate(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Take the shapes of a saved interpolation, so that its numbers can be filled in."""
        for place, member in enumerate(self.members):
            if isinstance(member, Growing):
                begin = f"members.{place}."
                member.allocate({name.removeprefix(begin): of for name, of in shapes.items() if name.startswith(begin)})

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """Return the loss of a window, and the state for the next."""
        log_probs_BT, after = self.target_log_probs(batch, carry)
        return Loss(torch.tensor(-log_probs_BT.sum()), int(batch.target_ids.lengths_B.sum())), after
