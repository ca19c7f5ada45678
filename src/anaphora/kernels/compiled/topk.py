"""The greatest numbers of each row: see ``topk.c``."""

import numpy as np

from anaphora.kernels.compiled.library import Array, empty, run


def top_k(z_NV: Array, k: int) -> tuple[Array, Array]:
    """The ``k`` greatest of each row, greatest first, and their places; of equal ones the lower place comes first.

    ``z_NV`` is contiguous and of single precision. Raises ValueError for a k that is not 1 to V.
    """
    rows, size = z_NV.shape
    if not 1 <= k <= size:
        raise ValueError(f"A row of {size} numbers has 1 to {size} greatest ones, not {k}.")
    values_Nk, places_Nk = empty(rows, k), empty(rows, k, dtype=np.int64)
    run("top_k", rows, size, k, z_NV, values_Nk, places_Nk)
    return values_Nk, places_Nk
