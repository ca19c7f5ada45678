"""TrainingJob that is done in one go and has no updates to go on from: counting, linking, mixing."""

import time
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from anaphora.config import SET, Conflict, other_than
from anaphora.events import Report, Saved, Validated
from anaphora.run.weights import tensors_of
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.data_table import CUTS
from anaphora.tasks.training_job import TrainingContext, TrainingJob
from anaphora.training.config import TrainingConfig
from anaphora.training.loop import Outcome, Stop
from anaphora.training.ranks import Ranks


def segmented_alike(kind: str) -> tuple[Conflict, ...]:
    """The conflicts of a model that takes its text as it is, and segments it alike every time; ``kind`` says which."""
    return (
        Conflict(
            {"text.rare": other_than("none")},
            f"it is for the rare words of a translation, but this is {kind}; leave it out",
        ),
        # what is counted is read once, and running text is carried from window to window
        Conflict(
            lambda experiment: experiment.text.sampling_option,
            f"text.{{table.text.sampling_option}} segments the sentences of translators differently every epoch, but "
            f"this is {kind}: leave it out",
        ),
    )


_OF_FITTING = ("seed", "threads")
"""Options of ``[training]`` for a model that is fitted in one go."""

FITTED_CONFLICTS = (
    *(
        Conflict({f"training.{name}": SET}, "it is for updates, but this model is fitted in one go; leave it out", True)
        for name in TrainingConfig.model_fields
        if name not in _OF_FITTING
    ),
    *(
        Conflict({f"data.{name}": SET}, "it says where gradients are cut, but this model has none; leave it out", True)
        for name in CUTS
    ),
)
"""Of a model fitted in one go, as a person wrote it: it makes no updates."""


class FittedExperiment(ExperimentBase):
    """An experiment without updates, written without the options that are for them."""

    def tables(self) -> dict[str, Any]:
        """All options that have an effect, as nested tables."""
        tables = super().tables()
        tables["training"] = {name: tables["training"][name] for name in _OF_FITTING}
        tables["data"] = {name: value for name, value in tables["data"].items() if name not in CUTS}
        return tables


class FittingJob(TrainingJob):
    """Training without updates: one checkpoint, named after update 1, and one validation."""

    @abstractmethod
    def fit(self, context: TrainingContext, report: Report) -> Mapping[str, float]:
        """Fit the model; returns its metrics on the validation split."""

    def prepare(self, context: TrainingContext, report: Report) -> None:
        """Do nothing: fitting looks at the whole of the training split."""

    def learn(self, context: TrainingContext, report: Report, stop: Stop, ranks: Ranks) -> Outcome:
        """Fit the model, unless the run has it already: on the first rank; the others wait."""
        return ranks.told(lambda: self._fitted(context, report))

    def _fitted(self, context: TrainingContext, report: Report) -> Outcome:
        run, started = context.run, time.monotonic()
        if not run.checkpoints():
            figures = self.fit(context, report)
            event = Validated(update=1, epoch=1, metrics=figures, best=True)
            run.rewind(0)  # what a killed process left
            run.metrics.add_validation(event, report)
            report(event)
            report(Saved(1, run.save(1, tensors_of(context.model), {}, {}, report=report)))
        else:
            run.rewind(1)  # a process may have been killed before ``latest`` named it
            figures = run.metrics.validation(1)
        if run.best() is None:  # so it is too where a process was killed right after saving
            run.write_card(figures, report)
            run.mark_best(1)
        return Outcome("fitted", 1, 1, figures, 0, time.monotonic() - started)
