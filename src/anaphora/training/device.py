"""The device that a network is trained on: the CPU, or a GPU."""

from typing import Literal

import torch

from anaphora.errors import ConfigError

Device = Literal["cpu", "cuda"]


def device_for(name: Device) -> torch.device:
    """The device of that name; on a GPU, products of single precision are made so from here on, and not rounded.

    Raises ConfigError where torch finds no GPU.
    """
    if name == "cuda":
        if not torch.cuda.is_available():
            raise ConfigError(
                f'training.device = "cuda" needs a GPU, but torch {torch.__version__} finds none that it can use: set '
                f'training.device = "cpu", or install a torch that was built for your GPU.'
            )
        torch.backends.cudnn.allow_tf32 = False
    return torch.device(name)
