"""Four pairs of sentences of different lengths, and what every translator has to do with them."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from anaphora.batch import Batch, pad
from anaphora.kernels import naive
from anaphora.kernels.naive.attention import Scored
from anaphora.models.encoder_decoder import DecodingStepper
from anaphora.models.translator import Translator
from anaphora.nn.attention import AttentionConfig
from anaphora.nn.decoder import Decoder
from anaphora.protocols import VocabularyInfo
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.scoring import score
from tests.runtimes import updating
from tests.searches import beam

from ..batches import pair_batch

SYMBOLS = VocabularyInfo(23, 0, 1, 2, 3)
SOURCES = [[5, 9, 11, 3], [7, 3], [20, 21, 22, 4, 9, 3], [6, 6, 3]]
TARGETS = [[4, 5, 3], [9, 10, 11, 12, 3], [3], [8, 3]]


def batch(rows: list[int]) -> Batch:
    """Some of the pairs."""
    return pair_batch([SOURCES[n] for n in rows], [TARGETS[n] for n in rows], rows)


ALL = batch([0, 1, 2, 3])


def translated(stepper: DecodingStepper, rows: list[int]) -> dict[int, Any]:
    """What beam search finds for some of the sentences, by their numbers."""
    return dict(zip(rows, beam(stepper, batch(rows), beam=3, max_length=6), strict=True))


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


def assert_an_update_helps(model: Translator) -> None:
    """Gradients reach every weight but of kernels that no sentence here is long enough for, and lower the loss."""
    weights = {name: weight for name, weight in model.named_parameters() if weight.numel()}
    with torch.no_grad():
        before = model.eval()(ALL)[0].sum
    with updating(1, 1):
        loss = model.train()(ALL)[0].sum
        gradients = torch.autograd.grad(loss, list(weights.values()), materialize_grads=True)
    unmoved = [name for name, gradient in zip(weights, gradients, strict=True) if not gradient.any()]
    assert all(name.endswith(".kernel") for name in unmoved)
    for weight, gradient in zip(weights.values(), gradients, strict=True):
        weight.data -= 0.0001 * gradient.sign()
    with torch.no_grad():
        assert model.eval()(ALL)[0].sum < before


def naive_reading(
    decoder: Decoder,
    x_TBD: Tensor,
    memory_BSM: Tensor,
    lengths_B: Tensor,
    positions_B: Tensor,
    first: dict[str, Tensor],
    weights: dict[str, Tensor],
    masks: dict[str, Tensor] | None,
    language_TBL: Tensor | None = None,
) -> dict[str, Tensor]:
    """The outputs of a decoder by ``kernels.naive``, as its options say."""
    config, attention = decoder.config, decoder.attention.config if decoder.attention else None
    scored = isinstance(attention, AttentionConfig)
    options = Scored(attention.score, attention.window, attention.normalizer) if scored else None
    query = "between" if attention and attention.two_transitions else attention.query if attention else "never"
    inputs = x_TBD, memory_BSM, lengths_B, positions_B, first, weights, masks
    readout = config.residual, config.readout_layer, config.readout_state
    return naive.decoder(config.cell, options, query, *inputs, *readout, language_TBL).outputs


def naive_masks(decoder: Decoder, x_TBD: Tensor) -> dict[str, Tensor]:
    """What the decoder draws, under the names and in the layout of the naive reading."""
    config = decoder.config
    widths = {f"dropout{n}": config.size for n in range(config.layers - 1)} | {"dropout": config.readout_width}
    units = {f"layer{n}": config.size for n in range(config.layers)}
    units |= {"ask": config.size} if decoder.attention and decoder.attention.config.two_transitions else {}
    inputs, memory = config.dropout.draw("decoder", widths, units, x_TBD)
    every_step = {name.removesuffix(" mask"): mask for name, mask in inputs.items()}
    every_step |= {name.removesuffix(".mask"): mask.expand(len(x_TBD), -1, -1) for name, mask in memory.items()}
    return {name.replace("dropout", "mask").replace("layer", "recurrent"): mask for name, mask in every_step.items()}


def cost_after_its_own_likeliest_words(model: Translator) -> float:
    """What the targets cost a translator that reads what it would have written itself, in nats."""
    stepper, total = model.stepper(), 0.0
    memory, state, _ = stepper.start(ALL)
    ids = torch.full((4,), stepper.bos)
    for step in range(ALL.target_ids.ids_BT.shape[1]):
        log_probs, _, state, *_ = stepper.advance(memory, state, ids)
        there = step < ALL.target_ids.lengths_B
        total -= log_probs[there, ALL.target_ids.ids_BT[there, step]].sum().item()
        ids = log_probs.argmax(-1)
    return total
