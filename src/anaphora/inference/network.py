"""A network by its description and its weights."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

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


def open_network(description: Mapping[str, Any], weights: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    """Return the model that a description describes; arrays in, arrays out.

    It has what predictors call on a model: ``stepper``, ``target_log_probs``, ``states_and_target_log_probs``,
    ``carry_after``, ``predict``, ``start``, ``advance``, by its kind.

    Args:
        description: what ``models.description.describe`` returned.
        weights: the tensors of the checkpoint by name, its buffers among them; they are read, never changed.

    Raises DamagedError for a description of another form, or that names what there is not.
    """
    try:
        return _build(Weights(weights), description)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise DamagedError(f"The description of the network is of another form: {error!r}.") from None


def _build(weights: Weights, description: Mapping[str, Any]) -> Any:
    return _KINDS[description["kind"]](weights, description)
