"""What a report holds: every raw number, the spread, and what must not be overlooked."""

import json
from dataclasses import replace
from pathlib import Path

from benchmarks import report
from benchmarks.compare import Comparison
from benchmarks.machine import Machine
from benchmarks.work import Sample, Setting, Work

MACHINE = Machine("AMD EPYC 7B13 64-Core Processor", 2, "avx2", 24.0, 0.1, "torch 1.2.3")
SETTING = Setting(threads=2, seed=3)


def side(*rates: float) -> tuple[Sample, ...]:
    return tuple(Sample(rate, 1.0, {"tokens": 5.0}, 7.0) for rate in rates)


def nobody(setting: Setting) -> Sample:
    raise AssertionError("a report measures nothing")


def comparison(bar: float) -> Comparison:
    work = Work("toy", "a toy", "tokens", "a slower toy", bar, lambda: None, nobody, nobody)
    return Comparison(work, side(4.0, 6.0, 8.0), side(2.0, 2.0, 2.0))


def written(folder: Path, machine: Machine = MACHINE, bar: float = 2.5) -> str:
    path = report.write(machine, SETTING, "9 passed", [comparison(bar)], {"encoder": 0.2, "rest": 0.1}, "make", folder)
    assert path.name.endswith("-toy-amd-epyc-7b13-avx2-2-cores.md")
    return path.read_text()


def test_a_report_gives_medians_with_their_spread_and_the_bar(tmp_path: Path) -> None:
    assert "| toy | tokens | 6 (4..8) | 2 (2..2) | 3 (2..4) | 2.5 |" in written(tmp_path)
    assert "| encoder | 200.0 | 67% |" in written(tmp_path)


def test_a_missed_bar_and_a_busy_machine_are_said(tmp_path: Path) -> None:
    page = written(tmp_path, replace(MACHINE, load=3.0), bar=3.5)
    assert "3.5 (missed)" in page
    assert "no figure here counts" in page
    assert "counts" not in written(tmp_path)


def test_the_raw_numbers_of_every_run_lie_beside_the_report(tmp_path: Path) -> None:
    written(tmp_path)
    (path,) = tmp_path.glob("*.jsonl")
    head, *runs, parts = [json.loads(line) for line in path.read_text().splitlines()]
    assert head["setting"] == {"threads": 2, "seed": 3, "quick": False}
    assert [(run["side"], run["round"], run["amount"]) for run in runs] == [
        ("ours", 1, 4.0), ("ours", 2, 6.0), ("ours", 3, 8.0), ("peer", 1, 2.0), ("peer", 2, 2.0), ("peer", 3, 2.0)
    ]  # fmt: skip
    assert parts == {"seconds_of_an_update_by_part": {"encoder": 0.2, "rest": 0.1}}
