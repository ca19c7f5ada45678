"""Training curves: loss, learning rate and validation metrics of runs by update."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anaphora.errors import RunError
from anaphora.formats.json_text import Jsonable
from anaphora.run import Run
from anaphora.run.logs import numbers_in
from anaphora.wording import counted

Points = tuple[tuple[int, float], ...]
"""Update and value."""


@dataclass(frozen=True)
class Curves(Jsonable):
    """The log of one run."""

    run: str
    training: dict[str, Points] = field(repr=False)
    """Quantities of each update by name: "loss", "gradient_norm", ..."""
    validation: dict[str, Points]
    best: int | None
    """The update of the best checkpoint."""

    def __str__(self) -> str:
        last = {name: points[-1] for name, points in {**self.training, **self.validation}.items()}
        best = "" if self.best is None else f", best at update {self.best:,}"
        updates = max((update for update, _ in last.values()), default=0)
        validation = ", ".join(f"{name} {self._at_best(points):.4g}" for name, points in self.validation.items())
        return f"{self.run}: {counted(updates, 'update')}{best}; {validation or 'no validation yet'}"

    def _at_best(self, points: Points) -> float:
        by_update = dict(points)
        return by_update.get(self.best or -1, points[-1][1])


def curves(runs: Sequence[str | Path]) -> list[Curves]:
    """Return the curves of runs, trained or still in training. Raises RunError for no run, or one without a log."""
    return [_of(Path(run)) for run in runs]


def _of(path: Path) -> Curves:
    run = Run.open(path)
    training: dict[str, list[tuple[int, float]]] = {}
    validation: dict[str, list[tuple[int, float]]] = {}
    best = None
    for line in run.metrics.lines():
        update = line["update"]
        if "validation" in line:
            best = update if line.get("best") else best
            table, figures = validation, numbers_in(line["validation"])
        else:
            skipped = ("update", "epoch", "tokens", "seconds")
            table, figures = training, {name: v for name, v in numbers_in(line).items() if name not in skipped}
        for name, value in figures.items():
            table.setdefault(name, []).append((update, float(value)))
    if not training and not validation:
        raise RunError(f"{path} has no training curves: its metrics.jsonl has no lines, as nothing was updated.")
    of_training, of_validation = (
        {name: tuple(points) for name, points in table.items()} for table in (training, validation)
    )
    return Curves(str(path), of_training, of_validation, best)
