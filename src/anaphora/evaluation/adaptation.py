"""Adaptation of a language model to the text that it has predicted so far, beside carrying its state."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, cast

from annotated_types import Ge, Gt, Le, Lt

from anaphora.errors import ConfigError, MissingExtraError
from anaphora.evaluation.stream import LogProbs, stream_log_probs
from anaphora.options import MAX_LENGTH, SET, Conflict
from anaphora.protocols import StateModel, TextModel
from anaphora.records import Record
from anaphora.wording import inflect

if TYPE_CHECKING:
    from torch import Tensor


class Static(Record):
    """Nothing."""

    def __str__(self) -> str:
        return ""


class NeuralCache(Record, extra="forbid"):
    """States of the network are remembered with what followed them."""

    tokens: Annotated[int, Ge(1), Le(2**31 - 1)] = 2000
    """N: number of previous tokens in the cache."""
    theta: Annotated[float, Ge(0)] | None = None
    """Weight of similarity; fitted to the validation split if left out."""
    weight: Annotated[float, Ge(0), Lt(1)] | None = None
    """lambda: weight of the cache; fitted to the validation split if left out."""

    def resolve(self) -> tuple[float, float]:
        """theta and lambda of a cache that leaves neither open."""
        assert self.theta is not None and self.weight is not None
        return self.theta, self.weight

    def __str__(self) -> str:
        theta, weight = self.resolve()
        return f"neural cache of {inflect(self.tokens, 'token')}, theta {theta:g}, weight {weight:.4f}"


class Dynamic(Record, extra="forbid"):
    """The network continues to learn from the text."""

    rule: Literal["sgd", "rms"] = "sgd"
    """One learning rate for all weights, or a scale for every weight, measured on the training split."""
    learning_rate: Annotated[float, Ge(0), Le(1e6)] = 0.0
    """Learning rate; 0 selects the best of several on the validation split."""
    steps: Annotated[int, Ge(1), Le(MAX_LENGTH)] = 20
    """Predictions of a segment."""
    decay: Annotated[float, Ge(0), Le(1)] = 0.0
    """Fraction by which weights return to the trained ones after each segment."""
    epsilon: Annotated[float, Gt(0)] = 0.3
    """Of the rule "rms": what is added to a weight's scale, in units of the mean scale."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"epsilon": SET, "rule": "sgd"}, 'leave it out, or set {at}rule = "rms"'),
    )

    def __str__(self) -> str:
        back = f", decay {self.decay:g}" if self.decay else ""
        scaled = f", scaled by gradients in training, epsilon {self.epsilon:g}" if self.rule == "rms" else ""
        return f"dynamic evaluation by {inflect(self.steps, 'prediction')}, rate {self.learning_rate:g}{back}{scaled}"


@dataclass(frozen=True)
class RmsEvaluation:
    """Dynamic evaluation by the rule "rms", with what it needs to know of the training text."""

    dynamic: Dynamic
    """The options."""
    sizes: "tuple[Tensor, ...]"
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
    network = network_of(model, adaptation)
    if not is_fitted(adaptation):
        raise ConfigError(
            "A neural cache without theta and weight, a rate of 0 and the rule 'rms' need numbers that are not known "
            "yet: find them first with LanguageModelPredictor.adapt."
        )
    if isinstance(adaptation, NeuralCache):
        from anaphora.evaluation.neural_cache import neural_cache_log_probs

        return neural_cache_log_probs(network, tokens, before, adaptation)
    from anaphora.evaluation.dynamic import dynamic_log_probs

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
    network = network_of(model, adaptation)
    if isinstance(adaptation, NeuralCache):
        from anaphora.evaluation.neural_cache import fitted_cache

        return fitted_cache(network, tokens, before, adaptation)
    from anaphora.evaluation.dynamic import fitted_dynamic, gradient_sizes

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


def network_of(model: TextModel, adaptation: Adaptation) -> StateModel:
    """Return the network of a model for an adaptation: for gradients in torch, which ``model.in_torch`` may return.

    Raises ConfigError for a model that is no network, and MissingExtraError where torch is missing.
    """
    if not hasattr(model, "states_and_target_log_probs"):
        raise ConfigError(
            "A neural cache and dynamic evaluation need one network, not n-grams or an interpolation: evaluate the "
            "network alone, or leave them out."
        )
    if isinstance(adaptation, NeuralCache):
        return cast(StateModel, model)
    if find_spec("torch") is None:
        raise MissingExtraError("torch", "train")
    return cast(StateModel, model.in_torch() if hasattr(model, "in_torch") else model)
