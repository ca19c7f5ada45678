"""The library that the ``*.c`` files beside this one are built into.

Its functions take plain addresses and sizes, so it depends on no version of torch or Python.
"""

import warnings
from ctypes import CDLL, c_int64, c_void_p, cast
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import torch
from torch import Tensor

from anaphora.kernels.compiled.sources import digest

ROUNDING = 6
"""Version of the bits that the library gives: raised with every change of a function that changes a last bit.
Checkpoints record it, so that a resumed run can say that its last bits may differ."""


@cache
def _library() -> CDLL | None:
    """Return the library; None where it was not built, cannot be loaded, or was built of other sources."""
    found = find_spec("anaphora.kernels.compiled._library")
    if found is None or found.origin is None:
        return None
    try:
        library = CDLL(found.origin)
    except OSError:
        return None
    if not is_built_of(library, digest(Path(found.origin).parent)):
        warnings.warn(
            "The kernels in C are not used: their sources have changed since the library was built. Build it again "
            "with  pip install -e .",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
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
    return _library() is not None


def has(name: str) -> bool:
    """True if the library is there and has a function; some are built for certain processors alone."""
    return hasattr(_library(), name)


def suits(block: Tensor) -> bool:
    """True if the library can take a part's tensors, of which ``block`` is one."""
    return block.dtype == torch.float32 and block.is_cpu and available()


def run(name: str, *arguments: Tensor | int) -> None:
    """Call a function of the library with sizes and the addresses of contiguous tensors, in its order.

    Raises ValueError where a tensor is not contiguous, or neither of single precision nor of whole numbers (int64).
    """
    addresses = []
    for argument in arguments:
        if isinstance(argument, Tensor):
            if not argument.is_contiguous() or argument.dtype not in (torch.float32, torch.int64):
                raise ValueError(f"{name} takes contiguous tensors of float32 and int64 alone.")
            argument = argument.data_ptr()
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
