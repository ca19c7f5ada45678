"""Time to BLEU: the report says when a training had a score, and how much longer the peer took, at least."""

from pathlib import Path

from anaphora.evaluation.bleu import Score
from benchmarks.machine import Machine
from benchmarks.time_to_bleu import Curve, Point, write
from benchmarks.work import Setting


def curve(name: str, *points: tuple[float, float]) -> Curve:
    scored = [(minutes, Score("BLEU", bleu, "sig", "moses-lowercase")) for minutes, bleu in points]
    return Curve(name, [Point(100 * number, *point) for number, point in enumerate(scored, 1)])


def test_the_first_point_with_a_score_counts_and_a_peer_without_it_gives_a_bound(tmp_path: Path) -> None:
    ours = curve("Anaphora, auto", (1, 25), (2, 31), (2.5, 29), (4, 36))
    peer = curve("JoeyNMT 2.3.0", (20, 12), (25, 30), (80, 34.9))
    machine = Machine("One", 2, "avx2", 8.0, 0.0, "versions")
    page = write(machine, Setting(1, 1), [ours, peer], "make bench", tmp_path).read_text(encoding="utf-8")
    assert "| Anaphora, auto | 2.0 (12.5) | 4.0 (over 20.0) | 4.0 | 400 | 36.00 |" in page
    assert "| JoeyNMT 2.3.0 | 25.0 | not in 80.0 | 80.0 | 300 | 34.90 |" in page
