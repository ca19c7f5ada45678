"""How much memory Python takes."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def memory_below(most: int) -> Iterator[None]:
    """Within it, Python takes fewer bytes than this at any time."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()
