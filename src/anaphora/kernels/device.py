"""The device that a network runs on, the CPU or a GPU, and memory of the CPU that training uses again."""

import sys
from typing import Literal

from anaphora.errors import ConfigError

Device = Literal["cpu", "cuda"]

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4
_LARGEST, _MARGIN = (1 << 31) - 1, 64 << 20


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


def keep_freed_memory() -> bool:
    """Tell the C library to keep what is freed; says whether it has that setting (glibc on Linux has).

    The C library gives large blocks back to the system as soon as they are freed. An update frees and asks for hundreds
    of megabytes, and every page that comes back costs a fault.
    """
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is None:
        return False
    settings = ((_TRIM_THRESHOLD, _LARGEST), (_TOP_PAD, _MARGIN), (_MMAP_MAX, 0))
    return all(mallopt(name, value) for name, value in settings)
