"""What a language model does with the text that it has predicted so far, beside carrying its state."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Literal, cast

from pydantic import Field
from torch import Tensor

from anaphora.config import Config
from anaphora.errors import ConfigError
from anaphora.evaluation.dynamic import Dynamic, dynamic_log_probs, fitted_dynamic
from anaphora.evaluation.neural_cache import NeuralCache, fitted_cache, neural_cache_log_probs
from anaphora.evaluation.stream import stream_log_probs
from anaphora.protocols import StateModel, TextModel


class Static(Config):
    """Nothing."""

    kind: Literal["static"] = "static"
    """The kind's name."""

    def __str__(self) -> str:
        return ""


Adaptation = Annotated[Static | NeuralCache | Dynamic, Field(discriminator="kind")]


def adapted_log_probs(
    model: TextModel, units: Iterable[int], before: int, adaptation: Adaptation
) -> Iterator[tuple[Tensor, Tensor]]:
    """The units of a text and ln p of each, some at a time; ``before`` stands in front of them.

    Raises ConfigError for a model that cannot adapt so.
    """
    if isinstance(adaptation, NeuralCache):
        return neural_cache_log_probs(_network(model), units, before, adaptation)
    if isinstance(adaptation, Dynamic):
        return dynamic_log_probs(_network(model), units, before, adaptation)
    return stream_log_probs(model, units, before)


def fitted_adaptation(model: TextModel, units: Iterable[int], before: int, adaptation: Adaptation) -> Adaptation:
    """The adaptation with the numbers that suit a text best, where they are not given; raises as above."""
    if isinstance(adaptation, NeuralCache):
        return fitted_cache(_network(model), units, before, adaptation)
    if isinstance(adaptation, Dynamic):
        return fitted_dynamic(_network(model), units, before, adaptation)
    return adaptation


def is_fitted(adaptation: Adaptation) -> bool:
    """Whether all numbers of an adaptation are given."""
    if isinstance(adaptation, NeuralCache):
        return bool(adaptation.theta and adaptation.weight)
    return not isinstance(adaptation, Dynamic) or bool(adaptation.rate)


def _network(model: TextModel) -> StateModel:
    if not hasattr(model, "states_and_target_log_probs"):
        raise ConfigError(
            "A neural cache and dynamic evaluation need one network, but the model is counted or a mixture: leave them "
            "out, or evaluate the network alone (anaphora mix --cache remembers words for every model)."
        )
    return cast(StateModel, model)
