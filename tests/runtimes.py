"""The runtime of an update, for tests that train without the loop."""

from contextlib import AbstractContextManager

from anaphora.kernels.backends import Backend
from anaphora.kernels.runtime import Runtime, running


def updating(seed: int = 1, update: int = 1, rank: int = 0, backend: Backend = "torch") -> AbstractContextManager[None]:
    """Within it, an update of training is made."""
    return running(Runtime(backend=backend, training=True, seed=seed, update=update, rank=rank))
