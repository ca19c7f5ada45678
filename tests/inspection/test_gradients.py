"""Norms of gradients are those of finite differences and of the closed forms, and items sum to the whole."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.batch import Ids
from anaphora.inspection.gradients import STEEP, gradients, itemise, lstm_terms, reach_of
from anaphora.inspection.subject import Layer, Subject, layers_of
from anaphora.kernels.scan import scan


def layers(subject: Subject, text: str = "line 12") -> list[Layer]:
    return layers_of(subject, subject.example(text), gradients=True)


@torch.no_grad()
def finite_differences(layer: Layer, step: int, of: str, by: str, follow: Any = lambda state: None) -> Tensor:
    """The Jacobian of the last value of one signal by another after ``step`` (0: before the first).

    Others ``follow`` it. The cells are moved side by side, each once up and once down.
    """
    seen, size = layer.seen, layer.signal(by).shape[1]
    names = seen.program.carried
    rows = {name: layer.signal(name)[step - 1 : step] if step else seen.first[name][:1] for name in names}
    state = {name: row.repeat(2 * size, 1) for name, row in rows.items()}
    state[by] += 1e-6 * torch.cat([torch.eye(size), -torch.eye(size)])
    follow(state)
    inputs = {name: block[step : layer.size, :1].repeat_interleave(2 * size, 1) for name, block in seen.inputs.items()}
    memory = {name: row[:1].repeat_interleave(2 * size, 0) for name, row in seen.memory.items()}
    lengths = torch.full((2 * size,), layer.size - step)
    up, down = scan(seen.program, inputs, state, seen.weights, memory, lengths).state[of].chunk(2)
    return (up - down).T / 2e-6


def norm(jacobian: Tensor) -> Any:
    return pytest.approx(float(torch.linalg.matrix_norm(jacobian, 2)), rel=1e-5)


@pytest.mark.parametrize("cell", ["lstm", "elman", "translator"])
def test_norms_are_those_of_finite_differences_for_every_layer(
    make_language_model: Any, make_translator: Any, cell: str
) -> None:
    if cell == "translator":
        found = layers(make_translator("gru", "decoder.input_feeding=false"), "adf")
        directions = [f"encoder.layers.0.{way}" for way in ("right_to_left", "left_to_right")]
        assert [layer.name for layer in found] == [*directions, "decoder"]
        assert found[0].steps == tuple(reversed(found[1].steps))
    else:
        found = layers(make_language_model(cell, 2), "line")
    for layer in found:
        for unit in layer.units():
            reach, h = reach_of(layer, unit), f"{unit.name}.h"
            assert len(reach.norms) == layer.size
            for k in (1, layer.size):
                assert reach.norms[k - 1] == norm(finite_differences(layer, layer.size - k, h, h))


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_of_two_transitions_in_one_step_the_state_that_is_carried_is_shown(make_translator: Any, cell: str) -> None:
    flow = gradients(make_translator(cell, 'attention={query = "current", context = "state"}'), "adf", "fda")
    [decoder] = [one for one in flow.reach if one.unit.startswith("decoder")]
    assert len(decoder.norms) == 4 and not decoder.direct


def test_the_memory_the_direct_path_and_the_terms_of_an_lstm_are_its_derivatives(make_language_model: Any) -> None:
    [layer] = layers(make_language_model("lstm"))
    [unit] = layer.units()
    reach, step, c = reach_of(layer, unit), layer.size - 3, "layer0.c"
    o = layer.inside()["layer0.o"][step - 1]

    def follow(state: dict[str, Tensor]) -> None:
        state["layer0.h"] = o * torch.tanh(state[c])

    assert reach.memory[2] == norm(finite_differences(layer, step, c, c, follow))
    f_TH = layer.inside()["layer0.f"]  # the direct path is the product of forget gates
    expected = [float(f_TH[layer.size - k :].prod(0).max()) for k in range(1, layer.size + 1)]
    assert reach.direct == pytest.approx(expected) and reach.bound is None
    whole = finite_differences(layer, layer.size - 1, "layer0.h", "layer0.h")
    *_, terms = lstm_terms(layer, unit)
    assert set(terms) == {*"ofig", "total"}
    assert_close(terms["total"], whole, rtol=0, atol=1e-8)
    assert_close(torch.stack([terms[gate] for gate in "ofig"]).sum(0), whole, rtol=0, atol=1e-8)
    assert reach.terms[-1]["total"] == pytest.approx(reach.norms[0])


@pytest.mark.parametrize("activation", ["tanh", "sigmoid"])
def test_the_simple_unit_never_exceeds_its_bound(make_language_model: Any, activation: str) -> None:
    cell = f'recurrence.cell={{kind = "elman", activation = "{activation}"}}'
    [layer] = layers(make_language_model("elman", 1, cell))
    [unit] = layer.units()
    reach = reach_of(layer, unit)
    assert reach.bound
    matrix = layer.seen.weights["layer0.h"].detach()
    assert reach.bound.gamma == (1 if activation == "tanh" else 0.25)
    assert reach.bound.lambda_1 == pytest.approx(float(torch.linalg.svdvals(matrix)[0]))
    assert all(norm <= bound * (1 + 1e-9) for norm, bound in zip(reach.norms, reach.bound.values, strict=True))
    assert reach.bound.radius <= reach.bound.lambda_1 + 1e-9


@pytest.mark.parametrize("normalised", [False, True])
def test_a_normalized_zero_state_is_said_to_be_steep(make_language_model: Any, normalised: bool) -> None:
    settings = ["recurrence.layer_norm=true"] if normalised else []
    flow = gradients(make_language_model("gru", 1, *settings), "line")
    [unit] = flow.reach
    assert unit.steep_start == normalised == (unit.norms[-1] > 10 * max(unit.norms[:-1]))
    assert (STEEP in str(flow)) == normalised and "initial state: |dh_T/dh_0|" in str(flow)


@pytest.mark.parametrize("which", ["translator", "language_model"])
def test_items_sum_to_the_whole_gradient_and_each_goes_back_alone(which: str, request: pytest.FixtureRequest) -> None:
    subject = request.getfixturevalue(which)
    for layer in layers(subject, "adf" if which == "translator" else "line 7"):
        found = itemise(layer)
        assert found.difference < 1e-12
        assert max(found.total) > 0
        for step, row in enumerate(found.norms[:-1]):
            assert not any(row[step + 1 :])  # no loss reaches what comes after it


def test_the_last_item_is_the_gradient_of_the_last_loss_alone(make_language_model: Any) -> None:
    """L_T is the loss of the text less that of the text without its last prediction."""
    subject = make_language_model("gru")
    example = subject.example("line 7")
    model: Any = deepcopy(subject.trained.model).double()

    def gradient(length: int) -> Tensor:
        vectors = list[Tensor]()
        hook = model.embedding.register_forward_hook(lambda module, inputs, output: vectors.append(output))
        inputs, targets = (
            Ids(ids.ids_BT[:, :length], torch.tensor([length])) for ids in (example.batch.inputs, example.batch.targets)
        )
        loss, _ = model(replace(example.batch, inputs=inputs, targets=targets))
        hook.remove()
        return torch.autograd.grad(loss.sum, vectors)[0][:, 0]

    [layer] = layers_of(subject, example, gradients=True)
    last = gradient(layer.size)
    last[:-1] -= gradient(layer.size - 1)
    found = itemise(layer)
    assert found.last == pytest.approx(last.norm(dim=1).tolist(), rel=1e-9)
    assert found.last == found.norms[layer.size - 1]


def test_a_fresh_network_has_other_gradients_than_a_trained_one(language_model: Subject) -> None:
    trained, fresh = (gradients(language_model, "line", fresh=fresh) for fresh in (False, True))
    assert fresh.fresh and trained.reach[0].norms != fresh.reach[0].norms
