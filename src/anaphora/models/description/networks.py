"""The networks as data."""

from typing import Any

from torch import nn


def describe(model: nn.Module) -> dict[str, Any]:
    """Return a trained network as JSON-able data, with which ``inference.network.open_network`` computes.

    Weights are named as a checkpoint names them (``run.weights.tensors_of``). Raises ConfigError, naming the option,
    for a network that has no description: n-gram models, interpolations and aligners among them.
    """
    raise NotImplementedError
