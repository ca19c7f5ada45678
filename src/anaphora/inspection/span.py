"""Memory spans of recurrent units: the longest distance at which each still learns each task.

Every trial starts from new weights. A task is learnt where 99% of the answers on test sequences are right, asked every
``CHECKED`` sequences. The distance doubles until it is not; the learning rate is the one of three that learns the
shortest distance with the fewest sequences, or fails best, with the first seed.
"""

import json
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from threading import Event, Lock
from typing import Any

from anaphora.errors import DataError, refuse_os_errors
from anaphora.events import Progress, Report, silent
from anaphora.files import append, lines
from anaphora.inspection.learner import TASKS, Learner, Setting
from anaphora.inspection.result import Result
from anaphora.kernels.runtime import Runtime, running
from anaphora.nn.stack import StackConfig
from anaphora.nn.weights import Orthogonal
from anaphora.training.rules import Adam
from anaphora.wording import inflect

LEARNT = 0.99
CHECKED = 1600
"""Sequences between two tests."""
MAIN = ("elman", "lstm, forget bias 0", "lstm, forget bias 1", "gru")
OTHERS = (
    "lstm-no-forget",
    "lstm-no-output-tanh",
    "lstm-additive",
    "lstm-input",
    "lstm-forget",
    "two-gate",
    "peephole",
    "multiplicative",
)
_LOG = "span.jsonl"


@dataclass(frozen=True)
class Plan:
    """Plan of measurements."""

    name: str
    size: int = 128
    """Hidden size."""
    batch: int = 32
    sequences: int = 100_000
    """Sequences that a network sees at most at one distance."""
    rates: tuple[float, ...] = (1e-2, 3e-3, 1e-3)
    seeds: tuple[int, ...] = (1, 2, 3)
    shortest: int = 4
    longest: int = 1024
    units: tuple[str, ...] = MAIN
    """Cells that are tried on every task."""
    others: tuple[str, ...] = OTHERS
    """Cells that are tried on ``copy`` alone, with the first seed."""

    def series(self) -> Iterator[tuple[str, str, int]]:
        """Task, unit and seed of each series of growing distances."""
        for seed in self.seeds:
            yield from ((task, unit, seed) for task in TASKS for unit in self.units)
        yield from (("copy", unit, self.seeds[0]) for unit in self.others)


FULL = Plan("full")
QUICK = Plan("quick", 64, 32, 32_000, (3e-3,), (1,), 4, 64, ("elman", "lstm, forget bias 1", "gru"), ())


@dataclass(frozen=True)
class Trial:
    """One network on one task at one distance."""

    task: str
    unit: str
    seed: int
    rate: float
    distance: int
    learnt: bool
    accuracy: float
    """The best on the test sequences."""
    sequences: int
    """Sequences that it saw."""
    seconds: float = field(compare=False)
    """Seconds of processor time."""

    @property
    def key(self) -> tuple[str, str, int, float, int]:
        """Identity among the trials of a plan."""
        return self.task, self.unit, self.seed, self.rate, self.distance


@dataclass(frozen=True)
class Spans(Result):
    """Trials of a plan."""

    plan: Plan
    trials: tuple[Trial, ...]

    def spans(self) -> dict[tuple[str, str], list[int]]:
        """Return the longest distance that each seed learnt, by task and unit; 0 where not even the shortest."""
        found: dict[tuple[str, str], list[int]] = {}
        for task, unit, seed in self.plan.series():
            own = [one for one in self.trials if (one.task, one.unit, one.seed) == (task, unit, seed)]
            if own:
                longest = max((one.distance for one in own if one.learnt), default=0)
                found.setdefault((task, unit), []).append(longest)
        return found

    def json(self) -> dict[str, Any]:
        spans = [{"task": task, "unit": unit, "spans": own} for (task, unit), own in self.spans().items()]
        return {"plan": asdict(self.plan), "spans": spans, "trials": [asdict(one) for one in self.trials]}

    def lines(self) -> Iterator[str]:
        plan, found = self.plan, self.spans()
        within = f"({LEARNT:.0%} right) within {plan.sequences:,} sequences; hidden size {plan.size}"
        yield f"Longest distance, {plan.shortest} to {plan.longest} steps, that is learnt {within}"
        yield f"  {'':<24}{''.join(f'{task:>18}' for task in TASKS)}"
        for unit in dict.fromkeys(unit for _, unit in found):
            cells = [self._format(found.get((task, unit), [])) for task in TASKS]
            yield f"  {unit:<24}{''.join(f'{cell:>18}' for cell in cells)}"
        seconds = sum(one.seconds for one in self.trials)
        yield f"  {inflect(len(self.trials), 'network')}, {seconds:,.0f} s of processor time"

    def _format(self, own: Sequence[int]) -> str:
        """Return the median, and the extremes where they differ; at least the longest where that was learnt."""
        if not own:
            return "-"
        low, high = min(own), max(own)
        more = ">= " if low >= self.plan.longest else ""
        return f"{more}{median(own):g}" + (f" ({low} to {high})" if low < high else "")


