"""The reading of a stack for GPUs, held to the scan on a processor: it needs none."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from anaphora.kernels import cudnn, scan
from anaphora.kernels.cells import Cell, Elman, Gru, Lstm
from anaphora.kernels.parts import Project, previous

from .conftest import CELLS, shown
from .network import Network

TORCH_HAS = [Lstm(), Gru(), Gru(recurrent_bias=True), Elman(), Elman(activation="relu")]
BETWEEN = [{}, {"masked": True}, {"residual": True}, {"masked": True, "residual": True}]


def by_layers(network: Network) -> dict[str, torch.Tensor]:
    """What ``Network.fast`` gives, in the other reading."""
    return network.through(cudnn.layers)


@pytest.mark.matrix
@pytest.mark.parametrize("options", BETWEEN, ids=lambda options: "-".join(options) or "plain")
@pytest.mark.parametrize("unit", TORCH_HAS, ids=shown)
@pytest.mark.parametrize("size", [1, 7, 63])
def test_values_and_gradients_are_those_of_the_scan(
    unit: Cell, size: int, options: dict[str, bool], layers: Callable[..., Network]
) -> None:
    network = layers(unit, size, height=3, **options)
    assert cudnn.suits(network.program)
    network.assert_same(by_layers(network), network.fast(), atol=1e-12, gradient_atol=1e-9)


def test_a_mask_for_a_whole_sentence_between_layers_is_that_of_the_scan(layers: Callable[..., Network]) -> None:
    network = layers(Lstm(), 7, height=2, variational=True)
    unmasked = replace(
        network,
        program=replace(
            network.program,
            parts=tuple(replace(p, masked=False) if hasattr(p, "masked") else p for p in network.program.parts),
        ),
        sentence_masks={name: mask for name, mask in network.sentence_masks.items() if name.startswith("dropout")},
    )
    assert not cudnn.suits(network.program)  # masks of states are no part of torch's layers
    assert cudnn.suits(unmasked.program)
    unmasked.assert_same(by_layers(unmasked), unmasked.fast(), atol=1e-12, gradient_atol=1e-11)


def test_padding_full_of_nan_changes_nothing(layers: Callable[..., Network]) -> None:
    network = layers(Gru(), 7, height=2)
    poisoned = network.poisoned()
    poisoned.assert_same(by_layers(poisoned), by_layers(network), atol=0, gradient_atol=0, of=network)


def test_a_unit_without_bias_is_that_of_the_scan(layers: Callable[..., Network]) -> None:
    network = layers(Lstm(), 7)
    unbiased = replace(
        network,
        program=replace(
            network.program,
            parts=tuple(replace(p, bias=False) if isinstance(p, Project) else p for p in network.program.parts),
        ),
        leaves={name: leaf for name, leaf in network.leaves.items() if not name.endswith(".bias")},
    )
    assert_close(by_layers(unbiased), unbiased.fast(), rtol=0, atol=1e-12)


def test_it_takes_nothing_that_torch_computes_in_another_way(layers: Callable[..., Network]) -> None:
    others = [cell for cell in CELLS if cell not in TORCH_HAS]
    assert len(others) > 10
    assert not any(cudnn.suits(layers(cell, 7).program) for cell in others)
    assert not cudnn.suits(layers(Lstm(), 7, normalised=True).program)
    stack = layers(Lstm(), 7).program
    assert not cudnn.suits(replace(stack, returns=("layer0.h", "layer0.c")))  # torch shows the last cell alone
    assert not cudnn.suits(replace(stack, returns=("a0",)))
    feeding = Project("input0", previous("layer0.h"), "a0", True)
    assert not cudnn.suits(replace(stack, parts=(feeding, *stack.parts[1:])))


def test_a_scan_on_a_processor_does_not_take_it(
    layers: Callable[..., Network], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan.cudnn, "layers", None)
    layers(Lstm(), 7).fast()
