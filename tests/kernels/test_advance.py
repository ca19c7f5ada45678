"""One step at a time, without gradients: what search does is what training did, whatever stands beside it.

In single precision, the precision of search: the bits of a row depend on that row alone. Widths start at 17, because in
products with a sentence's memory less than 12 wide a row's bits depend on where it stands (measured with MKL).
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels.cells import Cell, Gru, Lstm
from anaphora.kernels.scan import advance
from anaphora.kernels.scores import Concat
from anaphora.nn.attention import WindowAttention
from tests.runtimes import threads

from .conftest import FORMS, shown
from .exactness import assert_same_bits, drawn

UNITS = pytest.mark.parametrize("unit", [Lstm(), Gru(), Gru(reset="before")], ids=["lstm", "gru-after", "gru-before"])
HIDDEN = pytest.mark.parametrize("hidden", [20, 33])


@pytest.fixture(
    params=[*FORMS, Concat(coverage=True), WindowAttention(kind="gaussian-window", components=3)], ids=shown
)
def form(request: pytest.FixtureRequest) -> Any:
    """Every kind of attention, in more ways than are derived alone."""
    return request.param


@pytest.fixture(autouse=True)
def without_gradients() -> Any:
    with torch.no_grad():
        yield


def step_by_step(network: Any) -> dict[str, Tensor]:
    """What ``scan`` gives, by ``advance``, for sentences that are all equally long."""
    state, steps = {n: t.unsqueeze(0) for n, t in network.first(network.leaves).items()}, []
    weights, memory = network.weights(network.leaves), network.memory(network.leaves)
    for t in range(len(network.leaves["x"])):
        inputs = {"x": network.leaves["x"][t : t + 1]} | {n: m[t : t + 1] for n, m in network.masks.items()}
        signals = advance(network.program, inputs, state, weights, memory)
        state = {name: signals[name] for name in state}
        steps.append(signals)
    outputs = {name: torch.cat([step[name] for step in steps]) for name in network.program.returns}
    return outputs | {f"last {name}": value[0] for name, value in state.items()}


@pytest.mark.matrix
@UNITS
@HIDDEN
def test_step_by_step_gives_the_bits_of_a_scan(
    unit: Any, form: Any, query: str, feeding: bool, hidden: int, decoder: Callable
) -> None:
    network = decoder(unit, form, query, feeding, hidden, lengths=(5,) * 5, positions=(4, 16, 2, 9, 7))
    network = network.to(torch.float32)
    assert_same_bits(step_by_step(network), network.fast())


@pytest.mark.matrix
@UNITS
@HIDDEN
def test_a_sentence_has_the_same_bits_alone_and_among_others(
    unit: Any, form: Any, query: str, feeding: bool, hidden: int, decoder: Callable
) -> None:
    network = decoder(
        unit,
        form,
        query,
        feeding,
        hidden,
        lengths=(5, 2, 7, 1, 9, 3, 9, 4, 8, 5, 6),
        positions=(4, 16, 2, 9, 7) * 2 + (3,),
    ).to(torch.float32)
    network.assert_same_bits_alone()


@pytest.mark.matrix
@UNITS
@HIDDEN
@pytest.mark.parametrize("count", [1, 2])
def test_hypotheses_side_by_side_have_the_bits_of_each_alone(
    unit: Any, form: Any, query: str, hidden: int, count: int, decoder: Callable
) -> None:
    network = decoder(unit, form, query, True, hidden, lengths=(1,) * 3, positions=(4, 16, 2)).to(torch.float32)
    weights, memory = network.weights(network.leaves), network.memory(network.leaves)

    def of_each(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        return {name: drawn(5, 3, t.shape[-1], seed=n) for n, (name, t) in enumerate(tensors.items())}

    inputs = of_each({"x": network.leaves["x"]} | network.masks)
    state = of_each(network.first(network.leaves))
    with threads(count):
        together = advance(network.program, inputs, state, weights, memory)
        for k in range(5):
            own_inputs, own_state = ({n: t[k : k + 1] for n, t in each.items()} for each in (inputs, state))
            alone = advance(network.program, own_inputs, own_state, weights, memory)
            for name in (*network.program.returns, *network.program.carried):
                assert torch.equal(alone[name][0], together[name][k])


@pytest.mark.matrix
@HIDDEN
def test_a_stack_step_by_step_has_the_bits_of_a_scan(cell: Cell, hidden: int, layers: Callable) -> None:
    network = layers(cell, hidden, height=2, lengths=(5,) * 7).to(torch.float32)
    assert_same_bits(step_by_step(network), network.fast())


def test_a_scan_without_gradients_agrees_with_one_that_records(query: str, decoder: Callable) -> None:
    network = decoder(Lstm(), Concat(), query, True, 7)
    expected = network.fast()
    with torch.enable_grad():
        recorded = network.fast()
    assert_close(expected, {name: value.detach() for name, value in recorded.items()}, rtol=0, atol=1e-12)
