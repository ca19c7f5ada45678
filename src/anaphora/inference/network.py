"""A network by its description and its weights."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from anaphora.files import DamagedError
from anaphora.inference.encoder_decoder import EncoderDecoder
from anaphora.inference.language_models import FeedForwardLanguageModel, LanguageModel
from anaphora.inference.operations import Weights
from anaphora.inference.sequences import Classifier, Tagger
from anaphora.inference.values import PredictionNetwork, SynthesisNetwork

_KINDS = {
    "encoder-decoder": EncoderDecoder,
    "language-model": LanguageModel,
    "feed-forward-language-model": FeedForwardLanguageModel,
    "classifier": Classifier,
    "tagger": Tagger,
    "prediction": PredictionNetwork,
    "synthesis": SynthesisNetwork,
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
        return _KINDS[description["kind"]](Weights(weights), description)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise DamagedError(f"The description of the network is of another form: {error!r}.") from None
