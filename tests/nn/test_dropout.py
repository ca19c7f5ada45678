"""Dropout: what is dropped together, and what a recipe may write."""

from typing import Any

import pytest
import torch
from torch import Tensor

from anaphora.errors import ConfigError
from anaphora.nn.dropout import IndependentDropout, VariationalDropout
from anaphora.nn.embedding import Embedding, EmbeddingConfig
from anaphora.nn.stack import StackConfig
from anaphora.nn.weights import Matrix, Weights
from tests.runtimes import updating


def test_a_number_is_short_for_a_mask_of_its_own_at_every_step() -> None:
    short = StackConfig.parse({"dropout": 0.3}, "test")
    assert short.dropout == IndependentDropout(probability=0.3)
    assert StackConfig.parse(short.model_dump(), "test") == short
    assert StackConfig.parse({"dropout": 0}, "test") == StackConfig()


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (1.0, "dropout.probability should be less than 1, but is 1"),
        ({"kind": "variational", "recurrent": 2.0}, "dropout.recurrent should be less than 1, but is 2"),
        ({"kind": "variationl"}, "dropout 'variationl' is unknown.*Did you mean 'variational'"),
        ({"kind": "independent", "recurrent": 0.2}, "dropout.recurrent is for dropout.kind = "),
        (True, "dropout"),
    ],
)
def test_what_is_no_dropout_is_refused_in_a_sentence(value: Any, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        StackConfig.parse({"dropout": value}, "test.toml")


def test_an_independent_mask_differs_from_step_to_step() -> None:
    inputs, memory = draw(IndependentDropout(probability=0.4))
    assert set(inputs) == {"dropout0 mask", "dropout1 mask"} and not memory
    assert 0.3 < (inputs["dropout0 mask"] == 0).float().mean() < 0.5
    assert not torch.equal(inputs["dropout0 mask"][0], inputs["dropout0 mask"][1])
    assert not torch.equal(inputs["dropout0 mask"], inputs["dropout1 mask"])


def test_a_variational_mask_is_one_for_each_sentence() -> None:
    inputs, memory = draw(VariationalDropout(probability=0.4, recurrent=0.2))
    assert not inputs and {name: mask.shape for name, mask in memory.items()} == {
        "dropout0.mask": (30, 40),
        "dropout1.mask": (30, 40),
        "layer0.mask": (30, 40),
    }
    assert 0.3 < (memory["dropout0.mask"] == 0).float().mean() < 0.5
    assert 0.1 < (memory["layer0.mask"] == 0).float().mean() < 0.3
    assert not torch.equal(memory["dropout0.mask"][0], memory["dropout0.mask"][1])


def draw(dropout: IndependentDropout | VariationalDropout) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    with updating(1, 1):
        return dropout.draw("test", {"dropout0": 40, "dropout1": 40}, {"layer0": 40}, torch.zeros(20, 30, 5))


def vectors(dropout: Any, ids_TB: Tensor) -> Tensor:
    embedding = Embedding(EmbeddingConfig.parse({"size": 40, "dropout": dropout}, "test"), 50, "words")
    torch.nn.init.ones_(embedding.weight)
    with updating(1, 1):
        return embedding.vectors(ids_TB)


def test_variational_dropout_of_word_vectors_drops_the_same_numbers_of_all_words_of_a_sentence() -> None:
    x_TBD = vectors({"kind": "variational", "probability": 0.5}, torch.randint(50, (7, 30)))
    assert torch.equal(x_TBD, x_TBD[:1].expand_as(x_TBD))
    assert not torch.equal(x_TBD[0, 0], x_TBD[0, 1])
    assert set(x_TBD.unique().tolist()) == {0.0, 2.0}


def test_a_dropped_word_is_dropped_wherever_it_stands_in_its_sentence() -> None:
    ids_TB = torch.randint(8, (12, 40), generator=torch.Generator().manual_seed(1))
    x_TBD = vectors({"kind": "variational", "words": 0.5}, ids_TB)
    dropped_TB = (x_TBD == 0).all(-1)
    assert torch.equal(dropped_TB, (x_TBD == 0).any(-1))
    assert 0.35 < dropped_TB.float().mean() < 0.65
    for word in range(8):
        fates = [dropped_TB[ids_TB[:, b] == word, b].unique().tolist() for b in range(40)]
        assert max(map(len, fates)) == 1 and [False] in fates and [True] in fates


def test_weight_dropout_drops_numbers_of_recurrent_matrices_alone() -> None:
    weights = Weights({"layer0.h": Matrix(40, 40, 1, True), "input0.weight": Matrix(40, 40), "layer0.bias": Matrix(40)})
    for weight in weights.parameters():
        torch.nn.init.ones_(weight)
    with updating(1, 1):
        dropped = weights.with_dropout("test", 0.5)
    assert set(dropped["layer0.h"].unique().tolist()) == {0.0, 2.0}
    assert all(torch.equal(dropped[name], weights.tensors()[name]) for name in ("input0.weight", "layer0.bias"))
    assert weights.with_dropout("test", 0.0) == weights.tensors()
