"""The trainings that a table still lacks, one after another; stopped at any moment, it goes on where it was."""

import json
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from anaphora.errors import DivergedError
from anaphora.events import Report
from anaphora.experiment.run_training import train
from anaphora.training.loop import Outcome, Stop, never
from benchmarks.reproduce.measure import Figures, measure
from benchmarks.reproduce.table import RUNS, Job, Table, jobs, text_folder

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Result:
    """What came of one training; a line of the results."""

    key: str
    system: str
    seed: int
    figures: Figures
    machine: str
    date: str


def results_of(path: Path) -> dict[str, Result]:
    """The results in a file of JSON lines, by key."""
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    return {result.key: result for result in (Result(**json.loads(line)) for line in lines)}


def work_off(
    name: str,
    table: Table,
    machine: str,
    say: Callable[[str], None],
    report: Report,
    *,
    stop: Stop = never,
    results: Path = RESULTS,
    runs: Path = RUNS,
    keep: bool = False,
) -> Mapping[str, Result]:
    """Train and measure what ``results/NAME.jsonl`` lacks, a line for each; returns all results of the table, by key.

    ``stop`` ends a training, and the next call resumes it. Run folders are removed when no training needs them,
    unless ``keep`` is true.
    """
    path = results / f"{name}.jsonl"
    done, wanted = results_of(path), list(jobs(table, runs))
    if any(job.key not in done for job in wanted):
        for text in table.texts:
            text.make(text_folder(text, runs))
    for number, job in enumerate(wanted, 1):
        if job.key in done:
            continue
        say(f"{name}, {number} of {len(wanted)}: {job.system.name}, seed {job.seed} ({job.key})")
        began = time.process_time()
        try:
            outcome = _trained(job, report, stop)
            if outcome is None:
                break
            figures: Figures = {"updates": outcome.update, "training seconds": round(outcome.seconds, 1)}
            if table.processor_time:
                figures["processor seconds"] = round(time.process_time() - began, 1)
            aligned = table.links or job.system.replace_unknown or job.system.candidates
            figures |= measure(job, report, runs / "aligners" if aligned else None)
        except DivergedError as error:  # it would do so again
            say(str(error))
            figures = {"diverged": 1}
        date = datetime.now(UTC).date().isoformat()
        done[job.key] = Result(job.key, job.system.name, job.seed, figures, machine, date)
        _append(path, done[job.key])
        still_needed = {run for other in wanted if keep or other.key not in done for run in _runs(other)}
        for run in _runs(job) - still_needed:
            shutil.rmtree(run, ignore_errors=True)  # of one that diverged there may be none
    return {job.key: done[job.key] for job in wanted if job.key in done}


def _trained(job: Job, report: Report, stop: Stop) -> Outcome | None:
    """How the training of a job ended, after that of those whose runs it needs; None if ``stop`` did."""
    if not all(_trained(needed, report, stop) for needed in job.needs):
        return None
    begun = (job.run / "latest").exists()
    if not begun:
        shutil.rmtree(job.run, ignore_errors=True)  # ended before there was anything to go on with
    outcome = train(job.experiment, job.run, report, resume=begun, stop=stop)
    return None if outcome.reason == "stopped" else outcome


def _runs(job: Job) -> set[Path]:
    """The runs that a job makes use of."""
    return {job.run}.union(*(_runs(needed) for needed in job.needs))


def _append(path: Path, result: Result) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as out:
        out.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")


def left(table: Table, results: Mapping[str, Result]) -> list[Job]:
    """What has no result yet."""
    return [job for job in jobs(table) if job.key not in results]
