"""The run folder: what is needed to go on training or to use what was learnt, and nothing that can execute.

    experiment.toml   the experiment, fully resolved, and the format of the folder
    vocabulary/       the tokenizers of every side
    checkpoints/      step-N/{model,optimizer}.safetensors, state.json, manifest.json
    encoded/          the corpus as integers, put there by training
    best, latest      one line each: the name of a checkpoint
    metrics.jsonl     a line an update and a validation
    evaluations.jsonl a line a text that the run was scored on
    confidence.json   how sure to be of its answers, where that was calibrated
    shortlist.safetensors  likely tokens of its translations, where they were learnt
    card.md           what it is, for people
    lock              held by the process that trains into it

Checkpoints are numbered by update; ``latest`` is for people and scripts, since the newest number says the same. Beside
them there may be the average of several, ``checkpoints/average``, which can be the best, but never the latest.
"""

import json
import os
import tomllib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, Literal, Self, get_args

import tomli_w

from anaphora import files
from anaphora.errors import RunError
from anaphora.events import Note, Report, silent
from anaphora.files import DamagedError, sha256
from anaphora.run import checkpoint as checkpoints
from anaphora.run import layout, manifest
from anaphora.run.card import render
from anaphora.run.checkpoint import AVERAGE, Checkpoint, CheckpointName
from anaphora.run.layout import EXPERIMENT, FolderLock
from anaphora.run.logs import EvaluationLog, MetricsLog, numbers_in
from anaphora.run.upgrade import upgrade
from anaphora.run.weights import Tensors, dtype_name
from anaphora.text import tokenization
from anaphora.text.tokenization import AnyTokenizer
from anaphora.text.tokenizer import Tokenizer

Which = Literal["best", "latest"] | CheckpointName
"""A checkpoint: the best by validation, the newest, the average of several, or that of an update."""


