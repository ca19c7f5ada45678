"""Four pairs of sentences of different lengths, and what every translator has to do with them."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from anaphora.batch import Batch, pad
from anaphora.models.encoder_decoder import DecodingStepper
from anaphora.models.translator import Translator
from anaphora.protocols import VocabularyInfo
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.scoring import score
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


def assert_the_same_alone_and_in_any_batch(stepper: DecodingStepper) -> list[Hypothesis]:
    """Every sentence is, and a translation's score is the one it has when it is forced; returns all hypotheses."""
    together = translated(stepper, [0, 1, 2, 3])
    for rows in ([2], [3, 1]):
        for number, hypotheses in translated(stepper, rows).items():
            assert hypotheses == together[number]
    for number, (best, *_) in together.items():
        forced = replace(batch([number]), targets=pad([best.ids], end=SYMBOLS.eos if best.finished else None))
        assert score(stepper, forced)[0].score == best.score
    return [hypothesis for hypotheses in together.values() for hypothesis in hypotheses]


def assert_search_steps_through_what_training_computes(model: Translator) -> None:
    """The scores of the four targets are their loss."""
    model.eval()
    with torch.no_grad():
        loss = model(ALL)[0].sum.item()
    assert -sum(hypothesis.score for hypothesis in score(model.stepper(), ALL)) == pytest.approx(loss, rel=1e-5)


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
