"""The training loop: batches in, checkpoints out. It knows no text, and every step of it can be taken again exactly.

All that a step depends on is the weights, the optimizer's tensors, the carried state, a few numbers in ``state.json``,
and draws that are a function of (seed, update). So training that was killed and resumed gives the same bits as
training that was left alone.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import torch

from anaphora.errors import DivergedError
from anaphora.events import Note, RemarkedMetrics, Report, Saved, Update, Validated, silent
from anaphora.kernels.backends import backend_for
from anaphora.kernels.cells.recorded import AutogradCell
from anaphora.kernels.device import device_for, keep_freed_memory
from anaphora.kernels.native import loops
from anaphora.kernels.prepared import with_prepared_weights
from anaphora.kernels.program import Program
from anaphora.kernels.runtime import Runtime, running
from anaphora.nn.stack import RecurrentConfig
from anaphora.protocols import Batches
from anaphora.run import Run
from anaphora.run.checkpoint import AVERAGE
from anaphora.run.verdict import Trend, Verdict, verdict
from anaphora.run.weights import first_overflowing, tensors_of
from anaphora.training.best_checkpoint import Better
from anaphora.training.clipping import clip, norms
from anaphora.training.config import TrainingConfig
from anaphora.training.micro_batches import Updates, accumulate
from anaphora.training.ranks import ALONE, Ranks
from anaphora.training.reduction import per_prediction
from anaphora.training.state import TrainingState
from anaphora.wording import inflect

Validate = Callable[[torch.nn.Module], Mapping[str, float]]
"""Metrics of a model in evaluation mode, on the device of training, by name; called without gradients."""

Record = Callable[[torch.nn.Module], Mapping[str, Any]]
"""Log line beside the metrics of a validation; called as Validate is; empty for nothing."""

Stop = Callable[[], bool]
"""Asked before the first update and after every one whether training should save itself and end."""

_LOGGED = ("update", "epoch", "loss", "tokens", "rate", "gradient_norm")
"""Fields of an update in ``metrics.jsonl``; beside them ``seconds``, the only part that a repetition changes."""

Reason = Literal["epochs", "patience", "minutes", "stopped", "fitted"]


@dataclass(frozen=True)
class Outcome:
    """Outcome of training."""

    reason: Reason
    """Reason of the end: a bound of the configuration, ``stop``, or a model that was fitted in one go."""
    update: int
    best_update: int
    """The update whose checkpoint is marked best; 0 when no validation gave a finite figure."""
    metrics: Mapping[str, float]
    """Validation metrics of the best checkpoint."""
    skipped: int
    """Updates left out because their loss or gradient was not finite."""
    seconds: float
    """Wall-clock time of all parts of this training."""
    verdict: str = ""
    """Sentences on the validation curve, and what to try next; empty where a few or none were made."""
    remark: str = ""
    """Remark of the validation of the best checkpoint; empty where another process made it."""


def never() -> bool:
    """Let training come to its end."""
    return False


def train(
    model: torch.nn.Module,
    batches: Batches,
    config: TrainingConfig,
    run: Run,
    validate: Validate,
    report: Report = silent,
    stop: Stop = never,
    *,
    better: Better = "lower",
    record: Record | None = None,
    unit: str = "tokens",
    ranks: Ranks = ALONE,
) -> Outcome:
    """Train ``model`` (which meets ``protocols.Model``) from where ``run`` stands, and leave its last weights in it.

    An update whose loss or gradient is not finite is skipped; after ``config.skip_limit`` of them in a row training
    goes back to its last checkpoint and continues with half the learning rate, at most
    ``config.divergence_retries`` times without a new checkpoint. ``better`` says which values of ``config.metric`` are,
    ``unit`` is the noun of predictions. All ``ranks`` train the same; the first alone validates, and writes into
    ``run``, which is followed by the others.

    Raises ConfigError for a device that is not there, RunError when the folder is in use or cannot be written to,
    DataError for an epoch without batches, and DivergedError when going back did not help; checkpoints are never made
    of weights that are not finite.
    """
    keep_freed_memory()
    device = device_for(config.device, "training.device")
    run.kept = config.keep
    evaluating = with_prepared_weights(replace(Runtime.inference(device), threads=config.threads, rank=ranks.rank))
    with run.lock(), running(evaluating):
        try:
            model.to(device)
            state = TrainingState(model, config, better, ranks)
            updates = Updates(batches, config.batches_an_update, ranks, run.path)
            backend = backend_for(config.precision, device)
            runtime = Runtime(device, backend, training=True, seed=config.seed, prepared=evaluating.prepared)
            return _Training(
                model, config, run, validate, report, stop, record, unit, ranks, state, updates, runtime
            ).conduct()
        finally:
            model.to("cpu")


class _NotFinite(Exception):
    """Values that are not finite, although updates were skipped."""


@dataclass
class _Training:
    _model: torch.nn.Module
    _config: TrainingConfig
    _run: Run
    _validate: Validate
    _report: Report
    _stop: Stop
    _record: Record | None
    _unit: str
    _ranks: Ranks
    _state: TrainingState
    _updates: Updates
    _runtime: Runtime
    _fallbacks: int = 0
    """Fallbacks since the last checkpoint; a run that continues from it falls back as often again."""
    _trend: Trend = "improving"
    """The trend that was reported last."""
    _remark: str = ""
    """The remark on the best validation."""

    def conduct(self) -> Outcome:
        _report_obstacles(self._model, self._runtime, self._report)
        self._state.resume(self._run, self._report)
        best = self._state.best
        # the process may have been killed between saving its best checkpoint and marking it
        if best.update and best.update == self._state.cursor.update and self._run.best() != best.update:
            self._mark_best()
        self._model.train()
        # asked before the first update too: from here on there is something to save
        reason, stopping = self._ending()
        reason = reason or ("stopped" if stopping else None)
        while not reason:
            try:
                reason = self._advance()
            except _NotFinite as fault:
                self._ranks.run_on_each(partial(self._fall_back, str(fault)))
        state = self._state
        return Outcome(
            reason,
            update=state.cursor.update,
            best_update=state.best.update,
            metrics=state.best.metrics,
            skipped=state.cursor.skipped,
            seconds=state.seconds(),
            verdict=str(self._verdict() or ""),
            remark=self._remark,
        )

    def _advance(self) -> Reason | None:
        self._update()
        cursor = self._state.cursor
        reason, stopping = self._ending()
        # one save an update at most: all lines of the log up to an update are older than its checkpoint
        if reason or self._validation_is_due():
            self._validate_and_save()
            reason = reason or self._ranks.broadcast(self._bound)
            if not reason:
                self._report_trend()
        elif stopping:
            if not self._broken():  # amid skips the weights may be what is wrong
                self._save()
        elif self._config.save_every and not cursor.update % self._config.save_every and not cursor.skipped_in_row:
            self._save()
        return reason or ("stopped" if stopping else None)

    def _ending(self) -> tuple[Reason | None, bool]:
        """Return the bound that is reached by the clock of the first rank, and whether any rank was told to stop."""
        answers = self._ranks.all_gather((self._bound(), self._stop()))
        return answers[0][0], any(stopping for _, stopping in answers)

    def _bound(self) -> Reason | None:
        state = self._state
        if state.cursor.epoch > self._config.epochs:
            return "epochs"
        if self._config.patience and state.due.since >= self._config.patience:
            return "patience"
        # a new training makes one update at least, so that there is something to load
        if self._config.minutes and state.cursor.update and state.seconds() >= 60 * self._config.minutes:
            return "minutes"
        return None

    def _update(self) -> None:
        """Take the batches of an update: forward, backward, clip, step; or a skip if loss or gradient is not finite."""
        started = time.perf_counter()
        state, config, cursor = self._state, self._config, self._state.cursor
        given, total = self._updates.at(cursor.epoch, cursor.position)
        cursor.begin()
        rate = state.rate(total) * given.learning_rate_factor
        state.optimizer.clear()
        runtime = replace(self._runtime, update=cursor.update)
        nats, carries = accumulate(self._model, given, state.carries, runtime, config.reduction, self._ranks)
        value = per_prediction(nats, given.rows, given.predictions, config.reduction)
        norms_K, norm, fault = self._gradient(value)
        if fault:
            self._skip(fault)
        else:
            clip(state.optimizer.gradients(), norm, largest_value=config.clip_value, largest_norm=config.clip_norm)
            state.optimizer.step(rate, cursor.epoch)
            if runtime.prepared:
                runtime.prepared.drop(state.optimizer.parameters.values())
            state.carries = carries
            cursor.skipped_in_row = 0
            event = Update(
                update=cursor.update,
                epoch=cursor.epoch,
                done=cursor.position + 1,
                total=total,
                epochs=config.epochs,
                loss=value,
                tokens=given.predictions,
                rate=rate,
                gradient_norm=norm,
                seconds=time.perf_counter() - started,
                seconds_left=60 * config.minutes - state.seconds() if config.minutes else math.inf,
                gradient_norms=dict(zip(state.optimizer.names(), norms_K.tolist(), strict=True)),
                unit=self._unit,
            )
            line = {name: getattr(event, name) for name in _LOGGED}
            self._run.metrics.add(line | {"seconds": round(event.seconds, 6)}, self._report)
            self._report(event)
        cursor.end(total)

    def _gradient(self, value: float) -> tuple[torch.Tensor, float, str]:
        """Return the norm of each gradient and of all of them, and what is not finite, if anything."""
        if not math.isfinite(value):
            return torch.zeros(0), 0.0, f"its loss is {value}"
        self._state.optimizer.add_gradients(self._ranks)
        norms_K = norms(self._state.optimizer.gradients())
        norm = float(torch.linalg.vector_norm(norms_K))
        return norms_K, norm, "" if math.isfinite(norm) else f"its gradient norm is {norm}"

    def _skip(self, fault: str) -> None:
        cursor = self._state.cursor
        cursor.skipped += 1
        cursor.skipped_in_row += 1
        self._state.carries = {}  # it may hold what made the loss go wrong
        self._run.metrics.add({"update": cursor.update, "epoch": cursor.epoch, "skipped": fault}, self._report)
        self._report(Note(f"Update {cursor.update:,} is left out: {fault}.", warning=True))
        if cursor.skipped_in_row >= self._config.skip_limit:
            raise _NotFinite(f"{inflect(cursor.skipped_in_row, 'update')} in a row had to be skipped ({fault})")

    def _fall_back(self, what: str) -> None:
        """Restart from the last checkpoint at half the learning rate, or give up."""
        saved = self._run.checkpoints()
        last = f"step-{saved[-1]}" if saved else "the start"
        diverged = self._state.cursor.update
        if self._fallbacks >= self._config.divergence_retries:
            tried = f", as after each of {self._fallbacks} restarts at half the learning rate"
            good = (
                f"the last good checkpoint is {last}: begin another run from it (start.run) or anew"
                if saved
                else "no checkpoint was saved before: begin another run"
            )
            clip = "lower" if self._config.clip_norm else "set"
            raise DivergedError(
                f"Training diverged at update {diverged}: {what}{tried if self._fallbacks else ''}; {good}, and lower "
                f"training.optimizer.learning_rate or {clip} training.clip_norm."
            )
        self._fallbacks += 1
        factor = self._state.cursor.rate_factor / 2
        self._state.rewind(self._run, self._report)
        cursor = self._state.cursor
        cursor.rate_factor = factor
        cursor.fallbacks += self._fallbacks
        # numbered so that going on from the checkpoint drops the line and writes it again
        line = {"update": cursor.update + 1, "epoch": cursor.epoch, "fallback": what, "rate_factor": factor}
        self._run.metrics.add(line, self._report)
        how = f"It continues from {last} with {factor:g} of the learning rate."
        self._report(Note(f"Training diverged at update {diverged}: {what}. {how}", warning=True))

    def _validation_is_due(self) -> bool:
        cursor = self._state.cursor
        if self._config.validate_every:
            return cursor.update % self._config.validate_every == 0
        return cursor.position == 0

    def _validate_and_save(self) -> None:
        state, cursor = self._state, self._state.cursor
        self._check_finite()
        metrics, recorded, remark = self._ranks.broadcast(self._evaluate)
        improved = state.best.observe(metrics, cursor.update)
        cost = state.best.cost(metrics)
        if cursor.skipped_in_row and not math.isfinite(cost):
            raise _NotFinite(f"validation gave {self._config.metric} {cost} amid skipped updates")
        if self._validation_is_due():
            state.optimizer.observe_validation(cost)
            state.schedule.observe_validation(state.due.observe(metrics, cursor.update))
        event = Validated(cursor.update, cursor.epoch_of_update, dict(metrics), improved, remark)
        self._run.metrics.add_validation(event, self._report)
        if recorded:
            line = {"update": cursor.update, "epoch": cursor.epoch_of_update, **recorded}
            self._run.metrics.add(line, self._report)
        self._save()
        if improved:
            self._remark = remark
            self._mark_best()
        self._report(event)

    def _report_trend(self) -> None:
        """Report the verdict on the training so far where its trend is another than before."""
        found = self._verdict()
        if found and found.trend != self._trend:
            self._trend = found.trend
            self._report(Note(found.text))

    def _verdict(self) -> Verdict | None:
        """Return the verdict on the training so far, which the first rank alone has the log of."""
        return verdict(self._run.metrics.lines(), self._config.metric) if self._ranks.first else None

    def _evaluate(self) -> tuple[Mapping[str, float], Mapping[str, Any], str]:
        """Return the metrics of a validation, what is recorded beside them, and the remark on it."""
        self._model.eval()
        with torch.no_grad(), self._state.optimizer.result():
            metrics = self._validate(self._model)
            recorded = self._record(self._model) if self._record else {}
        self._model.train()
        return metrics, recorded, metrics.remark if isinstance(metrics, RemarkedMetrics) else ""

    def _mark_best(self) -> None:
        """Let ``best`` name the checkpoint of the best validation; an average that is as good stays."""
        best = self._state.best
        if self._run.best() == AVERAGE:
            average = self._run.validation(AVERAGE)
            if best.metric in average and best.cost(average) <= best.cost(best.metrics):
                return
        self._run.write_card(best.metrics, self._report)
        self._run.mark_best(best.update)

    def _broken(self) -> str:
        """Return the first weight that a checkpoint could not be loaded with, if there is any."""
        return first_overflowing(tensors_of(self._model))

    def _check_finite(self) -> None:
        if broken := self._broken():
            raise _NotFinite(f"{broken} is no longer finite, or too large")

    def _save(self) -> None:
        self._check_finite()
        path = self._state.save(self._run, self._report)
        self._fallbacks = 0
        self._report(Saved(self._state.cursor.update, path))


def _report_obstacles(model: torch.nn.Module, runtime: Runtime, report: Report) -> None:
    """Report cells without derived gradient, frozen weights, and time loops that run in Python."""
    report_autograd_cells(model, report)
    named = {name: weight for name, weight in model.named_parameters() if weight.numel()}
    trained = [name for name, weight in named.items() if weight.requires_grad]
    if len(trained) < len(named):
        count = sum(named[name].numel() for name in trained)
        whole = sum(weight.numel() for weight in named.values())
        report(Note(f"Only {', '.join(trained)} are trained ({count:,} of {whole:,} parameters); the rest is frozen."))
    if runtime.loops_in_c(torch.zeros(1, device=runtime.device), recording=True):
        programs = [getattr(module, "program", None) for module in model.modules()]
        known = [loop for program in programs if isinstance(program, Program) for loop in loops(program)]
        for loop in (loop for loop in known if loop.obstacles):
            parts = ", ".join(loop.parts)
            report(Note(f"The loop of {parts} runs step by step in Python, which is slower: {loop.reasons}."))


def report_autograd_cells(model: torch.nn.Module, report: Report) -> None:
    """Report the units of ``model`` that train slowly, since nobody has derived their gradient."""
    configs = [module.config for module in model.modules() if hasattr(module, "config")]
    cells = [config.cell for config in configs if isinstance(config, RecurrentConfig)]
    for kind in sorted({cell.kind for cell in cells if isinstance(cell, AutogradCell)}):
        report(Note(f"Unit '{kind}' has no derived gradient, so autograd records each of its steps: it trains slowly."))
