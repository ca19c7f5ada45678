"""The runtime of an update, for tests that train without the loop, and numbers of threads."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import torch

from anaphora.kernels.backends import Backend
from anaphora.kernels.runtime import Runtime, running


def updating(seed: int = 1, update: int = 1, rank: int = 0, backend: Backend = "torch") -> AbstractContextManager[None]:
    """Within it, an update of training is made."""
    return running(Runtime(backend=backend, training=True, seed=seed, update=update, rank=rank))


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Within it, torch and the kernels have so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
