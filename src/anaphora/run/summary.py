"""Summary of a run folder, read from the folder alone: for ``anaphora info``, and for people's own scripts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from anaphora.errors import AnaphoraError, RunError
from anaphora.files import DamagedError
from anaphora.memory import Memory
from anaphora.run import calibrations, inference, shortlists
from anaphora.run.bundle import CARD, Bundle
from anaphora.run.card import licence_of
from anaphora.run.checkpoint import AVERAGE, Checkpoint, name_of
from anaphora.run.folder import Run
from anaphora.run.logs import Evaluation
from anaphora.run.weights import parameters

T = TypeVar("T")


@dataclass(frozen=True)
class CheckpointInfo:
    """One checkpoint, every file of it read and compared with its manifest."""

    name: str
    """``step-40``, or ``average``."""
    bytes: int
    best: bool
    fault: str
    """Its fault, in a sentence; empty when it is whole."""


@dataclass(frozen=True)
class RunInfo:
    """Summary of a run."""

    path: str
    task: str
    format: int
    """Of the folder."""
    parameters: Mapping[str, int]
    """Numbers that were learnt, by part of the network; a tied matrix counts once."""
    mixed: Mapping[str, float]
    """Weight of each run and each order of the cache in an interpolation; empty for other models."""
    vocabularies: Mapping[str, int]
    """Vocabulary size by side, special tokens included."""
    experiment: Mapping[str, Any]
    """All that it was begun with, as nested tables."""
    licence: str
    """Of the corpus, where the catalogue knows it."""
    fingerprints: Mapping[str, str]
    """SHA-256 of the data by part."""
    validation: Mapping[str, float]
    """Validation metrics of the best checkpoint."""
    evaluations: tuple[Evaluation, ...]
    checkpoints: tuple[CheckpointInfo, ...]
    """From the newest to the oldest, an average in front."""
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

    @property
    def total_parameters(self) -> int:
        """Numbers that were learnt."""
        return sum(self.parameters.values())


def about(path: Path) -> RunInfo:
    """Read a run folder through; every checkpoint is verified, one at a time.

    Raises RunError when it is no run folder, or of a newer format; what else is wrong is among its ``faults``.
    """
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
    facts = {"bundle": str(path), "bytes": path.stat().st_size, "task": bundle.inference.task}
    facts |= bundle.contents.model_dump(include={"precision", "checkpoint"})
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
    """Return the number of segments in the memory of a run."""
    if not Memory.is_in(path):
        return 0
    with Memory(path) as memory:
        return len(memory)


def _size(folder: Path) -> int:
    try:
        return sum(file.lstat().st_size for file in folder.iterdir())
    except OSError:
        return 0
