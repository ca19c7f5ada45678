"""Functions of the log-probabilities of a step that know arrays, and the tensors of a GPU (``protocols.DeviceArray``).

Besides, a search reads and changes them by indexing alone, which is the same of both. So a GPU chooses the best tokens
on the device, and only these come to the CPU.
"""

import numpy as np
import torch

from anaphora.kernels import compiled
from anaphora.protocols import Array, DeviceArray

_FEW = 64
"""Continuations of a row that are found in one pass; of more, the pass takes longer than a selection."""


def to_host(values: DeviceArray) -> Array:
    """Return an array, the same one where it is one."""
    found: Array = values if isinstance(values, np.ndarray) else values.cpu().numpy()
    return found


def top_k(values_NV: DeviceArray, k: int) -> tuple[Array, Array]:
    """The ``k`` greatest values of each row, greatest first, and their ids; of equal values the lower id comes first.

    Selections promise nothing about ties, so they are put in order here: those within the k by a stable sort, those
    across the border (rare) by sorting the whole row. Which of several -inf is taken is undefined.
    """
    rows, size = values_NV.shape
    is_array = isinstance(values_NV, np.ndarray)
    if is_array and values_NV.dtype == np.float32 and values_NV.flags.c_contiguous and k <= min(_FEW, size):
        # until the functions of compiled take arrays
        in_c = torch.from_numpy(values_NV)
        if compiled.suits(in_c):
            found = compiled.top_k(in_c, k)
            return found[0].numpy(), found[1].numpy()
    if k >= size:
        return _sorted(values_NV, np.tile(np.arange(size), (rows, 1)))
    if is_array:
        ids = np.argpartition(values_NV, size - k - 1, axis=1)[:, size - k - 1 :]
    else:
        ids = to_host(values_NV.topk(k + 1, dim=1).indices)
    values, ids = _sorted(values_NV, np.sort(ids, axis=1))
    tied_X = np.flatnonzero((values[:, k - 1] == values[:, k]) & (values[:, k] > -np.inf))
    values, ids = values[:, :k], ids[:, :k]
    if len(tied_X):
        whole, whole_ids = _sorted(values_NV[tied_X], np.tile(np.arange(size), (len(tied_X), 1)))
        values[tied_X], ids[tied_X] = whole[:, :k], whole_ids[:, :k]
    return values, ids


def _sorted(values_NV: DeviceArray, ids_NC: Array) -> tuple[Array, Array]:
    """Return the values of rising ids, greatest first, and the ids in that order."""
    rows_N1 = np.arange(len(ids_NC))[:, None]
    values_NC = to_host(values_NV[rows_N1, ids_NC])
    order_NC = descending(values_NC)
    return values_NC[rows_N1, order_NC], ids_NC[rows_N1, order_NC]


def descending(values_NC: Array) -> Array:
    """Return the places of the values of each row, greatest first; of equal ones the lower place comes first."""
    return (-values_NC).argsort(axis=1, kind="stable")
