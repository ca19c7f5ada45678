"""Networks run in C without torch: descriptions of steps, scans, single steps and products, over arrays of numpy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels import native, stepping
from anaphora.kernels.backends import InferencePrecision, backend_for
from anaphora.kernels.cells import Gru, Lstm
from anaphora.kernels.compiled.gemm import has_gemm
from anaphora.kernels.compiled.loop import has_loop
from anaphora.kernels.linear import linear
from anaphora.kernels.prepared import array_of, packed, with_prepared_weights
from anaphora.kernels.runtime import Runtime, running
from anaphora.kernels.scan import advance
from anaphora.kernels.scores import Concat

from .exactness import drawn

pytestmark = pytest.mark.skipif(
    not has_loop() or not has_gemm(), reason="the library was not built, or the processor lacks AVX2"
)
PRECISIONS: list[InferencePrecision] = ["fp32", "bf16", "int8"]


def arrays(tensors: dict[str, Tensor]) -> dict[str, Any]:
    return {name: array_of(tensor) for name, tensor in tensors.items()}


def arguments_of(network: Any) -> tuple[Any, ...]:
    """Those of a scan over arrays."""
    program, *groups, lengths_B = network.arguments().values()
    return (program, *map(arrays, groups), lengths_B.numpy())


def over_arrays(network: Any) -> dict[str, Tensor]:
    outputs, state = native.scan(*arguments_of(network))
    return {name: torch.from_numpy(block) for name, block in outputs.items()} | {
        f"last {name}": torch.from_numpy(block) for name, block in state.items()
    }


@pytest.fixture
def networks(layers: Callable, decoder: Callable) -> list[Any]:
    lengths = (3, 7, 1, 5)
    made = [layers(cell, 20, 2, lengths, layer_norm=True, residual=True) for cell in (Lstm(), Gru())]
    made += [
        decoder(Gru(), Concat(), query, feeding, 20, lengths, (4, 2, 6, 1))
        for query in ("previous", "current")
        for feeding in (True, False)
    ]
    return [network.to(torch.float32) for network in made]


def test_a_scan_over_arrays_gives_what_the_equations_do(networks: list[Any]) -> None:
    for network in networks:
        assert_close(over_arrays(network), network.naive(), rtol=1e-4, atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("precision", PRECISIONS)
def test_loops_have_the_bits_of_a_scan_over_tensors(layers: Callable, precision: InferencePrecision) -> None:
    network = layers(Lstm(), 20, 2, (3, 7, 1, 5), layer_norm=True).to(torch.float32)
    with running(Runtime.inference(precision=precision)):
        found, expected = over_arrays(network), network.fast()
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_a_step_over_arrays_has_the_bits_of_one_over_tensors(networks: list[Any]) -> None:
    for network in networks:
        program, inputs, first, weights, memory, _ = arguments_of(network)
        inputs = {name: block[0] for name, block in inputs.items()}
        inputs, first = ({n: np.stack([b, b]) for n, b in each.items()} for each in (inputs, first))
        found = stepping.advance(program, inputs, first, weights, memory)
        tensors = ({n: torch.from_numpy(b) for n, b in each.items()} for each in (inputs, first, weights, memory))
        expected = advance(program, *tensors)
        found = {name: torch.from_numpy(found[name]) for name in expected}
        assert_close(found, expected, rtol=1e-5, atol=1e-6)
        if len(native.stages_of_step(program)) == 1:  # all of it in C there too
            assert all(torch.equal(found[name], expected[name]) for name in expected)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_product_of_arrays_has_the_bits_of_one_of_tensors(precision: InferencePrecision) -> None:
    a, weight = drawn(9, 40), drawn(64, 40, seed=1)
    with running(Runtime.inference(precision=precision)):
        assert np.array_equal(linear(a.numpy(), weight.numpy()), linear(a, weight).numpy())


def test_what_is_made_of_an_array_is_kept_if_nothing_can_write_to_it() -> None:
    weight, runtime = drawn(64, 40).numpy(), with_prepared_weights(Runtime(backend=backend_for("fp32")))
    assert packed(weight, runtime) is not packed(weight, runtime)
    weight.flags.writeable = False
    assert packed(weight, runtime) is packed(weight, runtime)
