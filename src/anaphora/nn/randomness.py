"""Every random number of a model, as a function of (seed, purpose, update, rank) alone.

So no generator's state is ever saved: to go on from update k is to draw what update k + 1 would have drawn anyway.
"""

import hashlib
import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import torch
from torch import Tensor

_LEVELS = 1 << 16
"""The values of a 16-bit draw."""


class _Draws(NamedTuple):
    seed: int
    update: int
    rank: int


_current: ContextVar[_Draws | None] = ContextVar("draws", default=None)


def generator(seed: int, purpose: str, update: int = 0, rank: int = 0) -> torch.Generator:
    """A generator of its own for each combination of arguments, the same on every machine."""
    digest = hashlib.blake2b(f"{seed}/{purpose}/{update}/{rank}".encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest) >> 1)


@contextmanager
def draws(seed: int, update: int, rank: int = 0) -> Iterator[None]:
    """Within it, masks and samples are those of this update; ``rank`` tells apart the processes of one training."""
    token = _current.set(_Draws(seed, update, rank))
    try:
        yield
    finally:
        _current.reset(token)


def dropout_mask(purpose: str, shape: tuple[int, ...], rate: float, like: Tensor) -> Tensor:
    """A mask that drops a share ``rate`` and scales up the rest, with the type and device of ``like``.

    The share is rounded to 1/65536: 16 bits a number are drawn four at a time, which is faster than a draw
    for each, and the rest is scaled by what the rounded share asks for, so that the mean stays 1.

    Raises:
        RuntimeError: a model in training mode is run outside ``draws``.
    """
    source = _source(purpose)
    kept = min(max(1, round((1 - rate) * _LEVELS)), _LEVELS - 1)
    numbers = math.prod(shape)
    draws_of_64_bits = torch.empty(-(-numbers // 4), dtype=torch.int64).random_(-(1 << 63), None, generator=source)
    levels = draws_of_64_bits.view(torch.int16)[:numbers].view(shape)
    return (levels < kept - _LEVELS // 2).to(like.dtype).mul_(_LEVELS / kept).to(like.device)


def uniform_draws(purpose: str, count: int, device: torch.device) -> Tensor:
    """This many numbers on a device, float64, drawn evenly from 0 up to but for 1; the same on every device.

    Raises:
        RuntimeError: a model in training mode is run outside ``draws``.
    """
    return torch.rand(count, dtype=torch.float64, generator=_source(purpose)).to(device)


def dropped(x: Tensor, purpose: str, rate: float, training: bool) -> Tensor:
    """``x`` with dropout in training, ``x`` itself otherwise."""
    return x * dropout_mask(purpose, tuple(x.shape), rate, x) if training and rate else x


def present_update() -> int:
    """The number of the update that is being made (from 1).

    Raises:
        RuntimeError: a model in training mode is run outside ``draws``.
    """
    return _present().update


def _source(purpose: str) -> torch.Generator:
    """The generator of a purpose in the present update."""
    current = _present()
    return generator(current.seed, purpose, current.update, current.rank)


def _present() -> _Draws:
    current = _current.get()
    if current is None:
        raise RuntimeError("a model in training mode draws random numbers: run it within anaphora.nn.randomness.draws.")
    return current
