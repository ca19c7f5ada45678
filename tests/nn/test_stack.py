"""Stacks and encoders: equal to torch.nn, untouched by padding, and the same in pieces."""

import pytest
import torch
from torch import nn

from anaphora.errors import ConfigError
from anaphora.nn.bridge import Bridge, BridgeConfig
from anaphora.nn.encoders.encoder import EncoderSpec
from anaphora.nn.encoders.recurrent import EncoderConfig, RecurrentEncoder
from anaphora.nn.randomness import generator
from anaphora.nn.stack import Stack, StackConfig
from anaphora.nn.weights import Uniform

LENGTHS = torch.tensor([3, 7, 1, 5])


def stack(**options: object) -> Stack:
    made = Stack(StackConfig.parse({"size": 6, "layers": 2} | options, "test"), 5, "stack")
    made.initialise(Uniform(range=0.5), generator(1, "initialise"))
    return made


def test_a_bidirectional_encoder_is_that_of_torch_nn_with_its_halves_exchanged() -> None:
    encoder = RecurrentEncoder(EncoderConfig.parse({"size": 6, "layers": 2, "cell": "lstm"}, "test"), 5).double()
    encoder.initialise(Uniform(range=0.5), generator(1, "initialise"))
    theirs = nn.LSTM(5, 6, 2, bidirectional=True).double()
    with torch.no_grad():
        for layer in range(2):
            for way, suffix in ("left_to_right", ""), ("right_to_left", "_reverse"):
                ours = encoder.stack(layer, way).weights.tensors()
                inputs = ours["input0.weight"]
                if layer:  # we put the backward half of the annotations first
                    inputs = torch.cat([inputs[:, 6:], inputs[:, :6]], 1)
                theirs.get_parameter(f"weight_ih_l{layer}{suffix}").copy_(inputs)
                theirs.get_parameter(f"weight_hh_l{layer}{suffix}").copy_(ours["layer0.h"])
                theirs.get_parameter(f"bias_ih_l{layer}{suffix}").copy_(ours["input0.bias"])
                theirs.get_parameter(f"bias_hh_l{layer}{suffix}").zero_()
    x_BSD = torch.randn(4, 7, 5, dtype=torch.float64)
    packed = nn.utils.rnn.pack_padded_sequence(x_BSD.transpose(0, 1), LENGTHS, enforce_sorted=False)
    expected, (last, _) = theirs(packed)
    expected_BSM = nn.utils.rnn.pad_packed_sequence(expected)[0].transpose(0, 1)
    encoded = encoder(x_BSD, LENGTHS)
    torch.testing.assert_close(encoded.annotations_BSM, torch.cat([expected_BSM[..., 6:], expected_BSM[..., :6]], -1))
    torch.testing.assert_close(encoded.summaries[1]["h"], torch.cat([last[3], last[2]], -1))


def test_a_normalised_unit_has_its_bias_behind_the_normalisation_and_gains_that_start_from_one() -> None:
    body = stack(layers=1, layer_norm=True)
    weights = body.weights.tensors()
    assert list(weights) == ["input0.weight", "layer0.h", "layer0.h_gain", "norm0.gain", "norm0.bias"]
    assert all((weights[name] == 1).all() for name in ("layer0.h_gain", "norm0.gain"))
    plain = stack(layers=1, layer_norm=True, cell={"kind": "lstm", "forget_bias": 0})
    added = weights["norm0.bias"] - plain.weights.tensors()["norm0.bias"]
    torch.testing.assert_close(added, torch.tensor([0.0, 1.0, 0.0, 0.0]).repeat_interleave(6))
    assert "norm0.bias" not in stack(cell="gru", layer_norm=True, bias=False).weights.tensors()


@pytest.mark.parametrize("bidirectional", [True, False])
def test_residual_connections_of_an_encoder_go_around_both_directions(bidirectional: bool) -> None:
    options = {"size": 6, "layers": 2, "residual": True, "bidirectional": bidirectional}
    encoder = RecurrentEncoder(EncoderConfig.parse(options, "test"), 5)
    encoder.initialise(Uniform(range=0.5), generator(1, "initialise"))
    without = RecurrentEncoder(EncoderConfig.parse(options | {"residual": False}, "test"), 5)
    without.load_state_dict(encoder.state_dict())
    bottom = RecurrentEncoder(EncoderConfig.parse(options | {"layers": 1}, "test"), 5)
    bottom.load_state_dict({name: encoder.state_dict()[name] for name in bottom.state_dict()})
    x_BSD = torch.randn(4, 7, 5)
    below, above, both = (one(x_BSD, LENGTHS).annotations_BSM for one in (bottom, without, encoder))
    torch.testing.assert_close(both, below + above)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cell": "peephole", "bias": False}, r'bias = true, or cell = {kind = "peephole", forget_bias = 0}'),
        ({"cell": "ssru", "weight_dropout": 0.2}, "no recurrent matrix: set weight_dropout = 0"),
    ],
)
def test_what_a_cell_has_not_is_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        stack(**options)
    assert stack(cell={"kind": "peephole", "forget_bias": 0.0}, bias=False)


def test_a_decoder_projects_no_first_value_that_no_step_reads() -> None:
    spec = EncoderSpec(6, 6, 1, ("h",), True)
    names = {
        cell: {*Bridge(BridgeConfig.parse({"cell": cell}, "test"), spec).matrices()}
        for cell in ("lstm", "ssru", "min-gru")
    }
    first = {cell: {name.partition(".")[0] for name in found} for cell, found in names.items()}
    assert first == {"lstm": {"start0_h", "start0_c"}, "ssru": {"start0_c"}, "min-gru": {"start0_h"}}


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_the_gradient_of_a_learned_initial_state_is_that_of_a_given_one(cell: str) -> None:
    body = stack(cell=cell, size=3, initial_state="learned").double()
    initial = body.initial.tensors()
    assert set(initial) == {f"layer{n}.{field}" for n in range(2) for field in body.config.cell.state}
    x_TBD = torch.randn(7, 4, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    found = []
    for first in None, {name: value_H.expand(4, -1) for name, value_H in initial.items()}:
        h = body(x_TBD, LENGTHS, first).outputs["h"]
        found.append((h, *torch.autograd.grad(h.sin().sum(), list(initial.values()))))
    torch.testing.assert_close(*found)


def test_a_stack_that_starts_from_zero_has_the_tensors_it_always_had() -> None:
    plain, learned = stack(), stack(initial_state="learned")
    assert set(learned.state_dict()) - set(plain.state_dict()) == {f"initial.{name}" for name in plain.initial_state(1)}
    assert all(state.eq(0).all() for state in plain.initial_state(2).values())
