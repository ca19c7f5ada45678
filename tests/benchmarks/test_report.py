"""What a report holds: every raw number, the spread, and what must not be overlooked."""

import json
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path

from anaphora.evaluation.bleu import Score
from benchmarks import records, report
from benchmarks.compare import Comparison
from benchmarks.machine import Machine
from benchmarks.time_to_bleu import Curve, Point, write
from benchmarks.work import Sample, Setting, Work

MACHINE = Machine("AMD EPYC 7B13 64-Core Processor", 2, "avx2", 24.0, 0.1, "torch 1.2.3")
SETTING = Setting(threads=2, seed=3)


def side(*rates: float) -> tuple[Sample, ...]:
    return tuple(Sample(rate, 1.0, {"tokens": 5.0}, 7.0) for rate in rates)


def nobody(setting: Setting) -> Sample:
    raise AssertionError("a report measures nothing")


def written(folder: Path, machine: Machine = MACHINE, bar: float = 2.5, disturbed: int = 0) -> str:
    parts: report.Parts = {"bf16": {"encoder": 0.2, "rest": 0.1}}
    work = Work("toy", "a toy", "tokens", "a slower toy", {"bf16": bar}, lambda: None, nobody, nobody)
    compared = [Comparison(work, "bf16", side(4.0, 6.0, 8.0), side(2.0, 2.0, 2.0), disturbed)]
    path = report.write(
        machine, SETTING, "9 passed", compared, parts, "make", change="packed once", folder=folder / "reports"
    )
    assert path.name.endswith("-toy-amd-epyc-7b13-avx2-2-cores.md")
    return path.read_text()


def test_a_report_gives_medians_with_their_spread_and_the_bar_and_the_raw_numbers_beside_it(tmp_path: Path) -> None:
    page = written(tmp_path)
    assert "| toy | bf16 | tokens | 6 (4..8) | 2 (2..2) | 3 (2..4) | 2.5 |" in page and "counts" not in page
    assert "| encoder | 200.0 | 67% |" in page
    [path] = tmp_path.rglob("*.jsonl")
    head, *runs, parts = [json.loads(line) for line in path.read_text().splitlines()]
    assert head["setting"] == {"threads": 2, "seed": 3, "quick": False, "precision": "fp32"}
    assert [(run["side"], run["round"]) for run in runs] == [(side, n) for side in ("ours", "peer") for n in (1, 2, 3)]
    assert [run["amount"] for run in runs] == [4.0, 6.0, 8.0, 2.0, 2.0, 2.0]
    assert parts == {"seconds_of_an_update_by_part": {"bf16": {"encoder": 0.2, "rest": 0.1}}}
    page = written(tmp_path, replace(MACHINE, load=3.0), bar=3.5, disturbed=2)
    for said in "3.5 (missed)", "no figure here counts", "other programs ran beside 2 of 3 rounds":
        assert said in page


def test_records_have_a_line_for_every_work_precision_and_report(tmp_path: Path) -> None:
    written(tmp_path)
    head = {
        "machine": {**asdict(MACHINE), "versions": "anaphora 0.1 (abc1234), torch 1"},
        "setting": {"threads": 1},
        "date": "2026-01-02",
    }
    run = {"work": "toy", "unit": "tokens", "amount": 6.0, "seconds": 2.0}
    lines = [head, {**run, "side": "ours"}, {**run, "side": "peer", "amount": 2.0}]
    (tmp_path / "reports" / "2026-01-02-old.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    machine = "AMD EPYC 7B13 64-Core Processor (avx2)"
    assert records.write(tmp_path / "reports").read_text().splitlines()[-2:] == [
        f"| 2026-01-02 | abc1234 | {machine}, 1 threads | toy | fp32 | 3 tokens | 3.00 | - |",
        f"| {date.today()} | - | {machine}, 2 threads | toy | bf16 | 6 tokens | 3.00 | packed once |",
    ]


def curve(name: str, *points: tuple[float, float]) -> Curve:
    scored = [(minutes, Score("BLEU", bleu, "sig", "moses-lowercase")) for minutes, bleu in points]
    return Curve(name, [Point(100 * number, *point) for number, point in enumerate(scored, 1)])


def test_the_first_point_with_a_score_counts_and_a_peer_without_it_gives_a_bound(tmp_path: Path) -> None:
    ours = curve("Anaphora, auto", (1, 25), (2, 31), (2.5, 29), (4, 36))
    peer = curve("JoeyNMT 2.3.0", (20, 12), (25, 30), (80, 34.9))
    page = write(MACHINE, SETTING, [ours, peer], "make bench", tmp_path).read_text(encoding="utf-8")
    assert "| Anaphora, auto | 2.0 (12.5) | 4.0 (over 20.0) | 4.0 | 400 | 36.00 |" in page
    assert "| JoeyNMT 2.3.0 | 25.0 | not in 80.0 | 80.0 | 300 | 34.90 |" in page
