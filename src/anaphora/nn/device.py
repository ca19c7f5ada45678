"""The device that a network lies on."""

from itertools import chain

import torch
from torch import nn

CPU = torch.device("cpu")


def device_of(model: object) -> torch.device:
    """Return the device of the tensors of a network; the CPU for a model that is no network, or has none."""
    if not isinstance(model, nn.Module):
        return CPU
    return next((tensor.device for tensor in chain(model.parameters(), model.buffers())), CPU)
