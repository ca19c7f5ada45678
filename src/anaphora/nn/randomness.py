"""Every random number of a model, as a function of (seed, purpose, update, rank) alone; the runtime has all but one.

So no generator's state is ever saved: to go on from update k is to draw what update k + 1 would have drawn anyway.
"""

import hashlib
import math

import torch
from torch import Tensor

from anaphora.kernels.runtime import Runtime, current
from anaphora.nn.device import CPU

_LEVELS = 1 << 16
"""The values of a 16-bit draw."""


def generator(seed: int, purpose: str, update: int = 0, rank: int = 0, device: torch.device = CPU) -> torch.Generator:
    """Return a separate generator for each combination of arguments, the same on every machine with such a device."""
    digest = hashlib.blake2b(f"{seed}/{purpose}/{update}/{rank}".encode(), digest_size=8).digest()
    return torch.Generator(device).manual_seed(int.from_bytes(digest) >> 1)


def dropout_mask(purpose: str, shape: tuple[int, ...], rate: float, like: Tensor) -> Tensor:
    """Return a mask that drops a share ``rate`` and scales up the rest, with the type and device of ``like``.

    A GPU draws its own, so its masks are others than those of the processor.

    The share is rounded to 1/65536: 16 bits a number are drawn four at a time, which is faster than a draw
    for each, and the rest is scaled by what the rounded share asks for, so that the mean stays 1.

    Raises:
        RuntimeError: a model in training mode is run outside of an update.
    """
    source = _source(purpose, like.device if like.is_cuda else CPU)
    kept = min(max(1, round((1 - rate) * _LEVELS)), _LEVELS - 1)
    numbers = math.prod(shape)
    draws_of_64_bits = torch.empty(-(-numbers // 4), dtype=torch.int64, device=source.device)
    draws_of_64_bits.random_(-(1 << 63), None, generator=source)
    levels = draws_of_64_bits.view(torch.int16)[:numbers].view(shape)
    return (levels < kept - _LEVELS // 2).to(like).mul_(_LEVELS / kept)


def uniform_draws(purpose: str, count: int, device: torch.device) -> Tensor:
    """This many numbers on a device, float64, drawn evenly from 0 up to but for 1; the same on every device.

    Raises:
        RuntimeError: a model in training mode is run outside of an update.
    """
    return torch.rand(count, dtype=torch.float64, generator=_source(purpose, CPU)).to(device)


def apply_dropout(x: Tensor, purpose: str, rate: float, training: bool) -> Tensor:
    """``x`` with dropout in training, ``x`` itself otherwise."""
    return x * dropout_mask(purpose, tuple(x.shape), rate, x) if training and rate else x


def present_update() -> int:
    """Return the number of the update that is being made (from 1).

    Raises:
        RuntimeError: a model in training mode is run outside of an update.
    """
    return _present().update


def _source(purpose: str, device: torch.device) -> torch.Generator:
    runtime = _present()
    return generator(runtime.seed, purpose, runtime.update, runtime.rank, device)


def _present() -> Runtime:
    runtime = current()
    if not runtime.training:
        raise RuntimeError(
            "A model in training mode draws random numbers, which need the seed and the number of an update: run it "
            "within kernels.runtime.running(Runtime(training=True, seed=.., update=..))."
        )
    return runtime
