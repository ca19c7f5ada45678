"""Training on another device: on what torch calls "meta", which refuses to mix devices, and on a GPU where one is."""

import copy
import tomllib
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from anaphora import recipes
from anaphora.batch import Batch, Ids, Supervision
from anaphora.errors import ConfigError
from anaphora.kernels import scan
from anaphora.kernels.backends import backend_for
from anaphora.kernels.device import device_for
from anaphora.kernels.runtime import Runtime, running
from anaphora.nn import randomness
from anaphora.protocols import VocabularyInfo
from anaphora.training.reduction import reduce_loss, weight_rows
from tests.networks import build
from tests.runtimes import updating

SYMBOLS = VocabularyInfo(1000, 0, 1, 2, 3)
META = torch.device("meta")


def recipe(name: str) -> dict[str, Any]:
    return tomllib.loads(recipes.read(name))


# neither networks, nor words that are spelt: how many different ones a batch has hangs on values
OTHERS = {"aligner", "ptb-ngram", "kim2016-small"}
NETWORKS = [
    name for name in recipes.names() if name not in OTHERS and recipe(name)["task"] in ("translate", "language-model")
]


def batch() -> Batch:
    def rows(longest: int) -> Ids:
        return Ids(np.random.default_rng(0).integers(4, 1000, (4, longest)), np.array([longest, 2, longest - 1, 1]))

    supervision = Supervision(partition_C=np.arange(1000))
    return Batch(rows(7), rows(7), np.arange(4), np.array([True, False, True, True]), supervision)


@pytest.mark.matrix
@pytest.mark.parametrize("name", NETWORKS)
def test_an_update_of_every_recipe_stays_on_its_device(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # values are looked at there, and nothing has any
    monkeypatch.setattr(scan, "check_scan", lambda program, inputs, *rest: next(iter(inputs.values())).shape[0])
    tables = recipe(name)
    output = tables.get("output", {})
    if output.get("proposal", {}).get("kind") != "partition":
        tables["output"] = {"kind": "full", "tied": output.get("tied", False)}  # in others shapes hang on values
    symbols = dict.fromkeys(("source", "target", "text"), SYMBOLS)
    with META:
        model = build(str(tables["task"]), tables, symbols, name)
    given = weight_rows(batch(), "mean_per_sequence").to(META)
    carry = None
    for update in (1, 2):
        with updating(1, update, backend=backend_for("bf16", META.type)):
            loss, carry = model(given, carry)
            assert loss.sum.device == META
            reduce_loss(loss, 4, loss.count, "mean_per_sequence").backward()
    assert all(weight.grad is not None for weight in model.parameters() if weight.requires_grad)


@pytest.mark.skipif(torch.cuda.is_available(), reason="for machines without a GPU")
def test_a_gpu_that_is_not_there_is_named_with_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r'training\.device = "cuda" needs a GPU.*set training\.device = "cpu"'):
        device_for("cuda", "training.device")


def updated(model: nn.Module, device: torch.device, times: int) -> tuple[list[float], dict[str, Tensor]]:
    """The losses of updates on the same batch, and the gradients of the last."""
    model = copy.deepcopy(model).to(device)
    losses, carry = list[float](), None
    for _ in range(times):
        torch.manual_seed(1)
        given = weight_rows(batch(), "mean_per_sequence").to(device)
        model.zero_grad()
        with running(Runtime(device, training=True, seed=1, update=1)):
            loss, _ = model(given, carry)
        objective = reduce_loss(loss, 4, loss.count, "mean_per_sequence")
        objective.backward()
        losses.append(float(objective.detach()))
    return losses, {name: weight.grad.cpu() for name, weight in model.named_parameters() if weight.grad is not None}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.filterwarnings("ignore:RNN module weights")  # as cudnn.py has it
@pytest.mark.parametrize("name", NETWORKS)
def test_an_update_of_every_recipe_is_that_of_the_processor(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # masks are drawn where they are used, so those of a GPU would be others
    monkeypatch.setattr(randomness, "_source", lambda purpose, device: randomness.generator(1, purpose))
    torch.manual_seed(0)
    tables = recipe(name)
    model = build(str(tables["task"]), tables, dict.fromkeys(("source", "target", "text"), SYMBOLS), name)
    expected, gradients = updated(model, torch.device("cpu"), 1)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*step by step")  # a loop that no graph could be recorded of
        got, found = updated(model, torch.device("cuda"), 3)  # the sizes are met, recorded, and come back
    assert_close(torch.tensor(got), torch.tensor(expected * 3), rtol=1e-3, atol=1e-4)
    assert found.keys() == gradients.keys()
    for weight, gradient in ((name, gradient) for name, gradient in gradients.items() if gradient.numel()):
        assert_close(found[weight], gradient, rtol=2e-2, atol=1e-4 * float(gradient.abs().max() + 1e-6))
