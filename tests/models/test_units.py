"""Every unit in every place that takes one: encoders, decoders and language models learn with it."""

from typing import Any

import pytest
import torch
from torch import nn

from anaphora.batch import Batch
from anaphora.kernels.cells import AnyCell, Forgetting
from anaphora.protocols import VocabularyInfo
from tests.networks import made, members

from ..batches import text_batch

SYMBOLS = VocabularyInfo(11, 0, 1, 2, 3)
KINDS = members(AnyCell)
CELLS: list[dict[str, Any]] = [
    *({"kind": kind} for kind in KINDS),
    {"kind": "elman", "activation": "relu"},
    {"kind": "elman", "activation": "sigmoid"},
    {"kind": "peephole", "peephole": "full"},
    {"kind": "gru", "reset": "before", "update": "new"},
]


def networks(cell: dict[str, Any], bias: bool) -> tuple[nn.Module, nn.Module]:
    if not bias and issubclass(KINDS[cell["kind"]], Forgetting):
        cell = cell | {"forget_bias": 0.0}
    layers = {"cell": cell, "bias": bias, "size": 8, "layers": 2}
    translator = {"embedding": {"size": 6}, "encoder": layers, "decoder": layers}
    writer = {"embedding": {"size": 6}, "recurrence": layers}
    return made(nn.Module, "translate", translator, SYMBOLS), made(nn.Module, "language-model", writer, SYMBOLS)


def batch() -> Batch:
    ids = torch.randint(4, 11, (3, 9), generator=torch.Generator().manual_seed(2))
    return text_batch(ids, lengths=[8, 5, 7])


@pytest.mark.matrix
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "unbiased"])
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: "-".join(cell.values()))
def test_every_unit_learns_in_encoders_decoders_and_language_models(cell: dict[str, Any], bias: bool) -> None:
    for model in networks(cell, bias):
        optimizer, losses = torch.optim.Adam(model.parameters(), 0.01), []
        for _ in range(6):
            loss, _ = model(batch())
            optimizer.zero_grad()
            (loss.sum / loss.count).backward()
            assert all(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in model.parameters())
            optimizer.step()
            losses.append((loss.sum / loss.count).item())
        assert losses[-1] < losses[0]
