"""A smaller model trained on what larger ones answer (sequence-level distillation, Kim and Rush 2016), in three steps.

1. The pairs of the teachers' data are written to ``RUN-pairs/``, the training targets replaced by what they answer.
2. The student is trained on them, into ``RUN``.
3. Teachers and student are measured on the test split, or on the validation split if there is none.

Each step goes on where it was stopped. An answer does not depend on other lines, so a file of answers that was written
in parts has the same bytes as one that was not.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from anaphora.data.corpora import PairCorpus, Splits
from anaphora.errors import ConfigError, RunError
from anaphora.events import Event, Note, Progress, Report, silent
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.files import json_bytes, read_json, replace_durably, sha256
from anaphora.formats.lines import write_lines
from anaphora.run import Run
from anaphora.run.layout import EXPERIMENT
from anaphora.tasks.base import ExperimentBase, StartConfig
from anaphora.tasks.registry import task_of
from anaphora.tasks.runs import experiment_of
from anaphora.tasks.task import Distillation
from anaphora.training.loop import Outcome, Stop, never
from anaphora.wording import inflect

_ABOUT = "distillation.json"


class SystemMetrics(NamedTuple):
    """The metrics of one system."""

    name: str
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class DistillationResult:
    """Result of a distillation."""

    outcome: Outcome | None
    """Outcome of the training; None where it was stopped before."""
    split: str = ""
    """Name of the text that was measured."""
    systems: tuple[SystemMetrics, ...] = ()
    """Teachers and student; none where training was stopped."""


def distill(
    teachers: Sequence[Path],
    path: Path,
    report: Report = silent,
    *,
    beam: int = 5,
    settings: Sequence[str] = (),
    stop: Stop = never,
) -> DistillationResult:
    """Train a student of runs of one task into the run folder ``path``, or continue one that was begun there.

    ``settings`` change options of the student, whose defaults are those of its task (``Distillation.student``).
    ``stop`` is asked after every answer and update. Raises ConfigError for runs that cannot teach together and options
    that do not fit, RunError where ``path`` was begun with other teachers, and as ``train``.
    """
    experiment = experiment_of(teachers[0])
    teaching = _distillation(teachers, experiment)
    splits, pairs = teaching.splits(experiment, report), path.with_name(f"{path.name}-pairs")
    begun = (path / EXPERIMENT).exists()
    # what does not fit is refused before hours are spent on answers
    if begun:
        student = read_experiment(experiment_of(path).tables(), str(path / EXPERIMENT), settings, report=report)
    else:
        student = _student(teaching, teachers[0], pairs, settings, report)
    _begin(pairs, teachers, beam, splits.train.fingerprint)
    if not _write_pairs(pairs, splits, _Answers(teachers, beam, teaching.answers, report, stop)):
        return DistillationResult(None)
    outcome = train(student, path, report, resume=begun, stop=stop)
    if outcome.reason == "stopped":
        return DistillationResult(outcome)
    name, corpus = next(iter(splits.tests.items()), ("validation", splits.valid))
    report(Note(f"Measuring on {name} ..."))
    together = f"{inflect(len(teachers), 'teacher')} together" if teachers[1:] else "teacher"
    systems = (
        SystemMetrics(f"{together}, beam {beam}", teaching.measured(teachers, corpus, beam, report)),
        SystemMetrics(f"{together}, greedy", teaching.measured(teachers, corpus, 1, report)),
        SystemMetrics("student, greedy", teaching.measured([path], corpus, 1, report)),
    )
    return DistillationResult(outcome, name, systems)


def _distillation(teachers: Sequence[Path], experiment: ExperimentBase) -> Distillation:
    teaching = task_of(experiment).distillation
    if teaching is None:
        raise ConfigError(
            f"Translators can teach others, but {teachers[0]} is {task_of(experiment).noun}: name others."
        )
    source, target = experiment.data.languages.values()
    if source == target or "," in source + target:
        raise ConfigError(
            f"A student learns two languages, but {teachers[0]} translates {source} to {target}: name another run."
        )
    for other in teachers[1:]:
        languages = experiment_of(other).data.languages
        if languages != experiment.data.languages:
            raise ConfigError(f"Teachers translate the same languages, but {teachers[0]} and {other} do not.")
    return teaching


def _student(teaching: Distillation, run: Path, pairs: Path, settings: Sequence[str], report: Report) -> ExperimentBase:
    """Return the experiment of a student of ``run``, over the files that are going to be in ``pairs``."""
    teacher = experiment_of(run)
    table = teaching.student(teacher)
    kept = {option: table["data"][option] for option in ("max_length", "placeholders") if option in table["data"]}
    table["data"] = {**teacher.data.languages, **kept, "files": [str(pairs)]}
    table["training"] |= {"minutes": 0.0, "threads": 0}
    start = StartConfig(run=str(run.absolute()), vocabulary="only")
    return read_experiment(table, f"The student of {run}", settings, start=start, report=report)


def _begin(pairs: Path, teachers: Sequence[Path], beam: int, data: str) -> None:
    """Note in ``pairs`` whose answers are there; RunError where they are another's."""
    best = [Run.open(teacher).load("best").path for teacher in teachers]
    about = {
        "teachers": [str(teacher.absolute()) for teacher in teachers],
        "checkpoints": [sha256((path / "manifest.json").read_bytes()) for path in best],
        "beam": beam,
        "data": data,
    }
    file = pairs / _ABOUT
    if not file.exists():
        pairs.mkdir(parents=True, exist_ok=True)
        replace_durably(file, json_bytes(about))
        return
    was = read_json(file)
    changed = [name for name in about if was.get(name) != about[name]]
    if changed:
        raise RunError(
            f"{pairs} was begun with other {' and '.join(changed)}: continue with the same, remove the folder, or name "
            f"another run."
        )


