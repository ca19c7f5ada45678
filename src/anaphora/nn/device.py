"""The device that a network lies on, and the way from there to numpy."""

from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

CPU = torch.device("cpu")


def device_of(model: object) -> torch.device:
    """Return the device of the tensors of a network; the CPU for a model that is no network, or has none."""
    if not isinstance(model, nn.Module):
        return CPU
    return next((tensor.device for tensor in chain(model.parameters(), model.buffers())), CPU)


def array_of(tensor: Tensor) -> np.ndarray[Any, np.dtype[Any]]:
    """Return the numbers of a tensor without its gradient; on the CPU they share its memory."""
    return tensor.detach().cpu().numpy()
