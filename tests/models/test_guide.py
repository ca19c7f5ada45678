"""A translator whose attention is guided: its loss, and what cannot be guided."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from anaphora.batch import Batch, Supervision, pad
from anaphora.errors import ConfigError
from anaphora.models.translator import Translator
from anaphora.protocols import VocabularyInfo
from tests.kernels import naive
from tests.networks import build, made

SIDES = dict.fromkeys(("source", "target"), VocabularyInfo(11, 0, 1, 2, 3))


def translator(query: str, context: str) -> Translator:
    tables = {
        "embedding": {"size": 5},
        "encoder": {"size": 4},
        "decoder": {"size": 6},
        "attention": {"query": query, "context": context},
        "guided_alignment": {"kind": "learn", "weight": 0.7},
    }
    return made(Translator, "translate", tables, SIDES).double()


def batch(aligned: bool = True) -> Batch:
    alignments_BTS = np.zeros((2, 3, 4), np.float32)
    alignments_BTS[0, 0, 1] = alignments_BTS[1, 0, 0] = 1
    alignments_BTS[0, 1, [0, 2]] = 0.5
    supervision = Supervision(alignments_BTS=alignments_BTS if aligned else None)
    return Batch.of_rows(range(2), pad([[4, 5, 6, 3], [7, 3]]), pad([[8, 9, 3], [10, 3]]), supervision)


@pytest.mark.parametrize(("query", "context"), [("current", "output"), ("previous", "state"), ("current", "state")])
def test_the_loss_is_that_of_the_words_and_the_cost_of_looking_elsewhere(query: str, context: str) -> None:
    model, guided = translator(query, context), batch()
    assert guided.supervision.alignments_BTS is not None
    together, alone = model(guided)[0], model(batch(aligned=False))[0]
    alignments_TBS = torch.from_numpy(guided.supervision.alignments_BTS).double().transpose(0, 1)
    weights_TBS = model.target_signals(guided)[0]["weights"]
    assert_close(together.minimised, alone.sum + 0.7 * naive.guidance(weights_TBS, alignments_TBS))
    assert together.sum == alone.sum and together.count == alone.count
    doubled = replace(guided, supervision=replace(guided.supervision, weights_B=np.array([2.0, 2.0])))
    assert_close(model(doubled)[0].minimised, 2 * together.minimised)


@pytest.mark.parametrize(
    ("attention", "complaint"), [("none", "nothing attends"), ("gaussian-window", "weights that are shares")]
)
def test_a_translator_without_weights_that_are_shares_cannot_be_guided(attention: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        build("translate", {"attention": attention, "guided_alignment": "learn"}, SIDES)
