"""An observer sees every signal and gradient of a scan, and changes none of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from anaphora.kernels.cells import Cell, Gru, Lstm
from anaphora.kernels.observer import Gradients, Trajectory
from anaphora.kernels.runtime import current, running
from anaphora.kernels.scores import General
from anaphora.kernels.spans.local import LocalMonotonic, LocalPredictive
from anaphora.nn.attention import AttentionConfig


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
def test_an_observer_sees_all_and_changes_no_bit(cell: Cell, query: str, feeding: bool, decoder: Callable) -> None:
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


@pytest.mark.parametrize("cell", [Gru(update="new"), Gru(update="keep")], ids=str)
def test_the_gates_of_a_unit_give_its_state(cell: Gru, layers: Callable) -> None:
    network = layers(cell, 4, lengths=(3, 5, 4))
    _, recorder = observed(network.fast)
    (seen,) = recorder.seen
    state, z, g = seen.signals["layer0.h"], seen.inside["layer0.z"], seen.inside["layer0.g"]
    before = torch.cat([network.leaves["first layer0.h"].unsqueeze(0), state[:-1]])
    old, new = (before, g) if cell.update == "new" else (g, before)
    there_TB = torch.arange(5).unsqueeze(1) < network.lengths_B
    assert_close(state, (z * new + (1 - z) * old) * there_TB.unsqueeze(-1))


@pytest.mark.parametrize("window", [LocalMonotonic(radius=1), LocalPredictive(radius=2)])
def test_the_centre_of_an_attention_window_is_seen(window: Any, decoder: Callable) -> None:
    network = decoder(Gru(), AttentionConfig(window=window), "current", False, 7, (4, 6), (5, 4))
    outputs, recorder = observed(network.fast)
    (seen,) = recorder.seen
    centre_TB = seen.inside["attention.centre"][..., 0]
    if isinstance(window, LocalMonotonic):
        assert centre_TB.T.tolist() == [[1, 2, 3, 4, 0, 0], [1, 2, 3, 4, 4, 4]]
    else:
        u = torch.tanh(seen.signals["layer0.h"] @ network.leaves["attention.centre"].T)
        p_TB = torch.sigmoid(u @ network.leaves["attention.centre_v"].T)[..., 0] * network.positions_B
        assert_close(centre_TB[:, 1], p_TB[:, 1])
        assert_close(centre_TB[:4, 0], p_TB[:4, 0])
    distance_TBS = (torch.arange(1, 6) - centre_TB.unsqueeze(-1)).abs()
    assert (outputs["weights"][distance_TBS > window.radius] == 0).all()


def test_without_a_gradient_the_forward_pass_alone_is_seen(layers: Callable) -> None:
    network = layers(Lstm(), 4)
    with torch.no_grad():
        alone = network.fast()
        watched, recorder = observed(network.fast)
    assert torch.equal(alone["layer0.h"], watched["layer0.h"])
    assert len(recorder.seen) == 1 and not recorder.gradients
