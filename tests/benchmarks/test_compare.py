"""What may stand in a report: what is proven, of sides that did the same, each in a process of its own."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from benchmarks import compare as comparing
from benchmarks import proofs
from benchmarks.compare import Comparison, UnequalError, check_equal, compare
from benchmarks.machine import OtherWork, this_machine
from benchmarks.work import Sample, Setting, Work

SETTING = Setting(threads=1, seed=1)


def fast(setting: Setting) -> Sample:
    return Sample(100.0, 2.0, {"tokens": 100.0}, float(os.getpid()))


def slow(setting: Setting) -> Sample:
    return Sample(100.0, 4.0, {"tokens": 100.5}, float(os.getpid()))


WORK = Work("toy", "a toy", "tokens", "a slower toy", {"fp32": 2.0, "bf16": 0.0}, lambda: None, fast, slow)


def test_every_run_is_a_process_of_its_own_and_sides_alternate() -> None:
    said: list[str] = []
    single, half = compare(WORK, replace(SETTING, quick=True), 2, said.append)
    processes = {run.peak_mib for run in (*single.ours, *half.ours, *single.theirs)}
    assert len(processes) == 6
    assert float(os.getpid()) not in processes
    assert single.theirs == half.theirs, "a peer without other precisions is run once a round"
    assert (single.precision, half.precision, single.ratio) == ("fp32", "bf16", 2.0)
    assert single.reached
    assert len([line for line in said if "times" in line]) == 4


def in_precision(setting: Setting) -> Sample:
    return Sample({"fp32": 2.0, "bf16": 8.0}[setting.precision], 1.0, {}, 1.0)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without new processes."""
    monkeypatch.setattr(comparing, "in_its_own_process", lambda side, setting: side(setting))


@pytest.mark.parametrize(("follows", "ratios"), [(False, [1.0, 4.0]), (True, [1.0, 1.0])])
def test_a_peer_computes_in_fp32_or_follows_our_side(here: None, follows: bool, ratios: list[float]) -> None:
    work = replace(WORK, ours=in_precision, theirs=in_precision, peer_follows=follows)
    assert [one.ratio for one in compare(work, SETTING, 1, lambda line: None)] == ratios


@pytest.mark.parametrize(("cores", "rounds", "disturbed"), [([1.0, 0.0], 2, 0), ([1.0] * 3, 3, 1)])
def test_a_round_beside_other_work_is_repeated(
    here: None, monkeypatch: pytest.MonkeyPatch, cores: list[float], rounds: int, disturbed: int
) -> None:
    seen: list[Setting] = []

    def ours(setting: Setting) -> Sample:
        seen.append(setting)
        return fast(setting)

    monkeypatch.setattr(OtherWork, "cores", lambda watch: cores.pop(0))
    found, _ = compare(replace(WORK, ours=ours), SETTING, 1, lambda line: None)
    assert len(seen) == 2 * rounds
    assert (len(found.ours), found.disturbed) == (1, disturbed)


def test_sides_that_did_different_work_have_no_ratio() -> None:
    with pytest.raises(UnequalError, match=r"agree in tokens within 1%, but ours has 100 and the peer 98"):
        check_equal(WORK, fast(SETTING), Sample(98.0, 4.0, {"tokens": 98.0}, 1.0))
    check_equal(WORK, fast(SETTING), slow(SETTING))


def test_the_ratio_is_the_median_of_neighbouring_runs_which_reaches_a_bar() -> None:
    ours, theirs = (
        tuple(Sample(rate, 1.0, {}, 1.0) for rate in rates) for rates in ((10.0, 20.0, 90.0), (10.0, 5.0, 30.0))
    )
    for bar, reached in (0.0, True), (3.0, True), (3.1, False):
        found = Comparison(replace(WORK, bars={"fp32": bar}), "fp32", ours, theirs)
        assert (found.ratios, found.ratio, found.reached) == ((1.0, 4.0, 3.0), 3.0, reached)


def test_a_proof_that_fails_stops_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs, "PROOFS", {"none": ("tests/kernels/no_such_test.py",)})
    with pytest.raises(proofs.UnprovenError, match="should be proven before they are timed"):
        proofs.prove("none")


@pytest.mark.skipif(not os.path.exists("/proc/stat"), reason="this system does not tell what its cores do")
def test_other_work_is_noticed_while_it_goes_on() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            machine = this_machine()
        finally:
            process.kill()
    assert machine.busy
    assert 0.5 < machine.load <= (os.cpu_count() or 1)
