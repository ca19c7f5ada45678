"""Every output under every network: what is trained is what is stepped."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from anaphora.nn.counts import Counts
from anaphora.nn.weights import Network
from anaphora.protocols import VocabularyInfo
from anaphora.run.weights import fill, tensors_of
from tests.networks import made

from ..batches import text_batch

SYMBOLS = VocabularyInfo(23, 0, 1, 2, 3)
OUTPUTS: list[Any] = ["full", "class-factored", "hierarchical", "sampled", "nce", "adaptive"]
NETWORKS: dict[str, tuple[str, dict[str, Any]]] = {
    "recurrent": ("language-model", {"recurrence": {"size": 24}}),
    "window": (
        "language-model",
        {"model": "feed-forward", "network": {"kind": "feed-forward", "words": 2, "size": 24}},
    ),
    "translator": ("translate", {"encoder": {"size": 12}, "decoder": {"size": 24}}),
}
IDS = np.array([[3, 5, 9, 11, 3, 22], [3, 4, 4, 21, 20, 3]])
BATCH = text_batch(IDS)

EVERY = pytest.mark.parametrize(
    ("network", "output"), [(network, output) for network in NETWORKS for output in OUTPUTS], ids=str
)


def make(network: str, output: Any) -> Network:
    task, tables = NETWORKS[network]
    model = made(Network, task, tables | {"embedding": {"size": 8}, "output": output}, SYMBOLS)
    counts_of(model, 1 + 300 // (1 + torch.arange(23).flip(0)))
    return model


def counts_of(model: nn.Module, counts_V: torch.Tensor) -> None:
    for module in model.modules():
        if isinstance(module, Counts):
            module.set_token_counts(counts_V)


@EVERY
def test_stepping_a_text_gives_its_loss_in_evaluation(network: str, output: Any) -> None:
    model = make(network, output).eval()
    loss, _ = model(BATCH)
    stepper: Any = model.stepper()  # type: ignore[operator]
    memory, state, _ = stepper.start(BATCH)
    ids, total = np.full(2, stepper.bos), 0.0
    for step in range(5):
        log_probs, _, state, *_ = stepper.advance(memory, state, ids)
        assert np.exp(log_probs).sum(1) == pytest.approx([1, 1], rel=1e-5)
        ids = IDS[:, step + 1]
        total -= log_probs[[0, 1], ids].sum()
    assert loss.sum.item() == pytest.approx(total, rel=1e-5)


@pytest.mark.parametrize("output", ["class-factored", "hierarchical", "adaptive"])
def test_saved_weights_mean_the_same_words_in_another_network(output: str) -> None:
    model, other = make("recurrent", output), make("recurrent", output)
    counts_of(other, torch.arange(23))
    expected = model.eval()(BATCH)[0].sum
    assert other.eval()(BATCH)[0].sum != expected
    fill(other, tensors_of(model), Path("here"))
    assert torch.equal(other.eval()(BATCH)[0].sum, expected)