def spans(plan: Plan, folder: Path | None = None, report: Report = silent, workers: int = 0) -> Spans:
    """Carry out a plan; what a ``folder`` has of it already is not done again, so that it can be interrupted.

    ``workers`` series run at the same time, as many as there are cores where it is 0; what is found does not depend on
    it. Raises DataError where the folder cannot be written or holds another plan.
    """
    store = _Store(plan, folder)
    series = list(plan.series())
    what = f"memory spans ({plan.name})"
    one_each = replace(Runtime.inference(), threads=1)
    with running(one_each), ThreadPoolExecutor(workers or len(os.sched_getaffinity(0))) as pool:
        found = [pool.submit(_conduct_series, plan, task, unit, seed, store) for task, unit, seed in series]
        try:
            report(Progress(what, 0, len(series), "series"))
            for number, one in enumerate(as_completed(found), 1):
                one.result()
                report(Progress(what, number, len(series), "series"))
        except BaseException:
            store.stopped.set()
            pool.shutdown(cancel_futures=True)
            raise
    # in the order in which one worker makes those of a unit
    trials = sorted(store.trials.values(), key=lambda one: (one.task, one.unit, one.seed, -one.rate, one.distance))
    return Spans(plan, tuple(trials))


def _conduct_series(plan: Plan, task: str, unit: str, seed: int, store: "_Store") -> None:
    rate, distance = _rate(plan, task, unit, store), plan.shortest
    while distance <= plan.longest and store.trial(task, unit, seed, rate, distance).learnt:
        distance *= 2


def _rate(plan: Plan, task: str, unit: str, store: "_Store") -> float:
    """Return the learning rate of a unit on a task, found at the shortest distance with the first seed."""
    if len(plan.rates) == 1:
        return plan.rates[0]
    with store.lock(task, unit):  # series of other seeds wait for it
        found = [store.trial(task, unit, plan.seeds[0], rate, plan.shortest) for rate in plan.rates]
    return min(found, key=lambda one: (not one.learnt, one.sequences, -one.accuracy)).rate


class _Store:
    """Trials, each made once; several threads may ask for different ones."""

    def __init__(self, plan: Plan, folder: Path | None) -> None:
        self._plan, self._path = plan, None if folder is None else folder / _LOG
        self.stopped = Event()
        """Once set, running trials end without a result."""
        self._lock, self._locks = Lock(), dict[tuple[str, str], Lock]()
        self.trials: dict[tuple[str, str, int, float, int], Trial] = {}
        head, found = json.dumps({"plan": asdict(plan)}), list(lines(self._path)) if self._path else []
        if not found:
            self._append(head)
        elif found[0].decode() != f"{head}\n":
            raise DataError(f"{self._path} is of another plan of measurements: name another folder, or remove it.")
        elif not found[-1].endswith(b"\n"):
            self._append("")
        for line in found[1:]:
            with suppress(ValueError, TypeError):  # a line that a killed process left unfinished
                trial = Trial(**json.loads(line))
                self.trials[trial.key] = trial

    def lock(self, task: str, unit: str) -> Lock:
        """Return the lock to hold while others should not ask for trials of a unit on a task."""
        with self._lock:
            return self._locks.setdefault((task, unit), Lock())

    def trial(self, task: str, unit: str, seed: int, rate: float, distance: int) -> Trial:
        """Return a trial, read or made now."""
        key = task, unit, seed, rate, distance
        if key not in self.trials:
            found = conduct(self._plan, *key, self.stopped)
            with self._lock:
                self.trials[key] = found
                self._append(json.dumps(asdict(found)))
        return self.trials[key]

    def _append(self, line: str) -> None:
        if self._path is None:
            return
        with refuse_os_errors(f"{self._path} cannot be written to: ", ": name another folder."):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            append(self._path, f"{line}\n".encode())


def conduct(
    plan: Plan, task: str, unit: str, seed: int, rate: float, distance: int, stopped: Event | None = None
) -> Trial:
    """Train one network until it has learnt the task or has seen all of its sequences.

    Raises CancelledError once ``stopped`` is set.
    """
    config = StackConfig.parse({"cell": cell_table(unit), "size": plan.size}, "span")
    setting = Setting(config, Orthogonal(), Adam(learning_rate=rate), 1.0, plan.batch)
    started, best = time.thread_time(), 0.0
    learner = Learner(setting, TASKS[task], distance, seed)
    while best < LEARNT and (learner.updates + 1) * plan.batch <= plan.sequences:
        if stopped and stopped.is_set():
            raise CancelledError
        learner.update()
        if learner.updates * plan.batch % CHECKED < plan.batch:
            best = max(best, learner.accuracy())
    seen, seconds = learner.updates * plan.batch, round(time.thread_time() - started, 3)
    return Trial(task, unit, seed, rate, distance, best >= LEARNT, best, seen, seconds)


def cell_table(unit: str) -> dict[str, Any]:
    """Return the options of a unit as a plan names it: its kind, perhaps with its forget bias."""
    kind, _, bias = unit.partition(", forget bias ")
    return {"kind": kind} | ({"forget_bias": float(bias)} if bias else {})
