"""The runtime of predictors: chosen when a run is loaded, entered while something is computed."""

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, get_args

from anaphora.errors import ConfigError
from anaphora.kernels.backends import InferencePrecision
from anaphora.kernels.device import Device, device_for
from anaphora.kernels.prepared import with_prepared_weights
from anaphora.kernels.runtime import Runtime, current, running
from anaphora.wording import check_known

if TYPE_CHECKING:
    import torch

T = TypeVar("T")


def use_threads(count: int) -> None:
    """Let predictions use so many threads from now on."""
    os.environ["OMP_NUM_THREADS"] = str(count)  # torch and the C library read it when they are loaded
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(count)


def runtime_for(device: Device = "cpu", precision: InferencePrecision = "fp32") -> Runtime:
    """Return the runtime of a predictor.

    Raises ConfigError for a device that is not there, and for a precision that is unknown or that the device lacks.
    """
    check_known("precision", precision, get_args(InferencePrecision))
    if precision == "int8" and device != "cpu":
        raise ConfigError(f'precision = "int8" is for the CPU, not for device = "{device}": choose bf16 there.')
    return with_prepared_weights(Runtime.inference(device_for(device, "device"), precision))


def runtime_for_validation(model: "torch.nn.Module") -> Runtime:
    """Return the runtime of a predictor of a network in training, which owns what is made of its weights."""
    from anaphora.nn.device import device_of

    return replace(Runtime.inference("cuda" if device_of(model).type == "cuda" else "cpu"), prepared=current().prepared)


def iterate_within(runtime: Runtime, items: Iterable[T]) -> Iterator[T]:
    """Yield the items, each made within ``runtime``, which is left before it is handed over."""
    rest = iter(items)
    while True:
        with running(runtime):
            try:
                item = next(rest)
            except StopIteration:
                return
        yield item
