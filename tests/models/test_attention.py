"""Every kind of attention learns where to look; positions are those of the sentence."""

import random
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from anaphora.batch import Batch
from anaphora.models.translator import Translator
from anaphora.protocols import VocabularyInfo
from anaphora.search.scoring import score
from tests.networks import made
from tests.searches import beam

from ..batches import pair_batch

SYMBOLS = VocabularyInfo(12, 0, 1, 2, 3)
LUONG = {"query": "current", "context": "output"}
BAHDANAU = {"query": "previous", "context": "state"}


def make(tables: dict[str, Any]) -> Translator:
    return made(Translator, "translate", tables, SYMBOLS, seed=1)


def batch(rows: list[list[int]], turned: bool) -> Batch:
    """Each row, and the same row from its end to its beginning or as it is, both with ``</s>``."""
    targets = [[*(row[::-1] if turned else row), SYMBOLS.eos] for row in rows]
    return pair_batch([[*row, SYMBOLS.eos] for row in rows], targets)


def test_positions_are_those_of_the_sentence_where_the_encoder_reads_it_in_reverse() -> None:
    encoder = {"size": 8, "bidirectional": False, "reversed": True}
    attention = LUONG | {"window": {"kind": "local-m", "radius": 1}}
    model = make({"embedding": {"size": 8}, "encoder": encoder, "decoder": {"size": 8}, "attention": attention})
    rows = [[4, 5, 6, 7, 8], [9, 10]]
    for forced, row in zip(score(model.stepper(), batch(rows, turned=False)), rows, strict=True):
        assert forced.weights is not None
        for step, weights_S in enumerate(forced.weights):
            assert np.flatnonzero(weights_S).tolist() == [s for s in range(step - 1, step + 2) if 0 <= s <= len(row)]


TASKS = {
    "location": (LUONG | {"score": {"kind": "location", "max_length": 16}}, True),
    "coverage": (BAHDANAU | {"score": {"kind": "concat", "coverage": True}}, True),
    "hybrid": (BAHDANAU | {"score": "hybrid"}, True),
    "location-only": (BAHDANAU | {"score": {"kind": "hybrid", "content": False}}, False),
    "local-m": (LUONG | {"window": {"kind": "local-m", "radius": 2}}, False),
    "local-p": (LUONG | {"window": {"kind": "local-p", "radius": 2}}, True),
    "median": (BAHDANAU | {"score": "hybrid", "window": {"kind": "median", "radius": 3}}, False),
    "sigmoid": (LUONG | {"normalizer": "sigmoid"}, True),
    "sharp": (LUONG | {"normalizer": {"kind": "softmax", "sharpness": 2.0}}, True),
    "window": (LUONG | {"kind": "gaussian-window", "components": 3}, False),
}
"""An attention, and whether words are to be spelt backwards with it or copied."""


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_each_attention_learns_where_to_look(name: str) -> None:
    attention, turned = TASKS[name]
    unit = {"cell": "gru", "size": 16}
    model = make({"embedding": {"size": 16}, "encoder": unit, "decoder": unit | {"size": 32}, "attention": attention})
    draw = random.Random(1)

    def words(count: int) -> list[list[int]]:
        return [draw.choices(range(4, 12), k=draw.randint(2, 6)) for _ in range(count)]

    unseen = words(100)
    rule, updates = torch.optim.Adam(model.parameters()), 120
    for update in range(updates):
        rule.param_groups[0]["lr"] = 0.02 * (1 - update / updates)
        loss, _ = model(batch(words(32), turned))
        rule.zero_grad()
        (loss.sum / loss.count).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        rule.step()
    asked = batch(unseen, turned)
    found = beam(
        model.stepper(), Batch(asked.inputs, None, asked.example_ids_B, asked.carry_mask_B), beam=2, max_length=9
    )
    right = sum(list(best.ids) == (row[::-1] if turned else row) for (best, *_), row in zip(found, unseen, strict=True))
    assert right >= 80
