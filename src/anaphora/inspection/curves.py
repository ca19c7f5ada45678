"""Training curves: loss, learning rate and validation metrics of runs by update."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from anaphora.errors import RunError
from anaphora.inspection.result import Result
from anaphora.run import Run
from anaphora.run.logs import numbers_in
from anaphora.wording import inflect

Points = tuple[tuple[int, float], ...]
"""Update and value."""


@dataclass(frozen=True)
class Curves(Result):
    """The log of one run."""

    run: str
    training: dict[str, Points] = field(repr=False)
    """Quantities of each update by name: "loss", "gradient_norm", ..."""
    validation: dict[str, Points]
    best: int | None
    """The update of the best checkpoint."""

    def lines(self) -> list[str]:
        last = {name: points[-1] for name, points in {**self.training, **self.validation}.items()}
        best = "" if self.best is None else f", best at update {self.best:,}"
        updates = max((update for update, _ in last.values()), default=0)
        at_best = {name: dict(points).get(self.best or -1, points[-1][1]) for name, points in self.validation.items()}
        validation = ", ".join(f"{name} {value:.4g}" for name, value in at_best.items())
        return [f"{self.run}: {inflect(updates, 'update')}{best}; {validation or 'no validation yet'}"]

    def only(self, split: str, name: str) -> "Curves":
        """Return one quantity alone."""
        own = {split: {one: points for one, points in getattr(self, split).items() if one == name}}
        return replace(self, training=own.get("training", {}), validation=own.get("validation", {}))


def curves(runs: Sequence[str | Path]) -> list[Curves]:
    """Return the curves of runs, trained or still in training. Raises RunError for no run, or one without a log."""
    return [_of(Path(run)) for run in runs]


def _of(path: Path) -> Curves:
    run = Run.open(path)
    tables: dict[str, dict[str, list[tuple[int, float]]]] = {"training": {}, "validation": {}}
    best = None
    for line in run.metrics.lines():
        split = "validation" if "validation" in line else "training"
        best = line["update"] if line.get("best") else best
        for name, value in numbers_in(line.get("validation", line)).items():
            if split == "validation" or name not in ("update", "epoch", "tokens", "seconds"):
                tables[split].setdefault(name, []).append((line["update"], float(value)))
    if not any(tables.values()):
        raise RunError(f"{path} has no training curves: its metrics.jsonl has no lines, as nothing was updated.")
    points = {split: {name: tuple(own) for name, own in table.items()} for split, table in tables.items()}
    return Curves(str(path), **points, best=best)
