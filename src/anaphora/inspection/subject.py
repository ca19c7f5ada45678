"""Run under inspection: its network, its predictor, and its recurrent layers at work on a text."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from anaphora.errors import ConfigError
from anaphora.events import Report, silent
from anaphora.kernels.observer import Gradients, Trajectory
from anaphora.kernels.parts import Unit
from anaphora.kernels.runtime import running
from anaphora.prediction.examples import Example, GivesExamples
from anaphora.protocols import ProgramModel
from anaphora.run import Which
from anaphora.tasks.registry import task_of
from anaphora.tasks.runs import in_languages, load_trained
from anaphora.tasks.task import TrainedModel
from anaphora.wording import inflect

LONGEST = 120
"""Tokens that a picture of a sentence has room for on one page."""


@dataclass(frozen=True)
class Subject:
    """Run under inspection."""

    trained: TrainedModel
    predictor: Any
    """Predictor, which turns a text into numbers: see ``prediction.examples``."""

    @classmethod
    def open(cls, run: str | Path, which: Which = "best", report: Report = silent, to: str = "") -> "Subject":
        """Open the checkpoint of a run folder, a translator ``to`` a language; RunError where there is none whole."""
        found = cls.of(load_trained(Path(run), which, report))
        return replace(found, predictor=in_languages(found.predictor, Path(run), to))

    @classmethod
    def of(cls, trained: TrainedModel) -> "Subject":
        """Return the subject of a run that was read already."""
        predictor = task_of(trained.experiment).predictor(trained)
        # a transducer is looked into as the translator that it is
        return cls(trained, getattr(predictor, "translator", predictor))

    @property
    def name(self) -> str:
        """Name of the run in pictures."""
        return str(self.trained.path)

    def demand(self, what: str, lacks: str) -> None:
        """Raise ConfigError if it ``lacks`` what is needed; ``what`` says what it cannot do or has not."""
        if lacks:
            raise ConfigError(f"{self.name} {what}: {lacks}.")

    def lacks_layers(self) -> str:
        """Return the reason that no recurrent layer can be inspected; empty where one can."""
        if not isinstance(self.predictor, GivesExamples):
            return "this kind of model cannot be shown a text"
        model = self.trained.model
        if not isinstance(model, ProgramModel) or not any(model.programs().values()):
            return "it has no recurrent layers"
        return ""

    def example(self, text: str, target: str | None = None) -> Example:
        """Return a text as the network reads it; ConfigError where ``lacks_layers`` says why not."""
        self.demand("cannot be looked into", self.lacks_layers())
        example: Example = self.predictor.example(text, target)
        return example

    def fresh(self) -> "Subject":
        """Return the same network with its initial weights."""
        experiment = self.trained.experiment
        model: Any = task_of(experiment).build(experiment, self.trained.tokenizers, self.name)
        model.initialise(experiment.training.seed)
        return Subject.of(self.trained._replace(model=model.eval()))


@dataclass(frozen=True)
class Layer:
    """One scan of a network over one text."""

    name: str
    """The module: "encoder.layers.0.left_to_right"."""
    steps: tuple[str, ...]
    """T pieces that it reads, step by step."""
    seen: Trajectory
    gradients: Gradients | None
    """Gradients of the loss of the text, where they were asked for."""

    @property
    def size(self) -> int:
        """T."""
        return len(self.steps)

    def signal(self, name: str) -> Tensor:
        """Return one signal, T x width."""
        return self.seen.signals[name][: self.size, 0]

    def inside(self) -> dict[str, Tensor]:
        """Return what parts compute between reading and writing, T x width, by ``part.name``."""
        return {name: block[: self.size, 0] for name, block in self.seen.inside.items()}

    def units(self) -> list[Unit]:
        """Return its recurrent units."""
        return [part for part in self.seen.program.parts if isinstance(part, Unit)]

    def gates(self, unit: Unit) -> dict[str, Tensor]:
        """Return the gates of a unit, T x H, by letter; none for units without."""
        prefix = f"{unit.name}."
        of_parts = self.inside().items()
        return {name.removeprefix(prefix): values_TH for name, values_TH in of_parts if name.startswith(prefix)}


class Recorder:
    """Observer that keeps what it receives."""

    def __init__(self) -> None:
        self.seen: list[Trajectory] = []
        self.gradients: dict[int, Gradients] = {}

    def forward(self, seen: Trajectory) -> None:
        """Keep a scan."""
        self.seen.append(seen)

    def backward(self, seen: Trajectory, gradients: Gradients) -> None:
        """Keep its gradients."""
        self.gradients[id(seen)] = gradients


def layers_of(subject: Subject, example: Example, *, gradients: bool = False) -> list[Layer]:
    """Return the recurrent layers at work on a text, in the order in which they ran.

    With ``gradients``, in float64 and with those of the loss.
    """
    model = subject.trained.model.eval()
    batch = example.batch
    if gradients:
        model = deepcopy(model).double()
    recorder = Recorder()
    with (
        running(replace(subject.trained.runtime, kernels="python", observer=recorder)),
        torch.set_grad_enabled(gradients),
    ):
        loss, _ = model(batch)
        if gradients:
            loss.sum.backward()
    names = {id(weight): name for name, weight in model.named_parameters()}
    found: dict[str, Layer] = {}
    for seen in recorder.seen:
        name = next((names[id(one)].split(".weights.")[0] for one in seen.weights.values() if id(one) in names), "")
        read = example.reads.get(name.split(".")[0])
        if read is not None and name not in found:
            found[name] = Layer(name, _in_order(subject, name, read), seen, recorder.gradients.get(id(seen)))
    return list(found.values())


def _in_order(subject: Subject, name: str, read: Sequence[str]) -> tuple[str, ...]:
    """Return the pieces in the order in which a layer reads them."""
    if name.endswith("right_to_left"):
        return tuple(reversed(read))
    encoder = getattr(subject.trained.experiment, "encoder", None)
    if name.startswith("encoder") and getattr(encoder, "reversed", False):
        return (*reversed(read[:-1]), read[-1])  # </s> stays last
    return tuple(read)


def demand_page(steps: Sequence[str], what: str = "The sentence") -> None:
    """Raise ConfigError for a sentence that no page has room for."""
    if len(steps) > LONGEST:
        raise ConfigError(
            f"{what} has {inflect(len(steps), 'token')}, but at most {LONGEST} are shown: give a shorter one."
        )
