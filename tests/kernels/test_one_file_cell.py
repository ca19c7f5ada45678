"""A cell in one file, without any C of its own: minGRU (Feng et al. 2024, "Were RNNs All We Needed?", section 3.1).

1  z_t  = sigm(W_z x_t)
2  g_t  = W_h x_t
3  h_t  = (1 - z_t) * h_{t-1} + z_t * g_t

It trains in C, has the gradients of its equations, and is searched in C and described like every other.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.errors import ConfigError
from anaphora.experiment.reading import read_experiment
from anaphora.kernels.cells import CELLS, Cell
from anaphora.kernels.naive.units import UNITS
from anaphora.kernels.native import loops
from anaphora.kernels.ops import Ops, V
from anaphora.kernels.program_data import program_from_data, program_to_data
from anaphora.kernels.runtime import Runtime, running
from anaphora.nn.stack import Stack, StackConfig
from anaphora.nn.weights import Xavier
from anaphora.tasks.task import TrainedModel
from tests.batches import pair_batch
from tests.inference.native import assert_stepper, opened
from tests.networks import untrained_writer
from tests.search.native import IN_C, Stepwise, assert_same, is_compiled
from tests.searches import beam


class Own(Cell):
    """The minGRU with the gate of its paper; the blocks of x are z, g."""

    kind: Literal["own"] = "own"

    blocks: ClassVar[str] = "zg"
    candidate: ClassVar[str] = "g"

    @property
    def matmuls(self) -> tuple[tuple[str, str], ...]:
        """None: the state before is multiplied by no matrix."""
        return ()

    def forward(self, ops: Ops[V], x: V, state: Sequence[V]) -> tuple[tuple[V, ...], tuple[V, ...]]:
        """Steps 1 to 3."""
        (h_before,), (a_z, g) = state, ops.split(x, 1, 1)
        z, moved = ops.sigmoid(a_z), ops.sub(g, h_before)  # 1
        return (ops.add(h_before, ops.mul(z, moved)),), (z, moved)  # 3

    def backward(self, ops: Ops[V], saved: tuple[V, ...], dstate: Sequence[V]) -> tuple[V, tuple[V, ...]]:
        """Steps 3 and 1 undone."""
        (z, moved), (dh,) = saved, dstate
        dg = ops.mul(dh, z)  # 3
        return ops.join(ops.sigmoid_back(z, ops.mul(dh, moved)), dg), (ops.sub(dh, dg),)  # 1


def own_step(cell: Own, x_BG: Tensor, state: Sequence[Tensor], weights: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
    """Steps 1 to 3 as they are written."""
    a_z, g = x_BG.chunk(2, -1)
    z = 1 / (1 + torch.exp(-a_z))
    return ((1 - z) * state[0] + z * g,)


def test_values_and_gradients_are_those_of_the_equations(layers: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(UNITS, Own, own_step)
    network = layers(Own(), 7, height=2)
    assert [str(loop) for loop in loops(network.program)] == ["loop of layer0: in C", "loop of layer1: in C"]
    network.assert_naive()


@pytest.fixture
def writer() -> TrainedModel:
    """A language model of characters with this cell."""
    trained = untrained_writer({"task": "language-model", "embedding": {"size": 5}, "recurrence": {"size": 7}})
    model: Any = trained.model
    model.recurrence = Stack(StackConfig().model_copy(update={"cell": Own(), "size": 7}), 5, "text").eval()
    model.recurrence.initialise(Xavier(), torch.Generator().manual_seed(1))
    return trained


@IN_C
@pytest.mark.parametrize("size", [1, 3])
def test_its_search_runs_in_c_and_finds_what_single_steps_find(writer: TrainedModel, size: int) -> None:
    model: Any = writer.model
    stepper, batch = model.stepper(), pair_batch([[model.symbols.eos]] * 3, prefixes=[[5, 7], [6], []])
    with running(Runtime(backend="gemm")):
        assert is_compiled(stepper, batch, beam=size, max_length=12)
        found, expected = (beam(one, batch, beam=size, max_length=12) for one in (stepper, Stepwise(stepper)))
    for one, other in zip(found, expected, strict=True):
        assert_same(one, other)


@IN_C
def test_its_description_computes_the_same_without_torch(writer: TrainedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CELLS, "own", Own)
    model: Any = writer.model
    batch = pair_batch([[model.symbols.eos]] * 3, prefixes=[[5, 7], [6], []])
    assert_stepper(opened(model), model, batch, np.array([[4, 5] * 3, [7, 4] * 3]))


def test_a_registered_unit_is_an_option_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CELLS, "own", Own)
    text, settings = "task = 'language-model'", ["recurrence.cell=own"]
    experiment: Any = read_experiment(text, "mine.toml", settings, data=[Path("book.txt")])
    assert experiment.recurrence.cell == Own()
    assert read_experiment(experiment.to_toml(), "stored.toml") == experiment
    own: Any = Own()
    assert StackConfig(cell=own).cell == own
    with pytest.raises(ConfigError, match=r"bias is not an option\. Known: kind\."):
        read_experiment(text, "mine.toml", ["recurrence.cell.bias=true", "recurrence.cell.kind=own"])


def test_a_stored_unit_that_is_not_registered_is_named(writer: TrainedModel) -> None:
    model: Any = writer.model
    with pytest.raises(ConfigError, match="cell of the network 'own' is unknown"):
        program_from_data(program_to_data(model.recurrence.program))


def test_a_unit_without_a_reference_step_runs_as_it_is_with_naive_kernels(layers: Callable) -> None:
    network = layers(Own(), 7)
    with running(Runtime(kernels="naive")):
        found = network.fast()
    assert_close(found, network.fast())
