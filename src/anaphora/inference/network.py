"""A network by its description and its weights."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from anaphora.batch import Batch, Labels, Values
from anaphora.errors import ShapeError
from anaphora.files import DamagedError
from anaphora.inference.alignment.links import Aligner
from anaphora.inference.encoder_decoder import EncoderDecoder
from anaphora.inference.interpolation.mixture import Mixture
from anaphora.inference.language_models import FeedForwardLanguageModel, LanguageModel
from anaphora.inference.ngram import BackoffModel
from anaphora.inference.sequences import Classifier, Tagger
from anaphora.inference.values import PredictionNetwork, SynthesisNetwork
from anaphora.inference.weights import Weights

_KINDS: Mapping[str, Callable[[Weights, Mapping[str, Any]], Any]] = {
    "encoder-decoder": EncoderDecoder,
    "recurrent-language-model": LanguageModel,
    "feed-forward-language-model": FeedForwardLanguageModel,
    "classifier": Classifier,
    "tagger": Tagger,
    "prediction": PredictionNetwork,
    "synthesis": SynthesisNetwork,
    "ngram": BackoffModel.described,
    "interpolation": lambda weights, data: Mixture.described(weights, data, _build),
    "aligner": Aligner.described,
}

_FAULTS = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError),
    *(RuntimeError, StopIteration, TypeError, ValueError),
)
"""Errors of numpy and of what is read here, for a description that does not fit."""
_NUMBERS = 1 << 16
"""Numbers up to this size stand in any description; greater ones are no greater than the largest tensor."""


def open_network(
    description: Mapping[str, Any], weights: Mapping[str, np.ndarray[Any, Any]], sample: Batch | None = None
) -> Any:
    """Return the model that a description describes; arrays in, arrays out.

    It has what predictors call on a model: ``stepper``, ``target_log_probs``, ``states_and_target_log_probs``,
    ``carry_after``, ``predict``, ``start``, ``advance``, by its kind.

    Args:
        description: what ``models.description.describe`` returned.
        weights: the tensors of the checkpoint by name, its buffers among them; they are read, never changed.
        sample: one row of two steps that it is tried on, of what it reads and predicts, with the last ids that there
            are; the targets of a tagger or a classifier are the last class.

    Raises DamagedError for a description of another form, that names what there is not, or that weights do not fit.
    """
    try:
        _check_numbers(description, max([_NUMBERS, *(tensor.size for tensor in weights.values())]))
        model = _build(Weights(weights), description)
        if sample is not None:
            _try(model, sample)
        return model
    except _FAULTS as error:
        raise DamagedError(f"The description of the network is of another form than its weights: {error!r}.") from None


def _check_numbers(description: Mapping[str, Any], largest: int) -> None:
    """Raise ShapeError for a size that nothing has, before memory is taken for it, or for a factor too large."""
    values = [description]
    while values:
        value: Any = values.pop()
        bound = largest if isinstance(value, int) else float(np.finfo(np.float32).max)
        if isinstance(value, int | float) and abs(value) > bound:
            raise ShapeError(f"the number {value} is larger than any there can be, of at most {bound}.")
        values += value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()


def _try(model: Any, sample: Batch) -> None:
    """Compute as predictors do, so that what does not fit is found at once."""
    match model, sample.targets:
        case Classifier() | Tagger(), Labels(classes=classes):
            scores, kinds = model.graph.read(sample.inputs)[0]["scores"], classes[0] + 1
            thresholds = isinstance(model, Classifier) and model.several and model.thresholds.shape != (kinds,)
            if scores.shape != ((2, 1, kinds) if isinstance(model, Tagger) else (1, kinds)) or thresholds:
                raise ShapeError(f"scores should be of as many classes as {kinds}, but are {scores.shape}.")
            model.predict(sample)
        case PredictionNetwork() | SynthesisNetwork(), Values(values_BTD=values_BTX):
            model.predict(sample)
            states_BH, _ = model.advance(model.start(sample), values_BTX[:, 0, :-1])
            draws = np.zeros(1), np.zeros((1, model.output.size)), np.zeros((1, model.output.flags))
            model.output.draw(states_BH, draws, 0.0)
        case _ if not isinstance(model, Aligner):
            _take_steps(model, sample)


def _take_steps(model: Any, sample: Batch) -> None:
    """Write after the last token, among others."""
    stepper = model.stepper()
    start = stepper.start(sample)
    for token in (stepper.bos, model.symbols.size - 1):
        found = stepper.advance(start.memory, start.state, np.array([token])).log_probs_NV
        if found.shape != (1, model.symbols.size):
            raise ShapeError(f"a step should score {model.symbols.size} words, but scores {found.shape[-1]}.")
    if hasattr(model, "carry_after"):
        model.carry_after(sample)


def _build(weights: Weights, description: Mapping[str, Any]) -> Any:
    return _KINDS[description["kind"]](weights, description)