class Run:
    """One run folder, opened. ``Run.create`` makes one, ``Run.open`` reads one."""

    def __init__(
        self, path: Path, experiment: dict[str, Any], number: int, fingerprints: dict[str, str], digest: str
    ) -> None:
        """Use ``create`` or ``open``."""
        self.path = path
        self._digest = digest  # of the bytes of experiment.toml, by which older checkpoints know it
        self.experiment = experiment
        """Experiment given to ``create``, without the format number; one of an older format is upgraded."""
        self.format = number
        """The format of the folder as it lies there."""
        self.fingerprints = fingerprints
        """SHA-256 of ``experiment.toml`` less its bounds, and of every ``vocabulary/...`` and ``data/...``, by name."""
        self.use = ""  # Python that uses such a run, for its card
        self.kept = 2
        """Number of newest checkpoints that stay, beside the best and the average; training sets it."""
        self.keeps_start = False
        """True if the checkpoint of update 0 stays too, where other runs or files gave the first weights."""
        self.metrics = MetricsLog(path / "metrics.jsonl")
        self.evaluations = EvaluationLog(path / "evaluations.jsonl")
        self._checkpoints = path / "checkpoints"
        self._lock = FolderLock(path)

    @classmethod
    def create(
        cls,
        path: Path,
        experiment: Mapping[str, Any],
        tokenizers: Mapping[str, Tokenizer],
        data: Mapping[str, str] | None = None,
        use: str = "",
    ) -> Self:
        """Make a new run folder, whole or not at all.

        ``data`` are the fingerprints of the data by part, ``use`` is Python that uses such a run, for its card. Raises
        RunError when the folder exists and is not empty, or cannot be made.
        """
        layout.check_free(path)
        table = {name: value for name, value in experiment.items() if name != "format"}
        content = tomli_w.dumps({"format": manifest.FORMAT} | table).encode()
        try:
            layout.make(path, content, tokenizers)
        except OSError as error:
            raise RunError(f"The run folder {path} cannot be made: {error.strerror}.") from None
        experiment = tomllib.loads(tomli_w.dumps(table))
        run = cls(path, experiment, manifest.FORMAT, _fingerprints(path, experiment, data), sha256(content))
        run.use = use
        return run

    @classmethod
    def open(cls, path: Path, data: Mapping[str, str] | None = None) -> Self:
        """Open an existing run folder; ``data`` are the fingerprints of the data by part, when there are any.

        Raises RunError when it is missing, empty, none, damaged (naming the file) or of a newer format.
        """
        layout.check_is_run(path)
        content = files.read(path / EXPERIMENT)
        try:
            experiment = files.parse_toml(content.decode("utf-8"))
        except ValueError as error:
            raise RunError(f"{path / EXPERIMENT} is damaged: {error}; restore it from a copy.") from None
        number = experiment.pop("format", None)
        manifest.check_format(number, path / EXPERIMENT)
        fingerprints = _fingerprints(path, experiment, data)
        return cls(path, upgrade(experiment, number), number, fingerprints, sha256(content))

    def lock(self) -> AbstractContextManager[None]:
        """Keep other trainers out of the folder; RunError names the process that is in it already."""
        return self._lock.hold()

    def checkpoints(self) -> list[int]:
        """Return the updates there are checkpoints of, ascending, not verified."""
        return checkpoints.numbers(self._checkpoints)

    def best(self) -> CheckpointName | None:
        """Return the update that was marked best, or "average", or None."""
        return _pointer(self.path / "best")

    def present(self) -> list[CheckpointName]:
        """The checkpoints there are, not verified: the average, then the others from the newest to the oldest."""
        average = [AVERAGE] if (self._checkpoints / AVERAGE).is_dir() else []
        return [*average, *reversed(self.checkpoints())]

    def tokenizers(self) -> dict[str, Tokenizer]:
        """Return the vocabularies by side; RunError names the file that is missing or damaged."""
        return tokenizers_in(self.experiment.get("text"), self.path)

    def validation(self, which: CheckpointName) -> dict[str, float]:
        """The validation metrics of a checkpoint: of an average from its own state, of the others from the log."""
        if which != AVERAGE:
            return self.metrics.validation(which)
        figures = self._read(which, for_training=False).state.get("validation")
        return numbers_in(figures)

    def save(
        self,
        update: int,
        model: Tensors,
        optimizer: Tensors,
        state: Mapping[str, Any],
        *,
        average: bool = False,
        report: Report = silent,
    ) -> Path:
        """Write the checkpoint of an update, whole or not at all, then remove all but the newest ``kept`` and the best.

        An ``average`` of checkpoints up to that update has its own place, and removes none of them. ``state`` is
        JSON with finite numbers. Raises RunError when the disk is full, the folder cannot be written to, or lacks what
        it was opened with; the checkpoints before it are then as they were. What cannot be put in order around a
        checkpoint that is whole is a warning.
        """
        precision = "+".join(sorted({dtype_name(tensor) for tensor in model.values()}))
        with self.lock():
            layout.check_whole(self.path, (name for name in self.fingerprints if not name.startswith("data/")))
            try:
                self._checkpoints.mkdir(exist_ok=True)
                _in_order(self.path, report, self.metrics.sync)
                path = checkpoints.write(
                    self._checkpoints,
                    AVERAGE if average else update,
                    update,
                    checkpoints.contents(model, optimizer, state),
                    self.fingerprints,
                    manifest.environment(precision, getattr(next(iter(model.values())), "device", "cpu")),
                    self.format,
                )
            except OSError as error:
                with suppress(OSError):
                    checkpoints.clean(self._checkpoints)
                older = self.checkpoints()
                intact = f"step-{older[-1]} is intact" if older else "there is none before it"
                raise RunError(
                    f"The checkpoint of update {update} cannot be written into {self._checkpoints}: {error.strerror}; "
                    f"{intact}: {files.remedy(error)} and {'resume' if self.metrics.lines() else 'begin again'}."
                ) from None
            _in_order(self.path, report, lambda: checkpoints.clean(self._checkpoints))
            if not average:
                _in_order(self.path, report, self._settle)
        return path

    def mark_best(self, which: CheckpointName) -> None:
        """Let ``best`` name the checkpoint of an update, or the average; RunError when there is none."""
        if which not in self.present():
            what = "average" if which == AVERAGE else f"checkpoint of update {which}"
            raise RunError(f"{self.path} has no {what} to mark as the best.")
        with self.lock():
            layout.store(self.path / "best", f"{checkpoints.name_of(which)}\n".encode())

    def write_card(self, scores: Mapping[str, float], report: Report = silent) -> None:
        """Write ``card.md`` again, with validation metrics by name and every evaluation so far; a failure is a warning.

        Training may do so at the same time; the card is then that of the later one.
        """
        trained_with, best = self.fingerprints, self.best()
        if best is not None and not any(name.startswith("data/") for name in trained_with):
            with suppress(DamagedError):
                trained_with = manifest.read_manifest(self._checkpoints / checkpoints.name_of(best)).fingerprints
        data = {name: digest for name, digest in trained_with.items() if name.startswith("data/")}
        try:
            card = render(self.path.resolve().name, self.experiment, data, scores, self.evaluations.lines(), self.use)
            layout.store(self.path / "card.md", card.encode())
        except RunError as error:
            report(Note(str(error), warning=True))

    def load(self, which: Which = "best", report: Report = silent, *, for_training: bool = False) -> Checkpoint:
        """Read a checkpoint, verified; with ``for_training`` its optimizer too.

        Where ``best`` or ``latest`` is damaged, the newest one that is whole is used and a warning names the file. A
        checkpoint that is asked for by name is never replaced by another. Raises RunError when nothing is left.
        """
        present = self.present()
        if not present:
            raise RunError(f"{self.path} has no checkpoint yet: train it first, or wait for its first validation.")
        if which == AVERAGE or isinstance(which, int):
            if which not in present:
                asked = "average" if which == AVERAGE else f"checkpoint of update {which}"
                there = ", ".join(map(str, reversed(present)))
                raise RunError(f"{self.path} has no {asked}; it has {there}: name one of these.")
            return self._read(which, for_training)
        faults: list[str] = []
        best = self.best() if which == "best" else None
        if which == "best" and best not in present and os.path.lexists(self.path / "best"):
            faults.append(f"{self.path / 'best'} names no checkpoint that is there.")
        for one in sorted(present, key=lambda one: one != best):
            if one == AVERAGE and best != one:
                continue  # it may be worse than any, and training cannot go on from it
            try:
                found = self._read(one, for_training)
            except DamagedError as error:
                faults.append(str(error))
                continue
            if faults:
                report(Note(f"{' '.join(faults)} Using {found.path} instead.", warning=True))
            if found.fingerprints.get(EXPERIMENT) not in (self.fingerprints[EXPERIMENT], self._digest):
                report(Note(f"{self.path / EXPERIMENT} was changed after {found.path.name} was saved.", warning=True))
            return found
        raise RunError(f"{self.path} has no checkpoint that is whole: {' '.join(faults)} Restore one from a copy.")

    def rewind(self, update: int) -> None:
        """Drop what came after ``update``, which training goes on from: lines of the log, and damaged checkpoints.

        What a killed process left of its last save is put in order too.
        """
        with self.lock():
            try:
                self._checkpoints.mkdir(exist_ok=True)
                checkpoints.clean(self._checkpoints)
                self.metrics.truncate(update)
                for number in self.checkpoints():
                    if number > update:
                        checkpoints.remove(self._checkpoints / checkpoints.name_of(number))
                self._settle()
            except OSError as error:
                raise RunError(f"{self.path} cannot be written to: {error.strerror}.") from None

    def changed_fingerprints(self, since: Checkpoint) -> list[str]:
        """Names of what differs between the ``fingerprints`` of the run as it was opened and those of a checkpoint."""
        names = sorted(since.fingerprints.keys() | self.fingerprints.keys())
        same = {*self.fingerprints.items(), (EXPERIMENT, self._digest)}
        return [name for name in names if (name, since.fingerprints.get(name)) not in same]

    def _read(self, which: CheckpointName, for_training: bool) -> Checkpoint:
        beside = {name: digest for name, digest in self.fingerprints.items() if name.startswith("vocabulary/")}
        return checkpoints.read(self._checkpoints, which, beside, for_training)

    def _settle(self) -> None:
        """Let ``latest`` name the newest checkpoint, then remove all but the newest ``kept`` and those that stay."""
        present = self.checkpoints()
        if not present:
            return
        if _pointer(self.path / "latest") != present[-1]:
            files.replace_durably(self.path / "latest", f"step-{present[-1]}\n".encode())
        staying = {self.best(), 0 if self.keeps_start else None}
        for number in present[: -self.kept]:
            if number not in staying:
                checkpoints.remove(self._checkpoints / checkpoints.name_of(number))


