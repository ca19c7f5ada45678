"""A network by its description and its weights."""

from collections.abc import Mapping
from typing import Any

import numpy as np


def open_network(description: Mapping[str, Any], weights: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    """Return the model that a description describes; arrays in, arrays out.

    It has what predictors call on a model: ``stepper``, ``target_log_probs``, ``states_and_target_log_probs``,
    ``carry_after``, ``predict``, ``start``, ``advance``, by its kind.

    Args:
        description: what ``models.description.describe`` returned.
        weights: the tensors of the checkpoint by name, its buffers among them; they are read, never changed.

    Raises DamagedError for a description that names what there is not.
    """
    raise NotImplementedError
