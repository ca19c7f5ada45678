"""Walks as graphs, held to the scan on a processor, where what is recorded is called again: it needs no GPU."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn import Parameter
from torch.testing import assert_close

from anaphora.kernels import graphs
from anaphora.kernels.cells import Cell, Elman, Gru, Lstm
from anaphora.kernels.scores import Concat, Dot, General, Score

from .conftest import shown
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
def test_values_and_gradients_of_stacks_are_those_of_the_scan(unit: Cell, layers: Callable[..., Network]) -> None:
    network = layers(unit, 7, height=2, masked=True)
    meet(network)
    for _ in range(2):
        network.assert_same(by_graph(network), network.fast(), atol=1e-12, gradient_atol=1e-11)


@pytest.mark.parametrize("feeding", [True, False])
@pytest.mark.parametrize("score", [Dot(), General(), Concat()], ids=shown)
def test_values_and_gradients_of_decoders_are_those_of_the_scan(
    score: Score, feeding: bool, decoder: Callable[..., Network]
) -> None:
    network = decoder(Lstm(), score, "current", feeding, 7)
    meet(network)
    network.assert_same(by_graph(network), network.fast(), atol=1e-12, gradient_atol=1e-11)


def test_what_an_earlier_batch_left_is_gone(layers: Callable[..., Network]) -> None:
    long, short = layers(Gru(), 7, lengths=(4, 3, 4)), layers(Gru(), 7, lengths=(1, 3, 2))
    meet(long)
    by_graph(long)
    short.assert_same(by_graph(short), short.fast(), atol=1e-12, gradient_atol=1e-11)
    assert len(graphs._graphs) == 1


def test_padding_full_of_nan_changes_nothing(layers: Callable[..., Network]) -> None:
    network = layers(Gru(), 7, height=2)
    poisoned = network.poisoned()
    meet(network)
    assert_close(by_graph(poisoned), poisoned.fast(), rtol=0, atol=1e-12)


def test_a_graph_waits_for_its_walk_back(layers: Callable[..., Network]) -> None:
    network = layers(Lstm(), 7)
    meet(network)
    first = by_graph(network)
    meet(network)  # None: the scan takes this one
    network.gradients(first)
    second = by_graph(network)
    del second  # never gone back through
    by_graph(network)


def test_a_walk_back_happens_once(layers: Callable[..., Network]) -> None:
    network = layers(Lstm(), 7)
    meet(network)
    values = by_graph(network)
    loss = sum(value.sum() for value in values.values())
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="once"):
        loss.backward()


def test_a_parameter_is_read_where_it_lies(layers: Callable[..., Network]) -> None:
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


def test_a_program_that_cannot_be_recorded_is_left_to_the_scan(
    layers: Callable[..., Network], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(work: graphs.Replay) -> graphs.Replay:
        raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(graphs, "_record", refuse)
    network = layers(Elman(), 7)
    meet(network)
    with pytest.warns(UserWarning, match="step by step"):
        meet(network)
    meet(network)