class _Answers(NamedTuple):
    """Answers of teachers, and whether to go on."""

    teachers: Sequence[Path]
    beam: int
    answers: Callable[[Sequence[Path], Iterable[str], int, Report], Iterator[str]]
    report: Report
    stop: Stop

    def write(self, path: Path, corpus: PairCorpus) -> bool:
        """Write the answers for all sources, after those that are there; False where it was stopped."""
        part = path.with_name(f"{path.name}.part")
        with part.open("ab+") as file:
            file.seek(0)
            done = end = 0
            for line in file:
                if line.endswith(b"\n"):  # a killed process may have left half a line
                    done, end = done + 1, end + len(line)
            file.truncate(end)
            if done:
                self.report(Note(f"Continuing after {inflect(done, 'answer')} of {path.name}."))
            rest = islice(corpus.sources(), done, None)
            # no bar of the search, which does not know how many lines there are
            for answer in self.answers(self.teachers, rest, self.beam, lambda event: _notes(event, self.report)):
                file.write(answer.encode() + b"\n")
                file.flush()
                done += 1
                self.report(Progress("answer", done, corpus.count, "lines"))
                if self.stop() and done < corpus.count:
                    return False
            os.fsync(file.fileno())
        part.replace(path)
        return True


def _notes(event: Event, report: Report) -> None:
    if isinstance(event, Note):
        report(event)


def _write_pairs(pairs: Path, splits: Splits[PairCorpus], answers: _Answers) -> bool:
    """Write what is missing of the student's corpus; False where it was stopped."""
    languages = experiment_of(answers.teachers[0]).data.languages
    named = {"train": splits.train, "val": splits.valid}
    tests = {name.replace("/", "-"): corpus for name, corpus in splits.tests.items()}  # FOLDER/test2
    named |= {name if name.startswith("test") else f"test-{name}": corpus for name, corpus in tests.items()}
    for name, corpus in named.items():
        source, target = (pairs / f"{name}.{languages[side]}" for side in ("source", "target"))
        if not source.exists():
            write_lines(source, corpus.sources())
        if target.exists():
            continue
        if name != "train":
            write_lines(target, corpus.targets())
        elif not answers.write(target, corpus):
            return False
    return True
