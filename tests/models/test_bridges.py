"""What a decoder starts from: states of the encoder, or an error that says what to set."""

from typing import Any

import pytest
import torch
from torch.testing import assert_close

from anaphora.errors import ConfigError
from anaphora.nn.encoders.encoder import EncoderOutput

from .four_pairs import ALL
from .test_without_attention import ONE_WAY, SYSTEMS, make


def test_a_copied_start_is_the_last_state_of_the_encoder_layer_by_layer() -> None:
    model, given = make(SYSTEMS["sutskever"]), ALL.to(torch.device("cpu"))
    memory, first, _ = model.encode(given)
    x_BSD = model.source_embedding.vectors(given.input_ids.ids_BT)
    encoded = model.encoder(x_BSD, given.input_ids.lengths_B)
    assert memory.keys() == {"summary.vector"}
    assert first.keys() == {f"layer{layer}.{field}" for layer in range(3) for field in "hc"}
    for name, value in first.items():
        layer, field = name.removeprefix("layer").split(".")
        assert torch.equal(value, encoded.summaries[int(layer)][field])


@pytest.mark.parametrize(("deep", "layers", "heard"), [(3, 1, [2]), (3, 2, [1, 2]), (1, 2, [0, 0])])
def test_a_decoder_starts_from_the_top_layers_of_a_deeper_encoder(deep: int, layers: int, heard: list[int]) -> None:
    encoder = ONE_WAY | {"cell": "gru", "layers": deep}
    model = make({"encoder": encoder, "decoder": {"cell": "gru", "size": 16, "layers": layers}})
    weights = model.decoder.weights.tensors()
    with torch.no_grad():
        for layer in range(layers):
            weights[f"start{layer}_h.weight"].copy_(torch.eye(16))
    summaries = [{"h": torch.randn(2, 16)} for _ in range(deep)]
    first = model.decoder.initial_state(EncoderOutput(torch.randn(2, 3, 16), summaries), torch.tensor([3, 1]))
    assert all(torch.equal(first[f"layer{layer}.h"], summaries[place]["h"]) for layer, place in enumerate(heard))


def test_a_mean_start_sees_every_annotation_alike_and_none_behind_the_end() -> None:
    model = make({"decoder": {"initial_state": "mean", "cell": "gru"}})
    with torch.no_grad():
        model.decoder.weights.tensors()["start0_h.weight"].copy_(torch.eye(16))
    encoded = EncoderOutput(torch.randn(2, 3, 16), [{"h": torch.randn(2, 16)}])
    encoded.annotations_BSM[1, 1:] = 0
    first = model.decoder.initial_state(encoded, torch.tensor([3, 1]))["layer0.h"]
    assert_close(first, torch.stack([encoded.annotations_BSM[0].mean(0), encoded.annotations_BSM[1, 0]]))


@pytest.mark.parametrize(
    ("tables", "remedy"),
    [
        ({"attention": {}, "decoder": {"sentence_encoding": "every-step"}}, 'set attention = "none"'),
        (
            {"decoder": {"input_feeding_from": "context"}},
            r'attention\.kind = "none": there is no context: set decoder\.input_feeding_from = "readout"',
        ),
        ({"attention": {}, "decoder": {"readout_layer": "none"}}, r'or attention\.context = "state"'),
        ({"attention": {}, "encoder": {"kind": "convolution"}}, 'set attention = "none"'),
        ({"decoder": {"initial_state": "copy", "size": 15}}, r"1 x 15 with h, c, but the encoder gives 1 x 16 .* h, c"),
        ({"decoder": {"initial_state": "copy", "layers": 2}}, r"2 x 16 with h, c, but the encoder gives 1 x 16"),
        ({"decoder": {"initial_state": "copy"}, "encoder": {"cell": "gru"}}, r"gives 1 x 16 with h: make"),
        (
            {"decoder": {"initial_state": "copy", "initial_state_activation": "tanh"}},
            r'initial_state_activation = "none"',
        ),
        (
            {
                "encoder": {"cell": "gru"},
                "decoder": {
                    "cell": {"kind": "gru", "reset": "before"},
                    "sentence_encoding": "every-step",
                    "sentence_encoding_place": "recurrent",
                },
            },
            r'decoder.cell = { kind = "gru", reset = "before" }: set decoder.cell =',
        ),
        ({"decoder": {"readout_layer": "none", "readout_size": 8}}, r"decoder\.readout_size = 8 does not go with"),
    ],
)
def test_options_that_do_not_go_together_are_refused_with_a_remedy(tables: dict[str, Any], remedy: str) -> None:
    with pytest.raises(ConfigError, match=remedy):
        make(tables)
