"""Adaptation of a language model to the text that it has predicted so far, beside carrying its state."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from torch import Tensor

from anaphora.config import Config
from anaphora.errors import ConfigError
from anaphora.evaluation.dynamic import Dynamic, dynamic_log_probs, fitted_dynamic, gradient_sizes
from anaphora.evaluation.neural_cache import NeuralCache, fitted_cache, neural_cache_log_probs
from anaphora.evaluation.stream import LogProbs, stream_log_probs
from anaphora.protocols import StateModel, TextModel


class Static(Config):
    """Nothing."""

    def __str__(self) -> str:
        return ""


@dataclass(frozen=True)
class RmsEvaluation:
    """Dynamic evaluation by the rule "rms", with what it needs to know of the training text."""

    dynamic: Dynamic
    """The options."""
    sizes: tuple[Tensor, ...]
    """See ``dynamic.gradient_sizes``."""

    def __str__(self) -> str:
        return str(self.dynamic)


Adaptation = Static | NeuralCache | Dynamic | RmsEvaluation


def adapted_log_probs(model: TextModel, tokens: Iterable[int], before: int, adaptation: Adaptation) -> LogProbs:
    """Return the tokens of a text and ln p of each, some at a time; ``before`` stands in front of them.

    Raises ConfigError for a model that cannot adapt so, and for an adaptation that leaves something to be found.
    """
    if isinstance(adaptation, Static):
        return stream_log_probs(model, tokens, before)
    network = network_of(model)
    if not is_fitted(adaptation):
        raise ConfigError(
            "A neural cache without theta and weight, a rate of 0 and the rule 'rms' need numbers that are not known "
            "yet: find them first with LanguageModelPredictor.adapt."
        )
    if isinstance(adaptation, NeuralCache):
        return neural_cache_log_probs(network, tokens, before, adaptation)
    if isinstance(adaptation, RmsEvaluation):
        return dynamic_log_probs(network, tokens, before, adaptation.dynamic, adaptation.sizes)
    return dynamic_log_probs(network, tokens, before, adaptation)


def fitted_adaptation(
    model: TextModel, tokens: Iterable[int], trained_on: Iterable[int], before: int, adaptation: Adaptation
) -> Adaptation:
    """Return the adaptation with the numbers that suit a text best, where they are not given; raises as above.

    What the rule "rms" scales by is found on the tokens that the model was ``trained_on``; nothing else reads them.
    """
    if is_fitted(adaptation):
        return adaptation
    network = network_of(model)
    if isinstance(adaptation, NeuralCache):
        return fitted_cache(network, tokens, before, adaptation)
    assert isinstance(adaptation, Dynamic)
    if adaptation.rule == "sgd":
        return fitted_dynamic(network, tokens, before, adaptation)
    sizes = gradient_sizes(network, trained_on, before, adaptation.steps)
    return RmsEvaluation(fitted_dynamic(network, tokens, before, adaptation, sizes), sizes)


def is_fitted(adaptation: Adaptation) -> bool:
    """True if nothing about an adaptation is left to be found."""
    if isinstance(adaptation, NeuralCache):
        return None not in (adaptation.theta, adaptation.weight)
    return not isinstance(adaptation, Dynamic) or (adaptation.rule == "sgd" and adaptation.learning_rate > 0)


def network_of(model: TextModel) -> StateModel:
    """Return the model, if it is one network; else ConfigError."""
    if not hasattr(model, "states_and_target_log_probs"):
        raise ConfigError(
            "A neural cache and dynamic evaluation need one network, not n-grams or an interpolation: evaluate the "
            "network alone, or leave them out."
        )
    return cast(StateModel, model)
