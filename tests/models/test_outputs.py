"""Outputs whose layout comes from counts: what is saved means the same words in another network."""

from pathlib import Path

import pytest
import torch

from anaphora.models.language_model import LanguageModel
from anaphora.nn.counts import Counts
from anaphora.protocols import VocabularyInfo
from anaphora.run.weights import fill, tensors_of
from tests.networks import made

from ..batches import text_batch

BATCH = text_batch([[3, 5, 9, 11, 3, 22], [3, 4, 4, 21, 20, 3]])


def make(output: str, counts_V: torch.Tensor) -> LanguageModel:
    tables = {"recurrence": {"size": 24}, "embedding": {"size": 8}, "output": output}
    model = made(LanguageModel, "language-model", tables, VocabularyInfo(23, 0, 1, 2, 3))
    for module in model.modules():
        if isinstance(module, Counts):
            module.set_token_counts(counts_V)
    return model.eval()


@pytest.mark.parametrize("output", ["class-factored", "hierarchical", "adaptive"])
def test_saved_weights_mean_the_same_words_in_another_network(output: str) -> None:
    model, other = make(output, 1 + 300 // (1 + torch.arange(23).flip(0))), make(output, torch.arange(23))
    expected = model(BATCH)[0].sum
    assert other(BATCH)[0].sum != expected
    fill(other, tensors_of(model), Path("here"))
    assert torch.equal(other(BATCH)[0].sum, expected)
