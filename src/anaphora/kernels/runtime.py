"""Device, precision, seed and update of running networks: one frozen value in the package's one context variable.

``with running(Runtime(..)):`` is entered by the training loop, predictors and inspection alone. The value is read where
matrix products and random draws are made and by ``scan``, so no ``forward`` has an argument for it. Outside of every
block it is ``Runtime.inference()``. A backward pass may run on another thread, where the context
variable has its default: autograd functions keep the runtime of their forward pass.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from anaphora.errors import ConfigError
from anaphora.kernels.backends import Backend, InferencePrecision, backend_for, runs_in_c, without_c
from anaphora.kernels.compiled.library import set_thread_count, suits, thread_count
from anaphora.kernels.compiled.loop import has_loop
from anaphora.kernels.device import Device

if TYPE_CHECKING:
    from anaphora.kernels.prepared import PreparedWeights, Weight

Kernels = Literal["native", "python", "naive"]
VARIABLE = "ANAPHORA_KERNELS"


def _from_environment() -> Kernels:
    """Return the value of the environment variable.

    Raises ConfigError for an unknown one.
    """
    for known in get_args(Kernels):
        if os.environ.get(VARIABLE, "native") == known:
            return known  # type: ignore[no-any-return]
    raise ConfigError(
        f"{VARIABLE} should be native, python or naive, but is {os.environ[VARIABLE]!r}: set or unset it."
    )


class Observer(Protocol):
    """Object that looks at scans; ``observer.py`` has the values that it receives."""

    def forward(self, seen: Any) -> None:
        """Receive the ``Trajectory`` of a scan that ran."""

    def backward(self, seen: Any, gradients: Any) -> None:
        """Receive the ``Gradients`` of a scan after its backward pass."""


@dataclass(frozen=True)
class Runtime:
    """Device, matmul backend and threads, and in training what random draws depend on."""

    device: Device = "cpu"
    """Device of the network."""
    backend: Backend = "torch"
    """Matmul backend. In training, that of products with a gradient."""
    kernels: Kernels = field(default_factory=_from_environment)
    """Implementation of the steps: C and cuDNN where available ("native"), the torch operations of each part
    ("python"), or the reference equations of each recurrent unit, differentiated by autograd ("naive"). The default is
    the value of the environment variable ANAPHORA_KERNELS, else "native"."""
    training: bool = False
    """True if this is an update of training."""
    threads: int = 0
    """Threads of torch and of C; 0 leaves them as they are."""
    prepared: "PreparedWeights | None" = None
    """Owner of what is made of weights once, for products without a gradient; None makes it anew for each of them."""
    seed: int = 0
    """Random seed."""
    update: int = 0
    """Number of the update, from 1; 0 outside of training."""
    rank: int = 0
    """Number of this process among those that train together, from 0; within an update, of the micro-batch."""
    observer: Observer | None = None
    """Object that sees every signal and gradient of every scan: for inspection."""

    @classmethod
    @cache
    def inference(cls, device: Device = "cpu", precision: InferencePrecision = "fp32") -> "Runtime":
        """Return the runtime of search and evaluation on ``device``."""
        return cls(device, backend_for(precision, device))

    def native(self, block: "Weight") -> bool:
        """True if the steps of a part run in C; ``block`` is one of its arrays or tensors."""
        return self.kernels == "native" and suits(block)

    def loops_in_c(self, block: "Weight", recording: bool) -> bool:
        """True if one call of C takes all steps of a loop; ``block`` is one of its arrays or tensors.

        Its products are those of the packed GEMM. ``recording``: whether there will be a backward pass.
        """
        if (recording and not self.training) or self.observer or not has_loop() or not self.native(block):
            return False
        return runs_in_c(self.training_backend if recording else self.inference_backend)

    @property
    def training_backend(self) -> Backend:
        """Backend of products with a gradient: ``backend``, but torch instead of C if kernels are not native."""
        return self._allow(self.backend)

    @property
    def inference_backend(self) -> Backend:
        """Backend of products without a gradient.

        In training these are of a frozen network, or of a decoder that predicts its own input: they are never rounded.
        """
        return self._allow(backend_for("fp32", self.device) if self.training else self.backend)

    def _allow(self, backend: Backend) -> Backend:
        return backend if self.kernels == "native" else without_c(backend)


_current: ContextVar[Runtime | None] = ContextVar("runtime", default=None)


def current() -> Runtime:
    """Return the runtime of the innermost block; outside of every block, that of inference on the CPU."""
    return _current.get() or Runtime.inference()


@contextmanager
def running(runtime: Runtime) -> Iterator[None]:
    """Run networks within it as ``runtime`` says; after it as before, with the threads of before.

    A generator must not yield within it: what it yields to would run so too.
    """
    threads = thread_count()
    changes = runtime.threads not in (0, threads)
    token = _current.set(runtime)
    try:
        if changes:
            set_thread_count(runtime.threads)
        yield
    finally:
        _current.reset(token)
        if changes:
            set_thread_count(threads)
