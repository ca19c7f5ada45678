"""Four pairs of sentences of different lengths, and what every translator has to do with them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.batch import Batch, FeaturedIds, pad
from anaphora.inference.encoder_decoder import DecodingStepper
from anaphora.models.translator import Translator
from anaphora.nn.attention import AttentionConfig
from anaphora.nn.decoder import Decoder
from anaphora.nn.encoders.encoder import EncoderOutput
from anaphora.protocols import VocabularyInfo
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.scoring import score
from tests.kernels import naive
from tests.kernels.naive.attention import AttentionOptions
from tests.kernels.network import naive_masks
from tests.runtimes import updating
from tests.searches import beam

from ..batches import pair_batch

SYMBOLS = VocabularyInfo(23, 0, 1, 2, 3)
SOURCES = [[5, 9, 11, 3], [7, 3], [20, 21, 22, 4, 9, 3], [6, 6, 3]]
TARGETS = [[4, 5, 3], [9, 10, 11, 12, 3], [3], [8, 3]]
FEATURES = [[14, 8], [], [9], [8, 7, 6]]


def batch(rows: list[int]) -> Batch:
    """Some of the pairs, with features, which only some translators read."""
    found = pair_batch([SOURCES[n] for n in rows], [TARGETS[n] for n in rows], rows)
    features = pad([FEATURES[n] for n in rows], end=SYMBOLS.eos).ids_BT
    return replace(found, inputs=FeaturedIds(found.input_ids.ids_BT, found.input_ids.lengths_B, features))


ALL = batch([0, 1, 2, 3])


def translated(stepper: DecodingStepper, rows: list[int]) -> dict[int, Any]:
    """What beam search finds for some of the sentences, by their numbers."""
    return dict(zip(rows, beam(stepper, batch(rows), beam=2, max_length=4), strict=True))


def assert_one_model(model: Translator) -> list[Hypothesis]:
    """Return what it translates; a model is the same trained, stepped, alone and in any batch.

    The scores of the four targets are their loss, and a translation's score is the one it has when it is forced.
    """
    model.eval()
    with torch.no_grad():
        loss = model(ALL)[0].sum.item()
    stepper = model.stepper()
    assert -sum(hypothesis.score for hypothesis in score(stepper, ALL)) == pytest.approx(loss, rel=1e-5)
    together = translated(stepper, [0, 1, 2, 3])
    for rows in ([2], [3, 1]):
        for number, hypotheses in translated(stepper, rows).items():
            assert hypotheses == together[number]
    for number, (best, *_) in together.items():
        forced = replace(batch([number]), targets=pad([best.ids], end=SYMBOLS.eos if best.finished else None))
        assert score(stepper, forced)[0].score == best.score
    return [hypothesis for hypotheses in together.values() for hypothesis in hypotheses]


def assert_an_update_helps(model: Translator, unread: str = ".kernel") -> None:
    """Gradients reach every weight but ``unread`` ones, and lower the loss; no sentence reaches all of the kernels."""
    weights = {name: weight for name, weight in model.named_parameters() if weight.numel()}
    with torch.no_grad():
        before = model.eval()(ALL)[0].sum
    with updating(1, 1):
        loss = model.train()(ALL)[0].sum
        gradients = torch.autograd.grad(loss, list(weights.values()), materialize_grads=True)
    unmoved = [name for name, gradient in zip(weights, gradients, strict=True) if not gradient.any()]
    assert all(name.endswith((".kernel", unread)) for name in unmoved)
    for weight, gradient in zip(weights.values(), gradients, strict=True):
        weight.data -= 0.0001 * gradient.sign()
    with torch.no_grad():
        assert model.eval()(ALL)[0].sum < before


def assert_naive_reading(model: Translator) -> None:
    """A training decoder has the outputs and gradients that ``kernels.naive`` reads from its options."""
    decoder, spec = model.double().requires_grad_().decoder, model.encoder.spec
    config, attention = decoder.config, decoder.attention.config if decoder.attention else None
    source = torch.Generator().manual_seed(8)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(shape, generator=source, dtype=torch.float64).requires_grad_()

    shape = (3, 2, spec.width) if spec.columns else (3, spec.summary)
    layers = [{field: drawn(*shape) for field in spec.fields} for _ in range(spec.layers)]
    encoded, x_TBD = EncoderOutput(drawn(3, 5, spec.width), layers), drawn(4, 3, model.config.embedding.size)
    words_BSE = drawn(3, 5, model.config.embedding.size) if decoder.spec.words else None
    encoded, weights = encoded._replace(words_BSD=words_BSE), decoder.weights.tensors()
    features_BE = drawn(3, decoder.spec.features) if decoder.spec.features else None
    encoded = encoded._replace(features_BD=features_BE)
    language_TBL = drawn(4, 3, weights["gate.weight"].shape[1]) if model.language_model else None
    lengths_B, positions_B = torch.tensor([4, 2, 3]), torch.tensor([3, 5, 1])
    with updating(1, 1):
        first, memory = (read(encoded, positions_B) for read in (decoder.initial_state, decoder.prepare))
        got = decoder(x_TBD, lengths_B, first, memory, language_TBL)
        used = decoder.weights.with_dropout("decoder", config.weight_dropout)
        masks = drawn_masks(decoder, x_TBD)
    memory_BSM = encoded.annotations_BSM
    if not attention:
        [memory_BSM] = (summary for name, summary in memory.items() if name.startswith("summary."))
        memory_BSM = memory_BSM if spec.columns else memory_BSM.unsqueeze(1)
        if config.sentence_encoding_place == "recurrent":
            summary = torch.tanh(encoded.summaries[-1]["h"] @ weights["summary.weight"].T + weights["summary.bias"])
            used = {name: weight for name, weight in used.items() if name != "context.weight"}
            used["layer0.condition"] = summary @ weights["context.weight"].T
    scored = isinstance(attention, AttentionConfig)
    options = AttentionOptions(attention.score, attention.window, attention.normalizer) if scored else None
    query = "between" if attention and attention.two_transitions else attention.query if attention else "never"
    first = {"o" if name == "readout" else name: block for name, block in first.items()}
    inputs = x_TBD, memory_BSM, lengths_B, positions_B, first, used, masks
    if features_BE is not None:  # as if they stood behind the vector of each word
        both = torch.cat([used["input0.weight"], used["features.weight"]], 1)
        x_TBF = torch.cat([x_TBD, features_BE.expand(4, -1, -1)], -1)
        inputs = x_TBF, memory_BSM, lengths_B, positions_B, first, {**used, "input0.weight": both}, masks
    readout = config.residual, config.readout_layer, config.readout_state
    expected = naive.decoder(config.cell, options, query, *inputs, *readout, language_TBL, words_BSE).outputs
    assert_close(got, expected, rtol=0, atol=1e-10)
    leaves = [
        x_TBD,
        encoded.annotations_BSM,
        *(field for layer in layers for field in layer.values()),
        *weights.values(),
    ]
    leaves += [one for one in (language_TBL, words_BSE, features_BE) if one is not None]
    gradients, naive_gradients = (
        torch.autograd.grad(
            sum(block.sin().sum() for block in outputs.values()),  # type: ignore[arg-type]
            [leaf for leaf in leaves if leaf.requires_grad],
            materialize_grads=True,
            allow_unused=True,
            retain_graph=True,
        )
        for outputs in (got, expected)
    )
    assert_close(gradients, naive_gradients, rtol=0, atol=1e-9)


def drawn_masks(decoder: Decoder, x_TBD: Tensor) -> dict[str, Tensor]:
    """What the decoder draws, under the names and in the layout of the naive reading."""
    config = decoder.config
    widths = {f"dropout{n}": config.size for n in range(config.layers - 1)} | {"dropout": config.readout_width}
    units = {f"layer{n}": config.size for n in range(config.layers)}
    units |= {"ask": config.size} if decoder.attention and decoder.attention.config.two_transitions else {}
    return naive_masks(*config.dropout.draw("decoder", widths, units, x_TBD), len(x_TBD))


def cost_after_its_own_likeliest_words(model: Translator) -> float:
    """What the targets cost a translator that reads what it would have written itself, in nats."""
    stepper, total = model.stepper(), 0.0
    memory, state, _ = stepper.start(ALL)
    ids = np.full(4, stepper.bos)
    for step in range(ALL.target_ids.ids_BT.shape[1]):
        log_probs, _, state, *_ = stepper.advance(memory, state, ids)
        there = step < ALL.target_ids.lengths_B
        total -= log_probs[there, ALL.target_ids.ids_BT[there, step]].sum().item()
        ids = log_probs.argmax(-1)
    return total
