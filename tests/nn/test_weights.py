"""What weights start from: by name, by the rule of its paper, and the same for the same generator."""

import pytest
import torch
from torch.testing import assert_close

from anaphora.kernels.cells import Gru, Peephole
from anaphora.nn.randomness import generator
from anaphora.nn.stack import Stack, StackConfig
from anaphora.nn.weights import Orthogonal, Start, Uniform, Xavier

STARTS = pytest.mark.parametrize("start", [Orthogonal(), Xavier(), Uniform()], ids=["orthogonal", "xavier", "uniform"])


def filled(start: Start, config: StackConfig) -> dict[str, torch.Tensor]:
    body = Stack(config, 50, "stack")
    body.initialise(start, generator(1, "initialise"))
    return {name: weight.detach() for name, weight in body.weights.tensors().items()}


@STARTS
def test_the_same_generator_gives_the_same_weights(start: Start) -> None:
    config = StackConfig(cell=Peephole(peephole="full"), size=9)
    assert_close(filled(start, config), filled(start, config), rtol=0, atol=0)


@pytest.mark.parametrize("cell", [Gru(), Gru(reset="before"), Peephole(peephole="full")], ids=lambda cell: cell.kind)
def test_every_recurrent_block_of_an_orthogonal_start_is_orthogonal(cell: Gru | Peephole) -> None:
    weights = filled(Orthogonal(), StackConfig(cell=cell, size=40))
    for name, blocks in cell.matmuls:
        for block in weights[f"layer0.{name}"].chunk(len(blocks)):
            assert_close(block @ block.T, torch.eye(40), rtol=0, atol=1e-5)


def test_all_but_recurrent_matrices_of_an_orthogonal_start_are_within_the_bounds_of_xavier() -> None:
    weights = filled(Orthogonal(), StackConfig(cell=Peephole(forget_bias=0.0), size=40))
    assert_within(weights["input0.weight"], (6 / (40 + 50)) ** 0.5)
    assert not any(weights[name].any() for name in ("input0.bias", "layer0.c_i", "layer0.c_f", "layer0.c_o"))


def test_xavier_knows_the_size_of_a_block_not_that_of_the_matrix() -> None:
    weights = filled(Xavier(), StackConfig(cell=Gru(), size=40))
    assert_within(weights["input0.weight"], (6 / (40 + 50)) ** 0.5)
    assert_within(weights["layer0.h"], (6 / (40 + 40)) ** 0.5)


def test_uniform_fills_biases_and_vectors_as_well() -> None:
    weights = filled(Uniform(range=0.3), StackConfig(cell=Peephole(forget_bias=0.0), size=40))
    for weight in weights.values():
        assert_within(weight, 0.3)


def assert_within(weight: torch.Tensor, bound: float) -> None:
    assert 0.9 * bound < weight.abs().max() <= bound
    assert abs(weight.mean()) < 0.2 * bound
