"""A training loop of a caller takes the place of the updates, for every network that learns by updates."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import torch

import anaphora
from anaphora.errors import ConfigError
from anaphora.experiment.run_training import train
from anaphora.kernels.runtime import Runtime, running
from anaphora.protocols import Batches
from anaphora.run import Run
from anaphora.tasks.runs import experiment_of
from tests.conftest import Trained

from .runs import changed


class OwnLoop:
    """Two epochs of gradient descent, with the perplexities that it was given."""

    def __init__(self) -> None:
        self.perplexities: list[float] = []

    def __call__(self, model: torch.nn.Module, batches: Batches, validate: Callable[[], Mapping[str, float]]) -> None:
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for epoch in 1, 2:
            carry = None
            for number, batch in enumerate(batches.epoch(epoch), 1):
                with running(Runtime(training=True, seed=1, update=number)):
                    loss, carry = model(batch, carry)
                    loss.sum.div(loss.count).backward()
                optimizer.step()
                optimizer.zero_grad()
            self.perplexities.append(validate()["perplexity"])
            assert model.training


@pytest.mark.parametrize("kind", ["language-model", "translator"])
def test_a_run_of_an_own_loop_has_its_last_weights_and_is_used_like_every_other(
    kind: str, trained: Trained, tmp_path: Path
) -> None:
    experiment, loop = changed(experiment_of(trained(kind)), "training.seed=2"), OwnLoop()
    outcome = train(experiment, tmp_path / "own", loop=loop)
    assert outcome.metrics["perplexity"] == loop.perplexities[-1] < loop.perplexities[0]
    assert Run.open(tmp_path / "own").best() == 1
    model = anaphora.load(tmp_path / "own")
    assert model.translate(["adf"]) if kind == "translator" else model.generate("line", length=3)


def test_a_model_without_updates_has_no_loop(trained: Trained, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no updates: leave the loop out"):
        train(experiment_of(trained("counts")), tmp_path / "own", loop=OwnLoop())
    assert not (tmp_path / "own").exists()
