"""The toy training: sessions in this process, and a trainer in other processes that may be killed."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from anaphora.events import Event
from anaphora.run import Run
from anaphora.training.best_checkpoint import Better
from anaphora.training.config import TrainingConfig
from anaphora.training.loop import Outcome, never, train
from tests.conftest import asking
from tests.training import toy

Trainer = Callable[..., dict[str, Any]]


class Session:
    """A toy training in this process, with the events that it reported."""

    def __init__(self, path: Path) -> None:
        self.run = Run.create(path, toy.EXPERIMENT, {})
        self.events: list[Event] = []
        self.model = toy.ToyModel()
        self.validate: Any = toy.validate
        self.stop = never
        self.better: Better = "lower"

    def train(self, batches: Any = None, **training: Any) -> Outcome:
        config = TrainingConfig.parse(toy.TRAINING | training, "test")
        given, report = batches or toy.ToyBatches(), self.events.append
        return train(self.model, given, config, self.run, self.validate, report, self.stop, better=self.better)

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def stop_when_asked(self, times: int) -> None:
        """Let training be told to stop when it asks so often."""
        asked = iter(range(1, times))
        self.stop = lambda: next(asked, None) is None

    def figures(self, *figures: float, metric: str = "loss") -> None:
        """Let validations find these, one after the other."""
        given = iter(figures)
        self.validate = lambda model: {metric: next(given)}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    torch.set_num_threads(1)
    return Session(tmp_path / "run")


def weights_of(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


@pytest.fixture(scope="session")
def trainer() -> Iterator[Trainer]:
    """``trainer(folder=..., kill_at=...)`` trains in a process of its own and says how that ended."""
    with asking("tests.training.toy") as ask:
        yield ask
