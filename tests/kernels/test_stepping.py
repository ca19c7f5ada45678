"""Single steps in C: they follow their weights and memory, and leave nothing behind."""

import gc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import Parameter

from anaphora.kernels.cells import Gru
from anaphora.kernels.compiled.gemm import has_gemm
from anaphora.kernels.compiled.loop import has_loop
from anaphora.kernels.prepared import PreparedWeights
from anaphora.kernels.runtime import Runtime, running
from anaphora.kernels.scan import advance
from anaphora.kernels.scores import Concat

from .exactness import CHANGES

pytestmark = pytest.mark.skipif(
    not has_loop() or not has_gemm(), reason="the library was not built, or the processor lacks AVX2"
)
SEARCH = Runtime(backend="gemm")


class Search:
    """A decoder in search, with parameters as its weights."""

    def __init__(self, network: Any) -> None:
        self.program, inputs, first, weights, memory, _ = network.arguments().values()
        self.inputs = {name: block[:1] for name, block in inputs.items()}
        self.first = {name: value.unsqueeze(0) for name, value in first.items()}
        self.weights = {name: Parameter(weight.detach()) for name, weight in weights.items()}
        self.memory = {name: tensor.detach().clone() for name, tensor in memory.items()}
        self.prepared = PreparedWeights()

    def step(self, **changed: Any) -> Tensor:
        """o of a step."""
        with running(replace(SEARCH, **{"prepared": self.prepared} | changed)):
            return advance(self.program, self.inputs, self.first, self.weights, self.memory)["o"]


@pytest.fixture
def search(decoder: Callable) -> Search:
    return Search(decoder(Gru(), Concat(), "previous", True, 20, (1,) * 3, (4, 6, 2)).to(torch.float32))


@pytest.mark.parametrize("change", [*CHANGES, None])
@torch.no_grad()
def test_a_step_follows_its_weights_and_memory(change: Callable[[Parameter], None] | None, search: Search) -> None:
    before = search.step()
    if change:
        for weight in search.weights.values():
            change(weight)
    else:
        search.memory = {name: tensor.flip(0) for name, tensor in search.memory.items()}
    after = search.step()
    assert not torch.equal(before, after)
    assert torch.equal(after, search.step(prepared=None))


def test_a_step_is_not_that_of_another_backend(search: Search) -> None:
    if not has_gemm("bf16"):
        pytest.skip("the processor lacks bf16")
    found = [search.step(backend=backend) for backend in ("gemm", "gemm-bf16", "gemm")]
    assert torch.equal(found[0], found[2]) and not torch.equal(found[0], found[1])


def test_a_step_in_int8_is_that_of_python_up_to_rounding(search: Search) -> None:
    plain, in_c = search.step(), search.step(backend="gemm-int8")
    in_python = search.step(backend="gemm-int8", kernels="python")
    for other in (in_python, plain):  # where the last bit decides how a number is rounded, a whole step apart
        assert 0 < float((in_c - other).norm()) < 0.05 * float(plain.norm())


def test_nothing_outlives_the_memory_of_a_search(search: Search) -> None:
    search.step()
    assert len(search.prepared.bound) == 1
    search.memory.clear()
    gc.collect()
    assert not search.prepared.bound
