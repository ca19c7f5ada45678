"""Any number of runs of one task on the same text: every metric of each, and whether differences are chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.segments import SegmentMetric
from anaphora.evaluation.significance import SAMPLES, SEED, Contrast, contrast, holm
from anaphora.events import Note, Progress, Report
from anaphora.tasks.evaluation import Request, ScoredRuns
from anaphora.tasks.runs import experiment_of, opener_of, task_at

LEVEL = 0.05
"""Differences whose adjusted p value is below are marked."""


class System(NamedTuple):
    """One run, or the runs of one experiment that differ in their seed alone."""

    name: str
    runs: tuple[Path, ...]

    def __str__(self) -> str:
        return self.name if len(self.runs) == 1 else f"{self.name} ({len(self.runs)} seeds)"


@dataclass(frozen=True)
class Row:
    """One system by one metric on one text."""

    text: str
    metric: str
    conditions: str
    better: str
    system: System
    values: tuple[float, ...]
    """Values of its runs."""
    against_first: Contrast | None
    """Difference from the first system; None for that itself."""
    adjusted_p: float | None
    """Holm's adjustment of the p values of approximate randomisation, over the systems of this metric and text."""

    @property
    def value(self) -> float:
        """Mean over its runs."""
        return mean(self.values)

    @property
    def deviation(self) -> float | None:
        """Standard deviation over its runs; None for one run."""
        return stdev(self.values) if len(self.values) > 1 else None

    @property
    def significant(self) -> bool:
        return self.adjusted_p is not None and self.adjusted_p < LEVEL

    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = {name: getattr(self, name) for name in ("text", "metric", "conditions", "better")}
        found |= {"system": self.system.name, "value": self.value, "deviation": self.deviation}
        found |= {"runs": dict(zip(map(str, self.system.runs), self.values, strict=True))}
        if self.against_first is None:
            return found
        return found | self.against_first.json() | {"adjusted_p": self.adjusted_p, "significant": self.significant}


@dataclass(frozen=True)
class Table:
    """Comparison of systems."""

    rows: tuple[Row, ...]
    samples: int
    seed: int

    def json(self) -> dict[str, Any]:
        return {"samples": self.samples, "seed": self.seed, "rows": [row.json() for row in self.rows]}


def compare_runs(
    paths: Sequence[Path], request: Request, report: Report, *, samples: int = SAMPLES, seed: int = SEED
) -> Table:
    """Evaluate runs of one task as ``request`` says and compare each with the first, by every metric they share.

    Runs that differ only in their seed are one system, unless all of them are. A text of ``request`` must be one that
    can be read several times. Raises ConfigError for fewer than two runs, runs of several tasks and metrics that are
    no sums over segments, DataError for runs with different test splits, and as ``Task.evaluate``.
    """
    _check(paths)
    scored = list[ScoredRuns]()
    for number, path in enumerate(paths):
        report(Progress("compare", number, len(paths), "runs"))
        scored += task_at(path).evaluate([path], request, report).scored
    _check_same_texts(scored)
    metrics = {path: _metrics(one) for path, one in zip(paths, scored, strict=True)}
    systems, rows = systems_of(paths), list[Row]()
    shared = [key for key in metrics[paths[0]] if all(key in of_run for of_run in metrics.values())]
    left_out = dict.fromkeys(key[1] for of_run in metrics.values() for key in of_run if key not in shared)
    if left_out:
        report(Note(f"Left out, since the runs do not count the same things: {', '.join(left_out)}."))
    for key in shared:
        first, *others = by_system = [[metrics[run][key] for run in system.runs] for system in systems]
        contrasts = [contrast(first, of_system, samples, seed) for of_system in others]
        adjusted = holm([one.randomisation_p for one in contrasts])
        for system, of_system, one, p in zip(systems, by_system, [None, *contrasts], [None, *adjusted], strict=True):
            values = tuple(metric.value for metric in of_system)
            rows.append(Row(*key, first[0].better, system, values, one, p))
    return Table(tuple(rows), samples, seed)


def _check(paths: Sequence[Path]) -> None:
    if len(paths) < 2:
        raise ConfigError("A comparison takes two runs or more, but one was given: add some.")
    if len(set(map(Path.resolve, paths))) < len(paths):
        raise ConfigError("A run is named twice, but does not differ from itself: name each once.")
    first, *others = map(task_at, paths)
    for path, task in zip(paths[1:], others, strict=True):
        if task.name != first.name:
            raise ConfigError(
                f"Runs of one task can be compared, but {paths[0]} is {first.noun} and {path} is {task.noun}: compare "
                f"each with its own kind."
            )


def _check_same_texts(scored: Sequence[ScoredRuns]) -> None:
    first = scored[0]
    for other in scored[1:]:
        for part in {**first.digests, **other.digests}:
            if first.digests.get(part) != other.digests.get(part):
                raise DataError(
                    f"{first.name} and {other.name} were trained with different test data ({part}): give one text for "
                    f"all runs, as anaphora evaluate takes it (--source and --reference, --text or --data)."
                )


Key = tuple[str, str, str]
"""Text, name and conditions of a metric."""


def _metrics(scored: ScoredRuns) -> Mapping[Key, SegmentMetric]:
    found: dict[Key, SegmentMetric] = {}
    for part, scores in scored.results.items():
        if not hasattr(scores, "segment_metrics"):
            raise ConfigError(f"{scored.name} has no metrics that can be compared: evaluate it by itself.")
        found |= {(part, one.name, one.conditions): one for one in scores.segment_metrics()}
    return found


def systems_of(paths: Sequence[Path]) -> list[System]:
    """Return runs whose experiments differ in the seed alone together, in the order of the first of each.

    Each run is its own system where all of them would be one.
    """
    groups: dict[Any, list[Path]] = {}
    for path in paths:
        groups.setdefault(_recipe(path), []).append(path)
    together = list(groups.values()) if len(groups) > 1 else [[path] for path in paths]
    return [System(str(runs[0]), tuple(runs)) for runs in together]


def _recipe(path: Path) -> str:
    """Return the experiment that a run was begun with, seed aside; a file of another program is its own."""
    if opener_of(path):
        return str(path)
    return experiment_of(path).with_options({"training.seed": 0}).to_toml()
