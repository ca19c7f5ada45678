"""Every random number of a model, as a function of (seed, purpose, update, rank) alone.

So no generator's state is ever saved: to go on from update k is to draw what update k + 1 would have drawn anyway.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import torch
from torch import Tensor


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
    """Within it, dropout masks are those of this update; ``rank`` tells apart the processes of one training."""
    token = _current.set(_Draws(seed, update, rank))
    try:
        yield
    finally:
        _current.reset(token)


def dropout_mask(purpose: str, shape: tuple[int, ...], rate: float, like: Tensor) -> Tensor:
    """A mask that drops a share ``rate`` and scales up the rest, with the type and device of ``like``.

    Raises:
        RuntimeError: a model in training mode is run outside ``draws``.
    """
    current = _current.get()
    if current is None:
        raise RuntimeError("a model in training mode draws dropout masks: run it within anaphora.nn.randomness.draws.")
    source = generator(current.seed, purpose, current.update, current.rank)
    kept = torch.empty(shape).bernoulli_(1 - rate, generator=source)
    return (kept / (1 - rate)).to(like)


def dropped(x: Tensor, purpose: str, rate: float, training: bool) -> Tensor:
    """``x`` with dropout in training, ``x`` itself otherwise."""
    return x * dropout_mask(purpose, tuple(x.shape), rate, x) if training and rate else x
