"""The library that the ``*.c`` files beside this one are built into.

Its functions take plain addresses and sizes, so it depends on no version of numpy or Python. Numbers lie in arrays of
numpy; a tensor of torch comes as a view of its memory.
"""

import math
import sys
import warnings
from ctypes import CDLL, c_int64, c_void_p, cast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anaphora.kernels.compiled.sources import digest

if TYPE_CHECKING:
    from torch import Tensor

Array = npt.NDArray[Any]

_ALIGNED = 64
"""Bytes that a processor fetches at once."""

ROUNDING = 7
"""Version of the bits that kernels give, in C or by numpy beside it: raised with every change of a last bit.
Checkpoints record it, so that a resumed run can say that its last bits may differ."""


@cache
def _library() -> CDLL | str:
    """Return the library, or why there is none."""
    file = Path(__file__).with_name("_library.so")
    if not file.exists():
        return "was not built when anaphora was installed: install a C compiler, then anaphora again"
    try:
        library = CDLL(str(file))
    except OSError as error:
        return f"cannot be loaded ({error}): install what is missing"
    if not is_built_of(library, digest(file.parent)):
        warnings.warn(
            "The kernels in C are not used: their sources have changed since the library was built. Build it again "
            "with  pip install -e .",
            RuntimeWarning,
            stacklevel=2,
        )
        return "was built of other sources: build it again with  pip install -e ."
    return library


def is_built_of(library: CDLL, sources: int) -> bool:
    """True if a library was built of the sources with this digest, or if there are none (0), as in a wheel.

    A library of other sources would read other arguments than it is given.
    """
    if not sources or not hasattr(library, "sources_digest"):
        return not sources
    library.sources_digest.restype = c_int64
    return bool(library.sources_digest() == sources)


def available() -> bool:
    """True if the library was built and can be loaded."""
    return not obstacle()


def obstacle() -> str:
    """Return why the library cannot be used, and the remedy; nothing if it can."""
    found = _library()
    return found if isinstance(found, str) else ""


def has(name: str) -> bool:
    """True if the library is there and has a function; some are built for certain processors alone."""
    return hasattr(_library(), name)


def suits(block: "Array | Tensor") -> bool:
    """True if the library can take the numbers of a part, of which ``block`` has some."""
    if isinstance(block, np.ndarray):
        return block.dtype == np.float32 and available()
    return block.is_cpu and block.is_floating_point() and block.element_size() == 4 and available()


def empty(*shape: int, dtype: npt.DTypeLike = np.float32) -> Array:
    """Return an array of any numbers that begins where a processor fetches them at once."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.empty(size + _ALIGNED, np.uint8)
    begin = -room.ctypes.data % _ALIGNED
    return room[begin : begin + size].view(dtype).reshape(shape)


def thread_count() -> int:
    """Return the number of threads that may share the work of a call: that of torch, where it is loaded."""
    if torch := sys.modules.get("torch"):
        return int(torch.get_num_threads())
    return call("omp_get_max_threads") if has("omp_get_max_threads") else 1


def set_thread_count(threads: int) -> None:
    """Let so many threads share the work of calls from now on."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(threads)
    elif has("omp_set_num_threads"):
        run("omp_set_num_threads", threads)


def run(name: str, *arguments: Array | int) -> None:
    """Call a function of the library with sizes and the addresses of contiguous arrays, in its order.

    Raises ValueError where an array is not contiguous, or neither of single precision nor of whole numbers (int64).
    """
    addresses = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            if not argument.flags.c_contiguous or argument.dtype not in (np.float32, np.int64):
                raise ValueError(f"{name} takes contiguous arrays of float32 and int64 alone.")
            argument = argument.ctypes.data
        addresses.append(argument)
    _function(name, len(addresses), None)(*addresses)


def call(name: str, *sizes: int) -> int:
    """Return the result of a function of the library that takes nothing but sizes."""
    found: int = _function(name, len(sizes), c_int64)(*sizes)
    return found


@cache
def _function(name: str, arguments: int, result: type[c_int64] | None):  # type: ignore[no-untyped-def]
    function = getattr(_library(), name)
    function.argtypes, function.restype = [c_int64] * arguments, result
    return function


@cache
def address_of(name: str) -> int:
    """Return the address of a function of the library, for others of it that call it."""
    return cast(getattr(_library(), name), c_void_p).value or 0
