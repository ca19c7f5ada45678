"""Memory that is freed stays with the process, so that the next update need not ask for it again.

The C library gives large blocks back to the system as soon as they are freed. An update frees and asks for hundreds
of megabytes, and every page that comes back costs a fault.
"""

import ctypes
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4
_LARGEST, _MARGIN = (1 << 31) - 1, 64 << 20


def keep_freed_memory() -> bool:
    """Tell the C library to keep what is freed; says whether it has that setting (glibc on Linux has)."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is None:
        return False
    settings = ((_TRIM_THRESHOLD, _LARGEST), (_TOP_PAD, _MARGIN), (_MMAP_MAX, 0))
    return all(mallopt(name, value) for name, value in settings)
