"""The device that a network lies on."""

from itertools import chain

import torch
from torch import nn

CPU = torch.device("cpu")


def device_of(network: nn.Module) -> torch.device:
    """The device of the tensors of a network; the CPU for a network without any."""
    return next((tensor.device for tensor in chain(network.parameters(), network.buffers())), CPU)
