"""The device that a network runs on: the CPU, or a GPU."""

from typing import Literal

from anaphora.errors import ConfigError

Device = Literal["cpu", "cuda"]


def device_for(name: Device, option: str) -> Device:
    """Return the device of that name; on a GPU, products of single precision are not rounded from here on.

    Raises ConfigError, which names the ``option`` that asked for it, where torch finds no GPU or the name is none.
    """
    if name not in ("cpu", "cuda"):
        raise ConfigError(f'{option} "{name}" is unknown: choose "cpu" or "cuda".')
    if name == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise ConfigError(
                f'{option} = "cuda" needs a GPU, but torch {torch.__version__} finds none that it can use: set '
                f'{option} = "cpu", or install a torch that was built for your GPU.'
            )
        torch.backends.cudnn.allow_tf32 = False
    return name
