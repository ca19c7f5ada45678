"""Encoders of every kind: untouched by padding, the same alone and in any batch; and what reading in reverse is."""

from typing import Any

import pytest
import torch
from torch.testing import assert_close

from anaphora.errors import ConfigError
from anaphora.models.classifier import ClassifierConfig
from anaphora.models.translator import TranslatorConfig
from anaphora.nn.encoders.encoder import Encoder, EncoderOutput
from anaphora.nn.encoders.ngram_convolution import NgramConvolutionEncoder
from anaphora.nn.randomness import generator
from anaphora.nn.weights import Xavier

LENGTHS = torch.tensor([3, 7, 1, 5])
KINDS: list[dict[str, Any]] = [
    {"size": 16},
    {"size": 16, "layers": 2, "bidirectional": False, "reversed": True},
    {"size": 16, "cell": "gru", "sentence_encoding_from": "backward"},
    {"kind": "convolution", "max_kernel": 3},
    {"kind": "gated-convolution", "size": 16},
    {"kind": "gated-convolution", "size": 16, "bias": False},
    {"kind": "ngram-convolution", "folds": 1, "max_kernel": 3},
    {"kind": "cnn", "size": 5},
    {"kind": "cnn", "size": 3, "widths": [1, 5]},
]
EVERY_KIND = pytest.mark.parametrize("table", KINDS, ids=lambda table: "-".join(map(str, table.values())))


def made(table: dict[str, Any], width: int = 12) -> Encoder:
    config = ClassifierConfig if table.get("kind") == "cnn" else TranslatorConfig
    encoder = config.parse({"encoder": table}, "test").encoder.build(width)
    encoder.initialise(Xavier(), generator(1, "initialise"))
    return encoder


@EVERY_KIND
def test_padding_never_changes_an_encoder(table: dict[str, Any]) -> None:
    encoder, x_BSD = made(table), torch.randn(4, 7, 12)
    spoilt = x_BSD.masked_fill((torch.arange(7) >= LENGTHS.unsqueeze(1)).unsqueeze(-1), torch.nan)
    clean, again = encoder(x_BSD, LENGTHS), encoder(spoilt, LENGTHS)
    assert_close(clean, again, rtol=0, atol=0)
    assert not again.annotations_BSM[2, 1:].any()
    total = again.annotations_BSM.sum() + sum(field.sum() for layer in again.summaries for field in layer.values())
    total.backward()
    assert all(weight.grad.isfinite().all() for weight in encoder.parameters() if weight.grad is not None)


@EVERY_KIND
def test_a_sentence_has_the_same_bits_alone_and_in_any_batch(table: dict[str, Any]) -> None:
    encoder, x_BSD = made(table), torch.randn(4, 7, 12)
    with torch.no_grad():
        together = encoder(x_BSD, LENGTHS)
        for rows in ([0], [3, 1], [2, 0, 3]):
            some = encoder(x_BSD[rows], LENGTHS[rows])
            assert torch.equal(some.annotations_BSM, together.annotations_BSM[rows])
            for layer, whole in zip(some.summaries, together.summaries, strict=True):
                for field in whole:
                    steps = layer[field].shape[1]  # of columns, as many as the longest has
                    assert torch.equal(layer[field], whole[field][rows][:, :steps])


def columns(encoded: EncoderOutput) -> torch.Tensor:
    return encoded.summaries[0]["h"]


def test_the_last_column_goes_on_behind_the_end_of_a_translation() -> None:
    encoder, x_BSD = made({"kind": "ngram-convolution"}), torch.randn(4, 7, 12)
    wanted_B = torch.tensor([5, 2, 1, 4])
    columns_BTD = columns(encoder(x_BSD, LENGTHS, wanted_B))
    for row, wanted in enumerate(wanted_B.tolist()):
        assert torch.equal(columns_BTD[row, wanted:], columns_BTD[row, wanted - 1].expand(5 - wanted, -1))
        assert not torch.equal(columns_BTD[row, wanted - 1], columns_BTD[row, wanted - 2]) or wanted == 1


@pytest.mark.parametrize("wanted", [1, 4, 15])
def test_every_word_of_the_source_is_heard_in_a_translation_of_any_length(wanted: int) -> None:
    encoder, x_BSD = made({"kind": "ngram-convolution"}), torch.randn(1, 12, 12, requires_grad=True)
    columns(encoder(x_BSD, torch.tensor([12]), torch.tensor([wanted]))).sum().backward()
    assert x_BSD.grad is not None
    assert bool(x_BSD.grad.abs().sum(-1).gt(0).all())


def test_without_a_translation_there_are_as_many_columns_as_are_expected() -> None:
    encoder, x_BSD = made({"kind": "ngram-convolution"}), torch.randn(1, 5, 12)
    assert isinstance(encoder, NgramConvolutionEncoder)
    encoder.lengths.set_lengths(torch.tensor([5, 5]), torch.tensor([9, 9]))
    expected = columns(encoder(x_BSD, torch.tensor([5])))
    assert torch.equal(expected, columns(encoder(x_BSD, torch.tensor([5]), torch.tensor([9]))))


@pytest.mark.parametrize(("sentence_encoding_from", "half"), [("backward", slice(0, 6)), ("forward", slice(6, 12))])
def test_a_sentence_encoding_from_one_direction_is_its_half_of_both(sentence_encoding_from: str, half: slice) -> None:
    both, one = made({"size": 6}), made({"size": 6, "sentence_encoding_from": sentence_encoding_from})
    x_BSD = torch.randn(4, 7, 12)
    whole, part = both(x_BSD, LENGTHS), one(x_BSD, LENGTHS)
    assert torch.equal(whole.annotations_BSM, part.annotations_BSM)
    for field in "hc":
        assert torch.equal(whole.summaries[0][field][:, half], part.summaries[0][field])


def test_the_cnn_is_a_convolution_of_torch_over_the_padded_text() -> None:
    encoder, x_BSD = made({"kind": "cnn", "size": 4, "widths": [3]}), torch.randn(2, 6, 12)
    weight = encoder.weights.tensors()["width3.weight"].view(4, 3, 12).transpose(1, 2)
    expected = torch.conv1d(x_BSD.transpose(1, 2), weight, padding=1).relu().transpose(1, 2)
    assert_close(encoder(x_BSD, torch.tensor([6, 6])).annotations_BSM, expected)


def test_a_reversed_encoder_reads_c_b_a_and_the_end_and_gives_annotations_in_the_order_of_the_sentence() -> None:
    turned = made({"size": 6, "layers": 2, "bidirectional": False, "reversed": True})
    plain = made({"size": 6, "layers": 2, "bidirectional": False})
    plain.load_state_dict(turned.state_dict())
    x_BSD = torch.randn(1, 5, 12)
    by_hand, ours = plain(x_BSD[:, [2, 1, 0, 3, 4]], torch.tensor([4])), turned(x_BSD, torch.tensor([4]))
    assert_close(ours.annotations_BSM, by_hand.annotations_BSM[:, [2, 1, 0, 3, 4]], rtol=0, atol=0)
    assert_close(ours.summaries, by_hand.summaries, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"reversed": True}, "reversed .* set one of the two to false"),
        ({"bidirectional": False, "sentence_encoding_from": "forward"}, "not go with encoder.bidirectional = false"),
        ({"kind": "convolution", "cell": "gru"}, 'encoder.cell is for encoder.kind = "recurrent"'),
        ({"kind": "convolutions"}, "encoder 'convolutions' is unknown"),
    ],
)
def test_options_that_do_not_go_together_are_refused(table: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        made(table)
    assert made({}).spec.annotations  # a recurrent one
