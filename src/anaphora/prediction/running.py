"""The runtime of predictors: chosen when a run is loaded, entered while something is computed."""

from collections.abc import Iterable, Iterator
from typing import TypeVar, get_args

from anaphora.config import check_known
from anaphora.errors import ConfigError
from anaphora.kernels.backends import InferencePrecision
from anaphora.kernels.device import Device, device_for
from anaphora.kernels.runtime import Runtime, running

T = TypeVar("T")

ON_CPU = Runtime.inference()
"""On the CPU, in single precision."""


def runtime_for(device: Device = "cpu", precision: InferencePrecision = "fp32") -> Runtime:
    """Return the runtime of a predictor.

    Raises ConfigError for a device that is not there, and for a precision that is unknown or that the device lacks.
    """
    check_known("precision", precision, get_args(InferencePrecision))
    if precision == "int8" and device != "cpu":
        raise ConfigError(f'precision = "int8" is for the CPU, not for device = "{device}": choose bf16 there.')
    return Runtime.inference(device_for(device, "device"), precision)


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
