"""Summary of a run folder, read from the folder alone: for ``anaphora info``, and for people's own scripts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, TypeVar

from anaphora.errors import AnaphoraError, RunError
from anaphora.files import DamagedError
from anaphora.formats.html_table import table
from anaphora.memory import Memory
from anaphora.run import calibrations, inference, shortlists
from anaphora.run.bundle import CARD, Bundle
from anaphora.run.card import licence_of
from anaphora.run.checkpoint import AVERAGE, Checkpoint, name_of
from anaphora.run.folder import Run
from anaphora.run.logs import Evaluation, newest
from anaphora.run.verdict import verdict
from anaphora.run.weights import parameters
from anaphora.wording import inflect

T = TypeVar("T")


@dataclass(frozen=True)
class CheckpointInfo:
    """One checkpoint, every file of it read and compared with its manifest."""

    name: str
    """``step-40``, or ``average``."""
    bytes: int
    best: bool
    fault: str
    """Fault in a sentence; empty when it is whole."""

    def __str__(self) -> str:
        marks = ["damaged" if self.fault else "whole"] + ["best"] * self.best
        return f"{self.name}: {self.bytes / 1e6:,.1f} MB, {', '.join(marks)}"


@dataclass(frozen=True)
class RunInfo:
    """Summary of a run."""

    path: str
    task: str
    format: int
    """Format of the folder."""
    parameters: Mapping[str, int]
    """Numbers that were learnt, by part of the network; a tied matrix counts once."""
    mixed: Mapping[str, float]
    """Weight of each run and each order of the cache in an interpolation; empty for other models."""
    vocabularies: Mapping[str, int]
    """Vocabulary size by side, special tokens included."""
    experiment: Mapping[str, Any]
    """All that it was begun with, as nested tables."""
    licence: str
    """Licence of the corpus, where the catalogue knows it."""
    fingerprints: Mapping[str, str]
    """SHA-256 of the data by part."""
    validation: Mapping[str, float]
    """Validation metrics of the best checkpoint."""
    verdict: str
    """Sentences on its validation curve; empty for a model that was fitted in one go."""
    evaluations: tuple[Evaluation, ...]
    checkpoints: tuple[CheckpointInfo, ...]
    """Checkpoints from the newest to the oldest, an average in front."""
    memory: int
    """Segments of its translation memory; 0 without one."""
    environment: str
    """Environment that the used checkpoint was written in."""
    faults: tuple[str, ...]
    """Damaged files; nothing when every file is as it was written."""
    usable: bool
    """True if there is a checkpoint that predictions can be made with."""

    def json(self) -> dict[str, Any]:
        return asdict(self) | {"total_parameters": self.total_parameters}

    def sections(self) -> dict[str, list[str]]:
        """Return what people read of it: lines by heading."""
        parts = [f"  {part}: {count:,}" for part, count in self.parameters.items()]
        return {
            "Task": [f"{self.task}, format {self.format}"],
            "Parameters": [f"{self.total_parameters:,}", *parts] if parts else [],
            **({"Mixed of": [f"{weight:.4f}  {name}" for name, weight in self.mixed.items()]} if self.mixed else {}),
            "Vocabulary": [f"{side}: {inflect(size, 'token')}" for side, size in self.vocabularies.items()],
            "Data": [*self._data()],
            "Validation": [f"{name} {value:.4f}" for name, value in self.validation.items()],
            **({"Verdict": [self.verdict]} if self.verdict else {}),
            "Evaluations": [line for one in newest(self.evaluations) for line in _format_metrics(one)],
            "Checkpoints": [*map(str, self.checkpoints)],
            "Memory": [inflect(self.memory, "segment")] if self.memory else [],
            "Written with": [self.environment] if self.environment else [],
            "Files": [*self.faults] or ["all whole"],
        }

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        rows = [(heading, "<br>".join(map(escape, lines))) for heading, lines in self.sections().items() if lines]
        return table(("Run", escape(self.path)), rows, ("", ""))

    def _data(self) -> Iterator[str]:
        data = self.experiment.get("data", {})
        yield from (f"{key} = {value}" for key, value in data.items() if value not in ("none", [], ""))
        yield from (f"{part}: SHA-256 {digest}" for part, digest in self.fingerprints.items())
        yield f"licence: {self.licence or 'that of the files; it was not recorded'}"

    @property
    def total_parameters(self) -> int:
        """Numbers that were learnt."""
        return sum(self.parameters.values())


def _format_metrics(evaluation: Evaluation) -> Iterator[str]:
    where = f"{evaluation.date[:10]}, {evaluation.text}, {evaluation.checkpoint}"
    yield from (f"{where}: {metric.name} {metric.shown} ({metric.conditions})" for metric in evaluation.metrics)


def about(path: str | Path) -> RunInfo:
    """Read a run folder through; every checkpoint is verified, one at a time.

    Raises RunError when it is no run folder, or of a newer format; what else is wrong is among its ``faults``.

    >>> found = anaphora.about("runs/en-fr")
    >>> found.task, found.usable
    ('translate', True)
    """
    path = Path(path)
    run = Run.open(path)
    checkpoints, used = _checkpoints(run)
    tokenizers, vocabulary_fault = _try(run.tokenizers)
    memory, memory_fault = _try(lambda: _segments(path))
    of_files = (_try(partial(check, path))[1] for check in (inference.read, calibrations.read, shortlists.read_tensors))
    other_faults = [*damaged_logs(run), *of_files, memory_fault]
    fingerprints = used.fingerprints.items() if used else ()
    return RunInfo(
        path=str(path),
        task=str(run.experiment.get("task", "unknown")),
        format=run.format,
        parameters=parameters(used.model) if used else {},
        mixed=_weights_of_runs(run, used) if used else {},
        vocabularies={side: tokenizer.symbols.size for side, tokenizer in (tokenizers or {}).items()},
        experiment=run.experiment,
        licence=licence_of(run.experiment.get("data", {})),
        fingerprints={name.removeprefix("data/"): value for name, value in fingerprints if name.startswith("data/")},
        validation=_try(lambda: run.validation(used.which))[0] or {} if used else {},
        verdict=str(_try(lambda: verdict(run.metrics.lines(), _metric(run)))[0] or ""),
        evaluations=tuple(_try(run.evaluations.lines)[0] or ()),
        checkpoints=checkpoints,
        memory=memory or 0,
        environment=used.environment.describe() if used else "",
        faults=tuple(filter(None, [vocabulary_fault, *(one.fault for one in checkpoints), *other_faults])),
        usable=used is not None and not vocabulary_fault,
    )


def about_bundle(path: Path) -> dict[str, Any]:
    """Read a bundle through, and return what it is and its card; errors as for ``Bundle.open``."""
    bundle = Bundle.open(path)
    contents = bundle.contents
    facts = {"bundle": str(path), "bytes": path.stat().st_size, "task": bundle.inference.task}
    facts |= {"precision": contents.precision, "checkpoint": contents.checkpoint}
    return facts | {"card": (bundle.file(CARD) or b"").decode("utf-8", "replace")}


def _checkpoints(run: Run) -> tuple[tuple[CheckpointInfo, ...], Checkpoint | None]:
    """Return all of them, and the one that loading uses: the best, or the newest that is whole."""
    best, used, found = run.best(), None, []
    for which in run.present():
        try:
            checkpoint, fault = _try(partial(run.load, which, for_training=True), DamagedError)
            if fault:  # predictions need no optimizer
                checkpoint, _ = _try(partial(run.load, which), DamagedError)
        except RunError:  # of a newer format, or removed by a training that goes on: not damaged, and not ours to read
            continue
        if checkpoint and (which == best or (used is None and which != AVERAGE)):
            used = checkpoint
        name = name_of(which)
        found.append(CheckpointInfo(name, _size(run.path / "checkpoints" / name), which == best, fault))
    return tuple(found), used


def _metric(run: Run) -> str:
    """Return the validation metric that decides which checkpoint is the best."""
    training = run.experiment.get("training")
    return str(training.get("metric", "loss")) if isinstance(training, dict) else "loss"


def _weights_of_runs(run: Run, checkpoint: Checkpoint) -> dict[str, float]:
    """Return the weight of each run in an interpolation, and of each order of its cache; empty for other models."""
    match run.experiment.get("interpolation"):
        case {"runs": [*runs]} if "weights" in checkpoint.model:
            weights = checkpoint.model["weights"].tolist()
            orders = range(1, len(weights) - len(runs) + 1)
            return dict(zip([*map(str, runs), *(f"cache of order {order}" for order in orders)], weights, strict=False))
    return {}


def damaged_logs(run: Run) -> Iterator[str]:
    """Yield a sentence for each log of a run that has damaged lines."""
    for log in (run.metrics, run.evaluations):
        lines, fault = _try(log.damaged_lines)
        if lines:
            yield f"{log.path} is damaged in line {', '.join(map(str, lines))}, which is passed over."
        elif fault:
            yield fault


def _try(read: Callable[[], T], kind: type[AnaphoraError] = AnaphoraError) -> tuple[T | None, str]:
    """Return what ``read`` does; None and the fault, where it raises one of that ``kind``."""
    try:
        return read(), ""
    except kind as error:
        return None, str(error)


def _segments(path: Path) -> int:
    """Return the number of segments in the memory of a run, or in those of its pairs of languages."""
    count = 0
    for file in path.glob("memory.*sqlite"):
        with Memory(path, pair=file.stem.removeprefix("memory").strip(".")) as memory:
            count += len(memory)
    return count


def _size(folder: Path) -> int:
    try:
        return sum(file.lstat().st_size for file in folder.iterdir())
    except OSError:
        return 0
