"""Training on another device: with what torch calls "meta", which computes nothing but refuses to mix devices."""

import tomllib
from importlib import resources
from typing import Any

import pytest
import torch

from anaphora import recipes
from anaphora.batch import Batch, Ids, Supervision
from anaphora.errors import ConfigError
from anaphora.kernels import scan
from anaphora.kernels.backends import backend_for
from anaphora.kernels.device import device_for
from anaphora.protocols import VocabularyInfo
from anaphora.training.config import TrainingConfig
from anaphora.training.reduction import reduced, weighted
from tests.networks import build
from tests.runtimes import updating

SYMBOLS = VocabularyInfo(1000, 0, 1, 2, 3)
META = torch.device("meta")


def recipe(name: str) -> dict[str, Any]:
    return tomllib.loads((resources.files("anaphora.recipes") / f"{name}.toml").read_text(encoding="utf-8"))


# neither networks, nor words that are spelt: how many different ones a batch has hangs on values
OTHERS = {"aligner", "ptb-ngram", "kim2016-small"}
NETWORKS = [
    name for name in recipes.names() if name not in OTHERS and recipe(name)["task"] in ("translate", "language-model")
]


def batch() -> Batch:
    def rows(longest: int) -> Ids:
        return Ids(torch.randint(4, 1000, (4, longest)), torch.tensor([longest, 2, longest - 1, 1]))

    supervision = Supervision(partition_C=torch.arange(1000))
    return Batch(rows(7), rows(7), torch.arange(4), torch.tensor([True, False, True, True]), supervision)


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
    given = weighted(batch(), "mean_per_sequence").to(META)
    carry = None
    for update in (1, 2):
        with updating(1, update, backend=backend_for("bf16", META.type)):
            loss, carry = model(given, carry)
            assert loss.sum.device == META
            reduced(loss, 4, loss.count, "mean_per_sequence").backward()
    assert all(weight.grad is not None for weight in model.parameters() if weight.requires_grad)


@pytest.mark.skipif(torch.cuda.is_available(), reason="for machines without a GPU")
def test_a_gpu_that_is_not_there_is_named_with_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r'training\.device = "cuda" needs a GPU.*set training\.device = "cpu"'):
        device_for("cuda", "training.device")


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"here.*device"):
        TrainingConfig.parse({"device": "gpu"}, "here")