class RunReplica(Run):
    """A run folder as a process sees it that trains along while another one writes.

    It reads like any run; what training writes is left to the process that holds the lock.
    """

    def __init__(self, *args: Any) -> None:
        """Use ``open``."""
        super().__init__(*args)
        self.metrics = _SilentLog(self.metrics.path)

    def lock(self) -> AbstractContextManager[None]:
        """Lock nothing: the process that writes holds the lock."""
        return nullcontext()

    def mark_best(self, which: CheckpointName) -> None:
        """Mark nothing: the process that writes does."""

    def write_card(self, scores: Mapping[str, float], report: Report = silent) -> None:
        """Write nothing: the process that writes does."""

    def rewind(self, update: int) -> None:
        """Remove nothing: the process that writes does."""


class _SilentLog(MetricsLog):
    def append(self, line: Mapping[str, Any]) -> None:
        """Write nothing: the process that writes does."""


def tokenizers_in(text: Any, path: Path, read: Callable[[Path, int], bytes] = files.read) -> dict[str, Tokenizer]:
    """Return the vocabularies of a run by side, by its [text] table; RunError names what is missing or damaged.

    ``read`` returns the bytes of a file in ``path``, up to so many.
    """
    kinds: dict[str, type[AnyTokenizer]] = {kind.tokenizer: kind for kind in get_args(AnyTokenizer)}
    try:
        config = kinds[text["tokenizer"]].from_table(text, path / EXPERIMENT, "a tokenizer")
    except (DamagedError, KeyError, TypeError):
        raise RunError(f"{path / EXPERIMENT} is damaged: it has no [text] table that can be read.") from None
    return tokenization.load(config, path / "vocabulary", read)


