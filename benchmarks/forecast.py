"""Error of the forecasts of ``anaphora check``: ``python -m benchmarks.forecast NAME=FOLDER:SOURCE-TARGET ..``.

For each folder of pairs (``train.*`` and ``val.*``) what the data chooses is forecast with ``--times`` as much time as
its full training takes: by subsets of all pairs, and as twice the data by subsets of a half. The truth is that
training, or scores given with ``--truth NAME=METRIC:SCORE``. Subsets are sized by their examples, not by a clock, so
the table is the same on a busy machine. A line of JSON for each forecast is added to the file ``--output``.
"""

import argparse
import json
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

from anaphora.datacheck.forecast import Expected, SubsetTraining, expect
from anaphora.events import Report, silent
from anaphora.experiment.auto import automatic
from anaphora.experiment.check import subset_sizes, train_subset
from anaphora.experiment.reading import read_experiment
from anaphora.tasks.registry import task_of

METRICS = ("BLEU", "chrF2")


class Row(NamedTuple):
    """A forecast beside the truth."""

    name: str
    pairs: int
    """The number that is forecast."""
    data: str
    """The pairs that the forecast is made with: "all" or "half"."""
    times: float
    """Time of the forecast, as a multiple of that of a full training."""
    metric: str
    expected: Expected
    truth: float

    def __str__(self) -> str:
        value, low, high = self.expected
        inside = "yes" if low <= self.truth <= high else "no"
        numbers = f"{value:.1f} | {low:.1f} to {high:.1f} | {self.truth:.1f} | {value - self.truth:+.1f} | {inside}"
        return f"| {self.name} | {self.pairs:,} | {self.data} | {self.times:g} | {self.metric} | {numbers} |"


def measure(
    name: str, folder: Path, languages: tuple[str, str], times: list[float], truth: dict[str, float], report: Report
) -> list[Row]:
    """Return the forecasts of a folder of pairs; ``truth`` has the scores of its full training, if they are known."""
    source, target = languages
    with tempfile.TemporaryDirectory() as copied:  # without a test split, so that validation pairs are scored
        for path in (*folder.glob("train.*"), *folder.glob("val*.*")):
            (Path(copied) / path.name).write_bytes(path.read_bytes())
        text, data = automatic([Path(copied)], source, target), [Path(copied)]
        experiment = read_experiment(text, "auto", ["training.threads=1"], data=data, source=source, target=target)
        splits = task_of(experiment).job(experiment, silent).splits

        @cache
        def trained(examples: int) -> SubsetTraining:
            began = time.process_time()
            found = train_subset(experiment, splits, "pair", examples, report)
            scores = {metric: round(found.metrics[metric].value, 2) for metric in METRICS}
            print(f"{name}, {examples:,} pairs: {scores}, {time.process_time() - began:.0f} s", flush=True)
            return found

        count, rows = splits.train.count, list[Row]()
        for share in times:
            for data_used, part in (("all", count), ("half", count // 2)):
                trainings = [trained(size) for size in subset_sizes(part, share * count / part)]
                if not truth:
                    full = trained(count)
                    truth = {metric: full.metrics[metric].value for metric in METRICS}
                for metric in METRICS:
                    expected = expect(trainings, metric, count)
                    rows.append(Row(name, count, data_used, share, metric, expected, truth[metric]))
                    print(rows[-1], flush=True)
        return rows


def main() -> None:
    """Measure the sets that the command line names, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.forecast", description=__doc__)
    parser.add_argument("sets", nargs="+", metavar="NAME=FOLDER:SOURCE-TARGET")
    parser.add_argument("--times", nargs="+", type=float, default=[2.0, 1.0, 0.5])
    parser.add_argument("--truth", nargs="*", default=[], metavar="NAME=METRIC:SCORE")
    parser.add_argument("--output", type=Path, default=Path("forecast.jsonl"))
    options = parser.parse_args()
    known = [(one.partition("=")[0], *one.partition("=")[2].split(":")) for one in options.truth]
    rows = list[Row]()
    for one in options.sets:
        name, _, place = one.partition("=")
        folder, _, languages = place.rpartition(":")
        source, target = languages.split("-")
        truth = {metric: float(score) for of, metric, score in known if of == name}
        found = measure(name, Path(folder), (source, target), options.times, truth, silent)
        with options.output.open("a") as stream:
            stream.writelines(json.dumps(row._asdict() | {"expected": row.expected._asdict()}) + "\n" for row in found)
        rows += found
    print("\n| set | pairs | made with | time | metric | expected | interval | truth | error | inside |")
    print("| --- | --: | --- | --: | --- | --: | --- | --: | --: | --- |", *rows, sep="\n")


if __name__ == "__main__":
    main()
