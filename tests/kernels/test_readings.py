"""The switch between implementations of the steps: C, the torch operations of each part, the reference equations."""

from collections.abc import Callable
from dataclasses import replace
from unittest.mock import Mock

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.errors import ConfigError
from anaphora.kernels.cells import Cell, Gru, Lstm, Peephole
from anaphora.kernels.compiled.library import available
from anaphora.kernels.naive import parts, units
from anaphora.kernels.program import Program
from anaphora.kernels.runtime import Kernels, Runtime, current, running
from anaphora.kernels.scan import advance

from .exactness import gradients
from .network import Network
from .test_single_kernels import KERNELS


def computed(kernels: Kernels, network: Network) -> dict[str, Tensor]:
    """Outputs, state and every gradient in double precision, and the first step in search."""
    with running(replace(Runtime.inference(), kernels=kernels, observer=Mock())):
        found = network.fast()
        step = advance(
            network.program,
            {"x": network.leaves["x"][:2]},
            {n: f.expand(2, -1, -1) for n, f in network.first(network.leaves).items()},
            network.weights(network.leaves),
            network.memory(network.leaves),
        )
        gradients = {f"d {name}": gradient for name, gradient in network.gradients(found).items()}
    return found | gradients | {"step": step["layer0.h"]}


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(
    ("cell", "normalised"),
    [
        (Lstm(), False),
        (Lstm(), True),
        (Gru(update="new"), False),
        (Gru(recurrent_bias=True), True),
        (Peephole(), False),
        (Peephole(), True),
    ],
    ids=str,
)
def test_torch_operations_and_reference_equations_agree(
    cell: Cell, masked: bool, normalised: bool, layers: Callable[..., Network]
) -> None:
    network = layers(cell, 5, lengths=(4, 6, 2), variational=masked, normalised=normalised)
    assert_close(computed("naive", network), computed("python", network), rtol=1e-9, atol=1e-9)


def test_units_on_a_condition_agree_with_their_reference_equations() -> None:
    kernel = KERNELS["conditioned-new"]
    leaves, found = kernel.leaves(5), []
    for kernels in ("python", "naive"):
        with running(replace(Runtime.inference(), kernels=kernels)):
            outputs = kernel.fast(*leaves)
            found.append((outputs, *gradients(outputs, leaves)))
    assert_close(*found, rtol=1e-9, atol=1e-9)


def test_naive_kernels_run_the_reference_equations(
    layers: Callable[..., Network], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def counted(cell: Cell, *rest: object) -> object:
        seen.append(cell)
        return units.lstm_step(cell, *rest)  # type: ignore[arg-type]

    monkeypatch.setitem(units.UNITS, Lstm, counted)
    network = layers(Lstm(), 5, lengths=(4, 6, 2))
    computed("python", network)
    assert not seen
    computed("naive", network)
    assert len(seen) == 6 + 2  # steps of training, hypotheses of search
    assert parts.with_naive_units(Program((), ())) == Program((), ())


@pytest.mark.skipif(not available(), reason="the library was not built: there is no C compiler")
def test_only_native_kernels_run_in_c() -> None:
    block = torch.zeros(1)
    assert Runtime(kernels="native").native(block) and not Runtime(kernels="native").native(block.double())
    assert not Runtime(kernels="python").native(block) and not Runtime(kernels="naive").native(block)
    assert Runtime(kernels="python", backend="gemm").training_backend == "torch"


@pytest.mark.parametrize(("value", "kernels"), [(None, "native"), ("python", "python"), ("naive", "naive")])
def test_the_environment_chooses(value: str | None, kernels: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANAPHORA_KERNELS", raising=False)
    if value:
        monkeypatch.setenv("ANAPHORA_KERNELS", value)
    assert Runtime().kernels == kernels
    with running(Runtime()):
        assert current().kernels == kernels


def test_unknown_kernels_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANAPHORA_KERNELS", "fast")
    with pytest.raises(ConfigError, match="ANAPHORA_KERNELS should be native, python or naive, but is 'fast'"):
        Runtime()
