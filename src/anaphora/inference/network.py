"""A network by its description and its weights."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from anaphora.batch import Batch, SpeltIds
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


_NUMBERS = 1 << 16
"""Numbers up to this size stand in any description; greater ones are no greater than the largest tensor."""


def open_network(description: Mapping[str, Any], weights: Mapping[str, np.ndarray[Any, Any]], words: int = 1) -> Any:
    """Return the model that a description describes; arrays in, arrays out.

    It has what predictors call on a model: ``stepper``, ``target_log_probs``, ``states_and_target_log_probs``,
    ``carry_after``, ``predict``, ``start``, ``advance``, by its kind.

    Args:
        description: what ``models.description.describe`` returned.
        weights: the tensors of the checkpoint by name, its buffers among them; they are read, never changed.
        words: how many ids its input may have.

    Raises DamagedError for a description of another form, that names what there is not, or that weights do not fit.
    """
    try:
        _check_numbers(description, max([_NUMBERS, *(tensor.size for tensor in weights.values())]))
        model = _build(Weights(weights), description)
        operations = description.get("encoder", {}).get("operations", [])
        if hasattr(model, "stepper") and not any("values" in inputs for _, inputs, *_ in operations):
            _take_step(model, words)
        return model
    except (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError, RuntimeError) as error:
        raise DamagedError(f"The description of the network is of another form than its weights: {error!r}.") from None


def _check_numbers(description: Mapping[str, Any], largest: int) -> None:
    """Raise ShapeError for a size that nothing in the network has, before memory is taken for it."""
    values = [description]
    while values:
        value: Any = values.pop()
        if isinstance(value, int) and abs(value) > largest:
            raise ShapeError(f"the number {value} is larger than any tensor, of at most {largest} numbers.")
        values += value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()


def _take_step(model: Any, words: int) -> None:
    """Read the last of the ``words`` and write after the last token, so that what does not fit is found at once."""
    one_11, stepper = np.ones((1, 1), np.int64), model.stepper()
    ids = SpeltIds(one_11 * (words - 1), one_11[0], one_11 * 0, one_11 * 0, one_11[0])
    batch = Batch.of_rows([0], ids, ids)
    start = stepper.start(batch)
    for token in (stepper.bos, model.symbols.size - 1):
        found = stepper.advance(start.memory, start.state, np.array([token])).log_probs_NV
        if found.shape != (1, model.symbols.size):
            raise ShapeError(f"a step should score {model.symbols.size} words, but scores {found.shape[-1]}.")
    if hasattr(model, "carry_after"):
        model.carry_after(batch)


def _build(weights: Weights, description: Mapping[str, Any]) -> Any:
    return _KINDS[description["kind"]](weights, description)
