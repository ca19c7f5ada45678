"""The training loop: batches in, checkpoints out. It knows no text, and every step of it can be taken again exactly.

All that a step depends on is the weights, the optimizer's tensors, the carried state, a few numbers in ``state.json``,
and draws that are a function of (seed, update). So training that was killed and resumed gives the same bits as
training that was left alone.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch

from anaphora.errors import DataError, DivergedError
from anaphora.events import Note, Report, Saved, Skipped, Update, Validated, silent
from anaphora.kernels.arithmetic import arithmetic_for, products_in
from anaphora.nn.randomness import draws
from anaphora.protocols import Batch, Batches, Carry
from anaphora.run import Run
from anaphora.run.manifest import environment
from anaphora.run.weights import fill, first_not_finite, tensors_of
from anaphora.training import log
from anaphora.training.allocator import keep_freed_memory
from anaphora.training.config import TrainingConfig
from anaphora.training.cursor import Cursor
from anaphora.training.optimizer import NamedOptimizer, global_norm, scale
from anaphora.training.stopping import BestSoFar

Validate = Callable[[torch.nn.Module], Mapping[str, float]]
"""Figures of a model in evaluation mode, by name; called without gradients."""

_CARRY, _OPTIMIZER = "carry/", "optimizer/"


@dataclass(frozen=True)
class Outcome:
    """How training ended."""

    reason: Literal["epochs", "patience", "minutes"]
    """Which bound of the configuration was reached."""
    update: int
    best_update: int
    """The update whose checkpoint is marked best; 0 when no validation gave a finite figure."""
    metrics: Mapping[str, float]
    """The validation figures of the best checkpoint."""
    skipped: int
    """Updates left out because their loss or gradient was not finite."""
    seconds: float
    """Wall-clock time of all parts of this training."""


def train(
    model: torch.nn.Module,
    batches: Batches,
    config: TrainingConfig,
    run: Run,
    validate: Validate,
    report: Report = silent,
) -> Outcome:
    """Train ``model`` (which meets ``protocols.Model``) from where ``run`` stands, and leave its last weights in it.

    Raises RunError when the folder is in use or cannot be written to, DataError for an epoch without batches, and
    DivergedError when losses or gradients stay not finite; checkpoints are never made of weights that are not.
    """
    if config.threads:
        torch.set_num_threads(config.threads)
    keep_freed_memory()
    run.kept = config.keep
    with run.lock():
        return _Training(model, batches, config, run, validate, report).conduct()


class _Training:
    def __init__(
        self,
        model: torch.nn.Module,
        batches: Batches,
        config: TrainingConfig,
        run: Run,
        validate: Validate,
        report: Report,
    ) -> None:
        self._model, self._batches, self._config = model, batches, config
        self._run, self._validate, self._report = run, validate, report
        self._optimizer = NamedOptimizer(config.optimizer, model)
        self._schedule = config.schedule.build(config.optimizer.rate)
        self._best = BestSoFar(config.metric, config.better)
        self._arithmetic = arithmetic_for(config.precision)
        self._cursor = Cursor()
        self._carry: Carry = {}
        self._epoch: Sequence[Batch] = ()
        self._epoch_number = 0
        self._earlier_seconds = 0.0
        self._started = time.monotonic()

    def conduct(self) -> Outcome:
        self._restore()
        self._model.train()
        reason = self._bound()
        while not reason:
            self._update()
            reason = self._bound()
            # one save an update at most: all lines of the log up to an update are older than its checkpoint
            if reason or self._validation_is_due():
                self._validate_and_save()
                reason = reason or self._bound()
            elif self._config.save_every and self._cursor.update % self._config.save_every == 0:
                self._save()
        return Outcome(
            reason,
            update=self._cursor.update,
            best_update=self._best.update,
            metrics=self._best.metrics,
            skipped=self._cursor.skipped,
            seconds=self._seconds(),
        )

    def _bound(self) -> Literal["epochs", "patience", "minutes"] | None:
        if self._cursor.epoch > self._config.epochs:
            return "epochs"
        if self._config.patience and self._best.since >= self._config.patience:
            return "patience"
        # a new training makes one update at least, so that there is something to load
        if self._config.minutes and self._cursor.update and self._seconds() >= 60 * self._config.minutes:
            return "minutes"
        return None

    def _seconds(self) -> float:
        return self._earlier_seconds + time.monotonic() - self._started

    def _update(self) -> None:
        """One batch: forward, backward, clip, step; or a skip when loss or gradient is not finite."""
        started = time.perf_counter()
        batch, total = self._batch()
        cursor = self._cursor
        cursor.begin()
        rate = self._schedule.rate(cursor.epoch - 1 + cursor.position / total)
        self._optimizer.clear()
        with draws(self._config.seed, cursor.update), products_in(self._arithmetic):
            loss, carry = self._model(batch, self._carry or None)
            mean = loss.sum / loss.count
            value = float(mean.detach())
            fault = log.fault("loss", value)
            if not fault:
                mean.backward()
        norm = 0.0
        if not fault:
            gradients = self._optimizer.gradients()
            norm = global_norm(gradients)
            fault = log.fault("gradient norm", norm)
        if fault:
            self._skip(fault)
        else:
            if 0 < self._config.clip_norm < norm:
                scale(gradients, self._config.clip_norm / norm)
            self._optimizer.step(rate)
            self._carry = carry
            cursor.skipped_in_row = 0
            event = Update(
                update=cursor.update,
                epoch=cursor.epoch,
                done=cursor.position + 1,
                total=total,
                epochs=self._config.epochs,
                loss=value,
                tokens=loss.count,
                rate=rate,
                gradient_norm=norm,
                seconds=time.perf_counter() - started,
            )
            self._run.metrics.append(log.update_line(event))
            self._report(event)
        cursor.end(total)

    def _batch(self) -> tuple[Batch, int]:
        if self._epoch_number != self._cursor.epoch:
            self._epoch, self._epoch_number = self._batches.epoch(self._cursor.epoch), self._cursor.epoch
            if not len(self._epoch):
                raise DataError("Training needs at least one batch an epoch, but the training data gives none.")
        return self._epoch[self._cursor.position], len(self._epoch)

    def _skip(self, fault: str) -> None:
        cursor = self._cursor
        cursor.skipped += 1
        cursor.skipped_in_row += 1
        self._carry = {}  # it may hold what made the loss go wrong
        self._run.metrics.append(log.skip_line(cursor.update, cursor.epoch, fault))
        self._report(Skipped(f"update {cursor.update}: {fault}", 1))
        if cursor.skipped_in_row >= self._config.skip_limit:
            raise self._diverged(f"{cursor.skipped_in_row} updates in a row had to be skipped ({fault})")

    def _diverged(self, what: str) -> DivergedError:
        saved = self._run.checkpoints()
        good = f"the last good checkpoint is step-{saved[-1]}" if saved else "no checkpoint was saved before"
        return DivergedError(
            f"Training diverged at update {self._cursor.update}: {what}; {good}. "
            f"Lower training.optimizer.rate or training.clip_norm."
        )

    def _validation_is_due(self) -> bool:
        if self._config.validate_every:
            return self._cursor.update % self._config.validate_every == 0
        return self._cursor.position == 0

    def _validate_and_save(self) -> None:
        cursor = self._cursor
        self._check_finite()
        self._model.eval()
        with torch.no_grad():
            metrics = self._validate(self._model)
        self._model.train()
        improved = self._best.observe(metrics, cursor.update)
        self._schedule.validated(improved)
        event = Validated(cursor.update, cursor.epoch_of_update, dict(metrics), improved)
        self._run.metrics.append(log.validation_line(event))
        self._report(event)
        self._save()
        if improved:
            self._mark_best()

    def _mark_best(self) -> None:
        self._run.write_card({f"validation {name}": value for name, value in self._best.metrics.items()})
        self._run.mark_best(self._best.update)

    def _check_finite(self) -> None:
        broken = first_not_finite(tensors_of(self._model))
        if broken:
            raise self._diverged(f"{broken} is no longer finite")

    def _save(self) -> None:
        self._check_finite()
        tensors = {_OPTIMIZER + name: tensor for name, tensor in self._optimizer.state().items()}
        tensors |= {_CARRY + name: tensor for name, tensor in self._carry.items()}
        state = {
            "cursor": self._cursor.state(),
            "schedule": self._schedule.state(),
            "best": self._best.state(),
            "seconds": self._seconds(),
        }
        path = self._run.save(self._cursor.update, tensors_of(self._model), tensors, state)
        self._report(Saved(self._cursor.update, path))

    def _restore(self) -> None:
        if not self._run.checkpoints():
            self._run.rewind(0)
            return
        checkpoint = self._run.load("latest", self._report, for_training=True)
        fill(self._model, checkpoint.model, checkpoint.path / "model.safetensors")
        tensors = checkpoint.optimizer
        self._optimizer.restore(_under(_OPTIMIZER, tensors), checkpoint.path / "optimizer.safetensors")
        self._carry = _under(_CARRY, tensors)
        self._cursor = Cursor.restored(checkpoint.state["cursor"])
        self._schedule.restore(checkpoint.state["schedule"])
        self._best.restore(checkpoint.state["best"])
        self._earlier_seconds = float(checkpoint.state["seconds"])
        self._run.rewind(checkpoint.update)
        # the process may have been killed between saving its best checkpoint and marking it
        if self._best.update == checkpoint.update and self._run.best() != checkpoint.update:
            self._mark_best()
        here = environment(checkpoint.environment.precision)
        if here != checkpoint.environment:
            self._report(
                Note(
                    f"{checkpoint.path.name} was saved with {checkpoint.environment.describe()}, training goes on "
                    f"with {here.describe()}: the last bits of the result may differ."
                )
            )


def _under(prefix: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
