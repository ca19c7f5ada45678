"""All that the next update depends on: what a checkpoint keeps, and what training goes back to."""

import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Self

import torch
from annotated_types import Ge, Gt, Le

from anaphora.events import Note, Report
from anaphora.files import DamagedError
from anaphora.protocols import Carry
from anaphora.records import Record
from anaphora.run import Run
from anaphora.run.checkpoint import Checkpoint
from anaphora.run.manifest import environment
from anaphora.run.weights import as_tensors, fill, tensors_of
from anaphora.training.best_checkpoint import BestCheckpoint, Better, Count, SavedBest
from anaphora.training.config import TrainingConfig
from anaphora.training.optimizer import NamedOptimizer
from anaphora.training.ranks import ALONE, Ranks

Epoch = Annotated[int, Ge(1), Le(1 << 53)]


class Cursor(Record, frozen=False):
    """The next batch is number ``position`` (from 0) of ``epoch`` (from 1), and ``update`` batches are done."""

    update: Count
    """Batches seen, skipped ones included, so that the draws of a batch never depend on what was skipped before it."""
    epoch: Epoch
    position: Count
    epoch_of_update: Epoch
    """The epoch that the last batch belonged to."""
    skipped: Count
    skipped_in_row: Count
    fallbacks: Count = 0
    """Times that training restarted from a checkpoint at half the learning rate; the first versions never did."""
    rate_factor: Annotated[float, Gt(0), Le(1)] = 1.0
    """Factor of the schedule's rate since then."""

    def begin(self) -> None:
        """Start on the next batch."""
        self.update += 1
        self.epoch_of_update = self.epoch

    def end(self, total: int) -> None:
        """Go to the batch after it, in the next epoch when it was the last of ``total``."""
        self.position += 1
        if self.position >= total:
            self.epoch, self.position = self.epoch + 1, 0


class SavedAverage(Record):
    """State of a mean of the weights (``training/averaging.py``); None where there is none of its kind."""

    count: Count | None = None
    costs: list[float] | None = None
    triggered: bool | None = None


class SavedState(Record):
    """See ``TrainingState``."""

    cursor: Cursor
    schedule: dict[str, Annotated[float, Ge(0)]]
    """State of schedules that look at validations; empty for the others."""
    best: SavedBest
    seconds: Annotated[float, Ge(0)]
    optimizer: SavedAverage = SavedAverage()
    due: SavedBest | None = None
    """None in checkpoints that told it not apart from ``best``."""

    @classmethod
    def parse(cls, state: Mapping[str, Any], update: int, metric: str, path: Path) -> Self:
        """Return the state of the checkpoint of ``update``, whose best validation has ``metric``; else DamagedError."""
        saved = cls.from_table(state, path, "a training")
        if saved.cursor.update != update:
            raise DamagedError(f"{path} describes update {saved.cursor.update}, but was saved after update {update}.")
        for name, best in (("best", saved.best), ("due", saved.due or saved.best)):
            if best.update > update or (best.update and metric not in best.metrics):
                raise DamagedError(
                    f"{path} does not describe a training: {name!r} should be a validation up to update {update} with "
                    f"{metric}, but is of update {best.update} with {', '.join(best.metrics) or 'nothing'}."
                )
        return saved


_CARRY, _OPTIMIZER = "carry/", "optimizer/"


