"""Both readings for GPUs, graphs and whole layers, held to the scan on a processor: they need none.

What a graph records is called again.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import Parameter
from torch.testing import assert_close

from anaphora.kernels import cudnn, graphs, scan
from anaphora.kernels.cells import Cell, Elman, Gru, Lstm
from anaphora.kernels.parts import Project, previous
from anaphora.kernels.scores import Concat, Dot, General, Score
from anaphora.nn.dropout import VariationalDropout

from .conftest import CELLS, DROPPED, VARIATIONAL, shown
from .network import Network


@pytest.fixture(autouse=True)
def recorder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def recorded(work: graphs.Replay) -> graphs.Replay:
        work()
        return work

    monkeypatch.setattr(graphs, "_record", recorded)
    yield
    for kept in (graphs._graphs, graphs._seen, graphs._refused):
        kept.clear()


def by_graph(network: Network) -> dict[str, Tensor]:
    """What ``Network.fast`` gives, from a graph."""

    def replay(*arguments: object) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        replayed = graphs.replay(*arguments)
        assert replayed
        return replayed

    return network.through(replay)


def meet(network: Network) -> None:
    """Let its sizes be seen for the first time."""
    with pytest.raises(AssertionError):
        by_graph(network)


@pytest.mark.parametrize("unit", [Lstm(), Gru(), Elman()], ids=shown)
def test_values_and_gradients_of_stacks_are_those_of_the_scan(unit: Cell, layers: Callable) -> None:
    network = layers(unit, 7, height=2, dropout=DROPPED)
    meet(network)
    for _ in range(2):
        network.assert_same(by_graph(network), network.fast(), atol=1e-12, gradient_atol=1e-11)


@pytest.mark.parametrize("feeding", [True, False])
@pytest.mark.parametrize("score", [Dot(), General(), Concat()], ids=shown)
def test_values_and_gradients_of_decoders_are_those_of_the_scan(score: Score, feeding: bool, decoder: Callable) -> None:
    network = decoder(Lstm(), score, "current", feeding, 7)
    meet(network)
    network.assert_same(by_graph(network), network.fast(), atol=1e-12, gradient_atol=1e-11)


def test_what_an_earlier_batch_left_is_gone(layers: Callable) -> None:
    long, short = layers(Gru(), 7, lengths=(4, 3, 4)), layers(Gru(), 7, lengths=(1, 3, 2))
    meet(long)
    by_graph(long)
    short.assert_same(by_graph(short), short.fast(), atol=1e-12, gradient_atol=1e-11)
    assert len(graphs._graphs) == 1


def test_padding_full_of_nan_changes_nothing(layers: Callable) -> None:
    network = layers(Gru(), 7, height=2)
    poisoned = network.poisoned()
    meet(network)
    assert_close(by_graph(poisoned), poisoned.fast(), rtol=0, atol=1e-12)


def test_a_graph_waits_for_its_walk_back(layers: Callable) -> None:
    network = layers(Lstm(), 7)
    meet(network)
    first = by_graph(network)
    meet(network)  # None: the scan takes this one
    network.gradients(first)
    second = by_graph(network)
    del second  # never gone back through
    by_graph(network)


def test_a_walk_back_happens_once(layers: Callable) -> None:
    network = layers(Lstm(), 7)
    meet(network)
    values = by_graph(network)
    loss = sum(value.sum() for value in values.values())
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="once"):
        loss.backward()


def test_a_parameter_is_read_where_it_lies(layers: Callable) -> None:
    plain = layers(Elman(), 7)
    network = replace(
        plain, leaves={name: Parameter(leaf.detach()) if "." in name else leaf for name, leaf in plain.leaves.items()}
    )
    meet(network)
    network.gradients(by_graph(network))
    with torch.no_grad():
        for leaf in network.leaves.values():
            leaf.mul_(0.5)
    assert_close(by_graph(network), network.fast(), rtol=0, atol=1e-12)


def test_a_program_that_cannot_be_recorded_is_left_to_a_scan(layers: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(work: graphs.Replay) -> graphs.Replay:
        raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(graphs, "_record", refuse)
    network = layers(Elman(), 7)
    meet(network)
    with pytest.warns(UserWarning, match="step by step"):
        meet(network)
    meet(network)


TORCH_HAS = [Lstm(), Gru(), Gru(recurrent_bias=True), Elman(), Elman(activation="relu")]
BETWEEN: dict[str, dict[str, Any]] = {
    "plain": {},
    "dropped": {"dropout": DROPPED},
    "residual": {"residual": True},
    "dropped-residual": {"dropout": DROPPED, "residual": True},
    "a-mask-of-a-sentence": {"dropout": VariationalDropout(probability=0.4)},
    "unbiased": {"bias": False},
}


def by_layers(network: Network) -> dict[str, torch.Tensor]:
    """What ``Network.fast`` gives, in the other reading."""
    return network.through(cudnn.layers)


@pytest.mark.matrix
@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("unit", TORCH_HAS, ids=shown)
@pytest.mark.parametrize("size", [1, 7, 63])
def test_values_and_gradients_are_those_of_the_scan(unit: Cell, size: int, between: str, layers: Callable) -> None:
    network = layers(unit, size, height=3, **BETWEEN[between])
    assert cudnn.suits(network.program)
    network.assert_same(by_layers(network), network.fast(), atol=1e-12, gradient_atol=1e-9)


def test_padding_full_of_nan_changes_no_layer(layers: Callable) -> None:
    network = layers(Gru(), 7, height=2)
    poisoned = network.poisoned()
    poisoned.assert_same(by_layers(poisoned), by_layers(network), atol=0, gradient_atol=0, of=network)


def test_it_takes_nothing_that_torch_computes_in_another_way(layers: Callable) -> None:
    others = [cell for cell in CELLS if cell not in TORCH_HAS]
    assert len(others) > 10
    assert not any(cudnn.suits(layers(cell, 7).program) for cell in others)
    for options in ({"layer_norm": True}, {"dropout": VARIATIONAL}):  # nor has it masks of states
        assert not cudnn.suits(layers(Lstm(), 7, **options).program)
    stack = layers(Lstm(), 7).program
    assert not cudnn.suits(replace(stack, returns=("layer0.h", "layer0.c")))  # torch shows the last cell alone
    assert not cudnn.suits(replace(stack, returns=("a0",)))
    feeding = Project("input0", previous("layer0.h"), "a0", True)
    assert not cudnn.suits(replace(stack, parts=(feeding, *stack.parts[1:])))


def test_a_scan_on_a_processor_does_not_take_it(layers: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan.cudnn, "layers", None)
    layers(Lstm(), 7).fast()
