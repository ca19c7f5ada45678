"""The trainings that a table still lacks, one after another; stopped at any moment, it goes on where it was."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from anaphora.events import Report
from anaphora.experiment.conduct import train
from anaphora.training.loop import Stop, never
from benchmarks.reproduce.measure import Figures, measure
from benchmarks.reproduce.table import Job, Table, jobs

RESULTS = Path(__file__).parent / "results"
RUNS = Path("runs") / "reproduce"


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
) -> Mapping[str, Result]:
    """Train and measure what ``results/NAME.jsonl`` lacks, a line for each; returns all results of the table, by key.

    A training that ``stop`` ends is gone on with the next time. Its run folder goes when its figures are written.
    """
    path = results / f"{name}.jsonl"
    done, wanted = results_of(path), list(jobs(table))
    for number, job in enumerate(wanted, 1):
        if job.key in done:
            continue
        say(f"{name}, {number} of {len(wanted)}: {job.system}, seed {job.seed} ({job.key})")
        run = runs / job.key
        begun = (run / "latest").exists()
        if not begun:
            shutil.rmtree(run, ignore_errors=True)  # ended before there was anything to go on with
        outcome = train(job.experiment, run, report, resume=begun, stop=stop)
        if outcome.reason == "stopped":
            break
        took: Figures = {"updates": outcome.update, "training seconds": round(outcome.seconds, 1)}
        date = datetime.now(UTC).date().isoformat()
        done[job.key] = Result(job.key, job.system, job.seed, took | measure(run, report), machine, date)
        _append(path, done[job.key])
        shutil.rmtree(run)
    return {job.key: done[job.key] for job in wanted if job.key in done}


def _append(path: Path, result: Result) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as out:
        out.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")


def left(table: Table, results: Mapping[str, Result]) -> list[Job]:
    """The trainings that have no result yet."""
    return [job for job in jobs(table) if job.key not in results]
