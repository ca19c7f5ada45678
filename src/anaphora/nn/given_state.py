"""Initial states that are given: vectors that sequences start from, in place of zeros or of what training learned.

They are named by layer and field in language models (``layer0.h``), and by layer, direction and field in encoders
(``0.left_to_right.h``).
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from anaphora.errors import ConfigError, ShapeError
from anaphora.nn.stack import Stack


def start_from(model: nn.Module, state: Mapping[str, npt.ArrayLike]) -> None:
    """Let every sequence start from these vectors, H numbers each; what is not named starts as before.

    Raises ConfigError for a name that the model has not, or a model without such states, ShapeError for a vector of
    another size, and for what is no finite number.
    """
    places = {
        _name(path, signal): (stack, signal)
        for path, stack in model.named_modules()
        if isinstance(stack, Stack)
        for signal in stack.program.carried
    }
    if not places:
        raise ConfigError("An initial state was given, but this model has no recurrent layers: leave it out.")
    for name, values in state.items():
        if name not in places:
            raise ConfigError(f"The initial state has '{name}', but the model has {', '.join(places)}: rename it.")
        stack, signal = places[name]
        try:
            vector_H = np.asarray(values, dtype=np.float32)
        except (TypeError, ValueError):
            raise ShapeError(
                f"The initial state '{name}' should be numbers, but is {values!r:.40}: correct it."
            ) from None
        if vector_H.shape != (stack.config.size,):
            raise ShapeError(
                f"The initial state '{name}' should have the shape ({stack.config.size},), but has {vector_H.shape}: "
                f"give one vector."
            )
        if not np.isfinite(vector_H).all():
            raise ShapeError(f"The initial state '{name}' has a number that is not finite: correct it.")
        stack.given[signal] = torch.from_numpy(vector_H).to(next(stack.parameters()))


def _name(path: str, signal: str) -> str:
    _, layers, place = path.rpartition("layers.")
    return f"{place}.{signal.removeprefix('layer0.')}" if layers else signal
