"""The bias of step 1 of ``kernels/softmax.py`` and steps 2 to 3', and log softmax: see ``softmax.c``."""

import numpy as np

from anaphora.kernels.compiled.library import Array, empty, run


def softmax_rows(
    wanted: bool, z_NV: Array, bias_V: Array, targets_N: Array, weights_N: Array | None, smoothing: float
) -> Array:
    """max z, s, z_y and, if there is smoothing, mean z (4 x N).

    ``z_NV``, without its bias (of no elements for none), becomes dz if that is ``wanted``. Raises IndexError where a
    target is no column of it.
    """
    rows, size = z_NV.shape
    if rows and not 0 <= int(targets_N.min()) <= int(targets_N.max()) < size:
        raise IndexError(f"Targets should be 0 to {size - 1}, but are {targets_N.min()} to {targets_N.max()}.")
    found_4N, e, targets_N = empty(4, rows), np.full(1, smoothing, np.float32), np.ascontiguousarray(targets_N)
    bias, weights = (bias_V if bias_V.size else 0), (0 if weights_N is None else np.ascontiguousarray(weights_N))
    run("softmax_rows", rows, size, int(wanted), bias, targets_N, weights, e, z_NV, found_4N)
    return found_4N


def log_softmax_rows(z_NV: Array) -> Array:
    """log softmax(z) of every row; overwrites ``z_NV``, which is contiguous and in fp32."""
    run("log_softmax_rows", *z_NV.shape, z_NV)
    return z_NV
