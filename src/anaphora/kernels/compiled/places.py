"""Places of numbers in an ascending list: see ``places.c``."""

import torch
from torch import Tensor

from anaphora.kernels.compiled.library import available, run


def find_places(numbers_N: Tensor, keys: Tensor) -> Tensor:
    """Return the place of each key among ascending numbers, -1 for one that is none of them; of int64, on one device.

    Of equal numbers it is any of their places.
    """
    if not len(numbers_N):
        return torch.full_like(keys, -1)
    if not keys.is_cpu or not available():
        place = torch.searchsorted(numbers_N, keys).clamp_(max=len(numbers_N) - 1)
        return torch.where(numbers_N.take(place) == keys, place, -1)
    place = torch.empty_like(keys, memory_format=torch.contiguous_format)
    run("find_places", len(numbers_N), keys.numel(), numbers_N.contiguous(), keys.contiguous(), place)
    return place