def _fingerprints(path: Path, experiment: Mapping[str, Any], data: Mapping[str, str] | None) -> dict[str, str]:
    of_data = {f"data/{part}": digest for part, digest in (data or {}).items()}
    return {EXPERIMENT: identity(experiment), **layout.vocabulary(path), **of_data}


def _in_order(path: Path, report: Report, act: Callable[[], None]) -> None:
    """Do what training can go on without; where it fails, warn."""
    try:
        act()
    except OSError as error:
        where = error.filename or path
        report(Note(f"{where} cannot be put in order: {error.strerror}. Checkpoints are whole.", warning=True))


def _pointer(path: Path) -> CheckpointName | None:
    """Return the checkpoint that a file of one line names, or None."""
    try:
        return checkpoints.parse_name(files.read(path).decode("ascii", "replace").strip())
    except DamagedError:
        return None


BOUNDS = ("epochs", "minutes", "patience", "threads", "device", "keep")
"""Options of [training]: its bounds, device and threads, and the number of kept checkpoints."""


def identity(experiment: Mapping[str, Any]) -> str:
    """Return a SHA-256 of an experiment's tables, whatever its bounds and however its file is laid out."""
    training = experiment.get("training")
    if isinstance(training, Mapping):
        bare = {name: value for name, value in training.items() if name not in BOUNDS}
        experiment = {**experiment, "training": bare}
    return sha256(json.dumps(experiment, sort_keys=True, default=str).encode())


def set_bounds(run: Run, experiment: Mapping[str, Any], since: Checkpoint | None) -> None:
    """Write the bounds of the tables ``experiment`` into ``experiment.toml``, which is the old or the new one.

    Where the checkpoint ``since`` is of a version that knew the file by its bytes, it stays as it is. Raises
    RunError when the folder is in use or cannot be written to.
    """
    if since is not None and since.fingerprints.get(EXPERIMENT) != run.fingerprints[EXPERIMENT]:
        return
    file = run.path / EXPERIMENT
    with run.lock():
        table = _with_bounds(files.parse_toml(files.read(file).decode("utf-8")), experiment)
        layout.store(file, tomli_w.dumps(table).encode())
    run.experiment = _with_bounds(run.experiment, experiment)


def _with_bounds(experiment: Mapping[str, Any], bounds: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of an experiment's tables with the bounds that the tables ``bounds`` have."""
    changed = {name: value for name, value in bounds["training"].items() if name in BOUNDS}
    return {**experiment, "training": {**experiment.get("training", {}), **changed}}
