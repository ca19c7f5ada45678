"""An observer sees every signal and gradient of a scan, and changes none of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from anaphora.kernels.cells import Cell, Elman, Gru, Lstm
from anaphora.kernels.observer import Gradients, Trajectory
from anaphora.kernels.program import Program
from anaphora.kernels.runtime import current, running
from anaphora.kernels.scan import scan
from anaphora.kernels.scores import General
from anaphora.kernels.spans.local import LocalMonotonic, LocalPredictive
from anaphora.nn.attention import AttentionConfig, SoftAttention
from anaphora.nn.encoders.encoder import EncoderSpec
from anaphora.nn.operations import TensorOperations


class Recorder:
    def __init__(self) -> None:
        self.seen: list[Trajectory] = []
        self.gradients: list[Gradients] = []

    def forward(self, seen: Trajectory) -> None:
        self.seen.append(seen)

    def backward(self, seen: Trajectory, gradients: Gradients) -> None:
        assert seen is self.seen[-1]
        self.gradients.append(gradients)


def observed(run: Callable[[], Any]) -> tuple[Any, Recorder]:
    recorder = Recorder()
    with running(replace(current(), observer=recorder)):
        return run(), recorder


@pytest.mark.matrix
def test_an_observed_decoder_has_the_same_bits_and_each_signal_is_what_it_returns(
    cell: Cell, query: str, feeding: bool, decoder: Callable
) -> None:
    network = decoder(cell, General(), query, feeding, 7)
    alone = network.fast()
    watched, recorder = observed(network.fast)
    (seen,) = recorder.seen
    assert all(torch.equal(alone[name], watched[name]) for name in alone)
    assert torch.equal(seen.signals["o"], alone["o"]) and torch.equal(seen.signals["weights"], alone["weights"])
    assert set(seen.signals) >= {name for part in seen.program.parts for name in part.writes}
    gradients, of_observed = network.gradients(alone), network.gradients(watched)
    assert all(torch.equal(gradients[name], of_observed[name]) for name in gradients)
    (back,) = recorder.gradients
    assert_close(back.signals["x"], gradients["x"], rtol=0, atol=0)
    assert back.outputs["o"].shape == alone["o"].shape and set(back.last) == set(back.first)
    for name, dfirst in back.first.items():
        assert torch.equal(dfirst, gradients[f"first {name}"])


@pytest.mark.parametrize("cell", [Lstm(), Gru(update="new"), Gru(update="keep")], ids=str)
def test_the_gates_of_a_unit_give_its_state(cell: Cell, layers: Callable) -> None:
    network, kept = layers(cell, 4, lengths=(3, 5, 4)), cell.state[-1]
    _, recorder = observed(network.fast)
    (seen,) = recorder.seen
    gates = {name.removeprefix("layer0."): gate for name, gate in seen.inside.items()}
    state = seen.signals[f"layer0.{kept}"]
    before, g = torch.cat([network.leaves[f"first layer0.{kept}"].unsqueeze(0), state[:-1]]), gates["g"]
    if isinstance(cell, Gru):
        old, new = (before, g) if cell.update == "new" else (g, before)
        expected = gates["z"] * new + (1 - gates["z"]) * old
    else:
        expected = gates["f"] * before + gates["i"] * g
        assert_close(seen.signals["layer0.h"], gates["o"] * torch.tanh(state))
    assert_close(state, expected * (torch.arange(5).unsqueeze(1) < network.lengths_B).unsqueeze(-1))


def test_the_gradients_seen_are_those_of_each_state_on_its_own(layers: Callable) -> None:
    """The gradient of h_t is that of the rest of the sequence, run from h_t as if it were the first state."""
    network = layers(Elman(), 4, lengths=(5,))
    scanned, recorder = observed(network.fast)
    scanned["last layer0.h"].sin().sum().backward()
    states_TBH = recorder.seen[0].signals["layer0.h"]
    assert_close(recorder.gradients[0].last["layer0.h"], states_TBH[-1].cos())
    assert not recorder.gradients[0].outputs["layer0.h"].any()
    for step in range(1, 5):
        first = states_TBH[step - 1].clone().requires_grad_()
        last = network.between(step, 5, **{"first layer0.h": first}).fast()["last layer0.h"]
        [expected] = torch.autograd.grad(last.sin().sum(), first)
        assert_close(recorder.gradients[0].signals["layer0.h"][step - 1], expected)


@pytest.mark.parametrize("window", [LocalMonotonic(radius=1), LocalPredictive(radius=2)])
def test_the_centre_of_an_attention_window_is_seen(window: Any) -> None:
    torch.manual_seed(0)
    attention = SoftAttention(AttentionConfig(window=window), 4, EncoderSpec(3, 3, 1, ("h",), True))
    weights = {name: torch.randn(m.rows, m.columns or 1) for name, m in attention.matrices().items()}
    memory = attention.prepare(torch.randn(2, 5, 3), torch.tensor([5, 4]), weights)
    program = Program(attention.parts("q"), ("weights",))
    first = attention.initial_state(TensorOperations(), torch.randn(2, 5, 3))
    inputs = {"q": torch.randn(6, 2, 4)}
    given = (program, inputs, first, weights, memory, torch.tensor([4, 6]))
    scanned, recorder = observed(lambda: scan(*given))
    centre_TB = recorder.seen[0].inside["attention.centre"][..., 0]
    if isinstance(window, LocalMonotonic):
        assert centre_TB.T.tolist() == [[1, 2, 3, 4, 0, 0], [1, 2, 3, 4, 4, 4]]
    else:
        query_TBQ = inputs["q"]
        u = torch.tanh(query_TBQ @ weights["attention.centre"].T)
        p_TB = torch.sigmoid(u @ weights["attention.centre_v"].T)[..., 0] * torch.tensor([5, 4])
        assert_close(centre_TB[:, 1], p_TB[:, 1])
        assert_close(centre_TB[:4, 0], p_TB[:4, 0])
    distance_TBS = (torch.arange(1, 6) - centre_TB.unsqueeze(-1)).abs()
    assert (scanned.outputs["weights"][distance_TBS > window.radius] == 0).all()


def test_without_a_gradient_the_forward_pass_alone_is_seen(layers: Callable) -> None:
    network = layers(Lstm(), 4)
    with torch.no_grad():
        alone = network.fast()
        watched, recorder = observed(network.fast)
    assert torch.equal(alone["layer0.h"], watched["layer0.h"])
    assert len(recorder.seen) == 1 and not recorder.gradients
