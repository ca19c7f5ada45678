"""Places of numbers in an ascending list: see ``places.c``."""

import numpy as np

from anaphora.kernels.compiled.library import Array, available, run


def find_places(numbers_N: Array, keys: Array) -> Array:
    """Return the place of each key among ascending numbers, -1 for one that is none of them; all of int64.

    Of equal numbers it is any of their places.
    """
    if not len(numbers_N):
        return np.full_like(keys, -1)
    if not available():
        place = np.searchsorted(numbers_N, keys).clip(max=len(numbers_N) - 1)
        return np.where(numbers_N[place] == keys, place, -1)
    keys = np.ascontiguousarray(keys)
    place = np.empty_like(keys)
    run("find_places", len(numbers_N), keys.size, np.ascontiguousarray(numbers_N), keys, place)
    return place