class TrainingState:
    """A network in training, its optimizer and schedule, what it carries, and where it stands.

    ``best`` is of all validations, and ``due`` of those that were due. What training goes on by is ``due``, so that a
    validation made because a bound was reached changes nothing for a training whose bound is moved.
    """

    def __init__(self, model: torch.nn.Module, config: TrainingConfig, better: Better, ranks: Ranks = ALONE) -> None:
        """``model`` holds the weights that a new training starts from; ``better`` are the values of the metric."""
        self.model = model
        self._ranks = ranks
        self._config, self._better = config, better
        # until there is a checkpoint, this is what a training that diverges goes back to
        self._first = {name: tensor.clone() for name, tensor in tensors_of(model).items()}
        self._earlier_seconds = 0.0
        self._started = time.monotonic()
        self._reset()

    def _reset(self) -> None:
        self.optimizer = NamedOptimizer(self._config.optimizer, self.model, self._config.moving_average)
        self.schedule = self._config.schedule.build(self._config.optimizer.learning_rate, self._config.epochs)
        self.best, self.due = (BestCheckpoint(self._config.metric, self._better) for _ in range(2))
        self.cursor = Cursor(update=0, epoch=1, position=0, epoch_of_update=1, skipped=0, skipped_in_row=0)
        self.carries: dict[int, Carry] = {}
        """Carry of each micro-batch of this rank, by number, from the same of the update before."""

    def rate(self, total: int) -> float:
        """Return the learning rate of the batch that the cursor stands on, one of ``total`` in its epoch."""
        cursor = self.cursor
        epochs = cursor.epoch - 1 + cursor.position / total
        return self.schedule.rate(epochs, cursor.update) * cursor.rate_factor

    def seconds(self) -> float:
        """Wall-clock time of all parts of this training."""
        return self._earlier_seconds + time.monotonic() - self._started

    def save(self, run: Run, report: Report) -> Path:
        """Let the first rank write a checkpoint of all this; errors and warnings as for ``Run.save``."""
        carries = self._gathered_carries()

        def write() -> Path:
            with self.optimizer.result():
                tensors = {_OPTIMIZER + name: tensor for name, tensor in self.optimizer.tensors().items()}
                state = {
                    "cursor": asdict(self.cursor),
                    "schedule": self.schedule.state(),
                    "optimizer": self.optimizer.numbers(),
                    "best": self.best.state(),
                    "due": self.due.state(),
                    "seconds": self.seconds(),
                }
                return run.save(self.cursor.update, tensors_of(self.model), tensors | carries, state, report=report)

        path = self._ranks.broadcast(write)
        self._first = {}
        return path

    def resume(self, run: Run, report: Report) -> None:
        """Take up the newest checkpoint, time included; without one, nothing but leftovers is put in order."""
        checkpoint = self.rewind(run, report)
        if checkpoint is None:
            return
        self._earlier_seconds = self._as_saved(checkpoint).seconds
        here = environment(checkpoint.environment.precision, next(self.model.parameters()).device)
        # what a run was begun with has learnt nothing here yet
        if checkpoint.update and not here.rounds_like(checkpoint.environment):
            report(
                Note(
                    f"{checkpoint.path.name} was saved with {checkpoint.environment.describe()}, training continues "
                    f"with {here.describe()}: the last bits of the result may differ."
                )
            )

    def rewind(self, run: Run, report: Report) -> Checkpoint | None:
        """Go back to the newest checkpoint, or to the first weights when there is none, and the log with it."""
        self._reset()
        checkpoint = self._newest(run, report)
        if checkpoint is None:
            whole = sum(float(tensor.double().sum()) for tensor in self._first.values())
            self._ranks.check_same({"the sum of all initial weights": whole})
            fill(self.model, self._first, run.path)
            run.rewind(0)
            return None
        saved = self._as_saved(checkpoint)
        fill(self.model, checkpoint.model, checkpoint.path / "model.safetensors")
        stored = as_tensors(checkpoint.optimizer)
        tensors = _under(_OPTIMIZER, stored)
        try:
            numbers = {name: value for name, value in asdict(saved.optimizer).items() if value is not None}
            begun = saved.cursor.update > saved.cursor.skipped
            self.optimizer.restore(tensors, numbers, checkpoint.path / "optimizer.safetensors", begun=begun)
            self.schedule.restore(saved.schedule)
        except KeyError as error:
            raise DamagedError(
                f"{checkpoint.path / 'state.json'} describes another training: it lacks {error}."
            ) from None
        device = next(self.model.parameters()).device
        self.carries = {
            number: {name: tensor.to(device) for name, tensor in _under(prefix, stored).items()}
            for number, prefix in self._carry_prefixes().items()
            if number in self._ranks.numbers(self._config.batches_an_update)
        }
        size = getattr(getattr(self.model, "symbols", None), "size", 0)
        for name, tensor in (one for carry in self.carries.values() for one in carry.items()):
            if not tensor.is_floating_point() and not bool(((tensor >= 0) & (tensor < size)).all()):
                raise DamagedError(f"{checkpoint.path / 'optimizer.safetensors'} carries {name} of another vocabulary.")
        self.cursor = saved.cursor
        self.best.restore(saved.best)
        self.due.restore(saved.due or saved.best)
        self._first = {}
        run.rewind(checkpoint.update)
        return checkpoint

    def _newest(self, run: Run, report: Report) -> Checkpoint | None:
        """Return the newest checkpoint that is whole, which the first rank chooses; None when there is none."""
        found = self._ranks.run_on_first(
            lambda: run.load("latest", report, for_training=True) if run.checkpoints() else None
        )
        chosen = self._ranks.all_gather(found.update if found else None)[0]
        if chosen is None:
            return None
        update: int = chosen
        return self._ranks.run_on_each(lambda: found or run.load(update, report, for_training=True))

    def _gathered_carries(self) -> dict[str, torch.Tensor]:
        """Return the carries of all micro-batches, by their names in a checkpoint."""
        own = {number: {name: tensor.cpu() for name, tensor in carry.items()} for number, carry in self.carries.items()}
        prefixes = self._carry_prefixes()
        return {
            prefixes[number] + name: tensor
            for carries in self._ranks.all_gather(own)
            for number, carry in carries.items()
            for name, tensor in carry.items()
        }

    def _carry_prefixes(self) -> dict[int, str]:
        """Return the beginning of the names of what each micro-batch carries; an only one has no number in them."""
        count = self._config.batches_an_update
        return {number: _CARRY if count == 1 else f"{_CARRY}{number}/" for number in range(count)}

    def _as_saved(self, checkpoint: Checkpoint) -> SavedState:
        return SavedState.parse(
            checkpoint.state, checkpoint.update, self._config.metric, checkpoint.path / "state.json"
        )


def _under(prefix: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
