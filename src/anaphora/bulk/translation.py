"""A long text translated by several processes: the same bytes as one would write, wherever any of them is killed."""

import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from anaphora.bulk.dispatch import Dispatcher, Engine
from anaphora.bulk.engines import LocalProcesses, RayActors
from anaphora.bulk.folder import Identity, ShardFolder, TranslationResult
from anaphora.bulk.shard import LINES, NONE, shards
from anaphora.bulk.worker import Load, Refuse, Translate
from anaphora.errors import AnaphoraError, RunError
from anaphora.events import Note, Report, silent
from anaphora.files import read, sha256
from anaphora.formats.lines import write_lines
from anaphora.kernels.backends import InferencePrecision
from anaphora.kernels.compiled.library import ROUNDING, available
from anaphora.kernels.device import Device
from anaphora.prediction.candidates import Candidates, Shortlist
from anaphora.prediction.options import SearchOptions
from anaphora.prediction.runtime import use_threads
from anaphora.run import Run, manifest, shortlists
from anaphora.run.layout import FolderLock
from anaphora.search.ensemble import Mean
from anaphora.version import VERSION

EngineName = Literal["local", "ray"]
"""Place of workers: processes of this machine, or actors of a Ray cluster."""


@dataclass(frozen=True)
class LoadTranslator:
    """Loads runs as one translator, in every worker alike."""

    runs: tuple[Path, ...]
    options: SearchOptions
    split: bool = True
    mean: Mean = "arithmetic"
    fusion: tuple[Path, float] | None = None
    to: str = ""
    source: str = ""
    """Languages, of runs of several."""
    device: Device = "cpu"
    precision: InferencePrecision = "fp32"
    threads: int = 1
    """CPU threads of a worker."""
    model: str = ""
    """Value of ``model_digest`` when the work began."""

    def __call__(self) -> Translate:
        """Load them; RunError where they would not translate as when the work began, and as ``load_together``."""
        from anaphora.tasks.translation.predictor import load_together

        use_threads(self.threads)
        how: Any = {name: getattr(self, name) for name in ("to", "source", "device", "precision")}
        translator = load_together(self.runs, self.mean, self.fusion, **how)
        if self.model_digest() != self.model:
            raise RunError(
                f"{self.runs[0]} or another run has another best checkpoint than when the work began, or "
                f"{platform.node()} has another version of Anaphora or of its kernels: train no run that translates, "
                f"or copy it first, and install the same on all machines."
            )

        def translate(lines: Sequence[str], first: int, refuse: Refuse) -> list[str]:
            def refuse_line(number: int, error: AnaphoraError) -> None:
                refuse(number, str(error))

            found = translator.stream(lines, self.options, split=self.split, refused=refuse_line, first=first)
            return [translation.text for translation in found]

        return translate

    def model_digest(self, report: Report = silent) -> str:
        """Return a SHA-256 of the best checkpoints with all that they belong to, how combined, and by what computed."""
        models = [_digest(run, report) for run in (*self.runs, *([self.fusion[0]] if self.fusion else []))]
        combined = self.mean, self.fusion and self.fusion[1], self.device, self.precision
        computed = VERSION, ROUNDING if available() else 0
        return sha256(json.dumps([models, combined, computed]).encode())

    def options_digest(self) -> str:
        """Return a SHA-256 of the search options, and of every dictionary, shortlist and glossary in them."""
        asked = self.options._asdict()
        assert asked.pop("adaptation") is None
        if terms := asked["terms"]:
            asked["terms"] = [entry[1:] for entry in terms.entries]  # wherever they stood
        match asked["candidates"]:
            case Candidates() as own:
                asked["candidates"] = sorted(own.translations.items()), own.frequent, own.each
            case Shortlist() as own:
                asked["candidates"] = shortlists.digest(self.runs[0]), own.frequent, own.each
        if self.options.replace_unknown is not None:
            asked["replace_unknown"] = sorted(self.options.replace_unknown.items())
        languages = [self.to, self.source] if self.to or self.source else []
        return sha256(repr([asked, self.split, *languages]).encode())


def _digest(path: Path, report: Report) -> list[object]:
    """Return a digest of the best checkpoint of a run, by its manifest, and of the files beside it."""
    run = Run.open(path)
    checkpoint = run.load("best", report)
    return [sha256(read(checkpoint.path / manifest.NAME)), sorted(run.fingerprints.items())]


def threads_each(workers: int, engine: EngineName = "local") -> int:
    """CPU threads of a worker where nobody says how many: the cores that this process may use, divided; 1 elsewhere."""
    return max(1, len(os.sched_getaffinity(0)) // workers) if engine == "local" else 1


def translate_lines(
    lines: Iterable[str],
    output: Path,
    load: LoadTranslator,
    workers: int,
    *,
    shard_lines: int = LINES,
    engine: EngineName = "local",
    report: Report = silent,
    unreadable: Mapping[int, str] = NONE,
) -> TranslationResult:
    """Translate lines into a file, one each in their order, by ``workers`` processes that each load the runs.

    Shards of so many lines at most are kept in a folder beside the output, named as it with ``.shards``, until all are
    done: whatever was killed, the same call again translates the rest, and the bytes are those of an undisturbed one.
    Lines that are refused, that fail or that kill workers stay empty and are listed in a file, named as the output with
    ``.refused.tsv``: number, tab, reason. So are those that ``unreadable`` has a reason for, by number from 1, once
    they have come (``read_lines(path, refuse=..)``).

    Raises RunError where the folder has shards of another model, of other options or of another text, or where a run is
    none; DataError where the disk will not take a shard, or a shard has many unreadable lines; ReportedError for the
    user's error of a worker; MissingExtraError for ``ray`` where it is not installed.
    """
    model = load.model_digest(report)
    load = replace(load, model=model, runs=tuple(run.absolute() for run in load.runs))
    identity = Identity(model, load.options_digest(), shard_lines)
    return translate_with(load, lines, output, identity, workers, report, engine, load.threads, unreadable)


def translate_with(
    load: Load,
    lines: Iterable[str],
    output: Path,
    identity: Identity,
    workers: int,
    report: Report = silent,
    engine: EngineName = "local",
    threads: int = 1,
    unreadable: Mapping[int, str] = NONE,
) -> TranslationResult:
    """Return the same with any translator that can be loaded, whose ``identity`` says when shards are not its own.

    ``threads`` is how many CPUs a worker takes in a cluster.
    """
    folder = ShardFolder(output.with_name(f"{output.name}.shards").absolute(), identity)
    hired: Engine[Any] = LocalProcesses(load, folder)
    if engine == "ray":
        hired = RayActors(load, folder, workers, threads, report)
    folder.make()
    with FolderLock(folder.path, "translates into it", "another output").hold():
        folder.claim()
        with _report_kept(folder, report):
            with hired:
                divided = shards(lines, identity.lines, unreadable=unreadable)
                count = Dispatcher(hired, workers, folder, report).translate(divided)
            translated = folder.join(count, output)
            listed = output.with_name(f"{output.name}.refused.tsv")
            listed.unlink(missing_ok=True)
            if translated.refused:
                reasons = ((line, " ".join(reason.split())) for line, reason in translated.refused)
                write_lines(listed, (f"{line}\t{reason}" for line, reason in reasons))
        folder.remove()
    return translated


@contextmanager
def _report_kept(folder: ShardFolder, report: Report) -> Iterator[None]:
    """Report where finished shards are when the work ends early, and remove a folder without any."""
    try:
        yield
    except BaseException:
        if folder.has_shards():
            kept = f"The finished shards are kept in {folder.path}: give the same command again to continue."
            report(Note(kept, warning=True))
        else:
            folder.remove()
        raise
