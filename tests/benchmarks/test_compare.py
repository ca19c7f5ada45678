"""What may stand in a report: only sides that did the same, each in a process of its own."""

import os
from dataclasses import replace

import pytest

from benchmarks.compare import Comparison, UnequalError, check_equal, compare
from benchmarks.work import Sample, Setting, Work

SETTING = Setting(threads=1, seed=1)


def fast(setting: Setting) -> Sample:
    return Sample(100.0, 2.0, {"tokens": 100.0}, float(os.getpid()))


def slow(setting: Setting) -> Sample:
    return Sample(100.0, 4.0, {"tokens": 100.5}, float(os.getpid()))


def short(setting: Setting) -> Sample:
    return Sample(98.0, 4.0, {"tokens": 98.0}, 1.0)


def nothing() -> None:
    pass


WORK = Work("toy", "a toy", "tokens", "a slower toy", 2.0, nothing, fast, slow)


def sample(rate: float) -> Sample:
    return Sample(rate, 1.0, {}, 1.0)


@pytest.mark.slow
def test_every_run_is_a_process_of_its_own_and_sides_alternate() -> None:
    said: list[str] = []
    found = compare(WORK, SETTING, 2, said.append)
    processes = {run.peak_mib for run in (*found.ours, *found.theirs)}
    assert len(processes) == 4
    assert float(os.getpid()) not in processes
    assert found.ratio == 2.0
    assert found.reached
    assert len(said) == 2


def test_sides_that_did_different_work_have_no_ratio() -> None:
    with pytest.raises(UnequalError, match=r"agree in tokens within 1%, but ours has 100 and the peer 98"):
        check_equal(WORK, fast(SETTING), short(SETTING))
    check_equal(WORK, fast(SETTING), slow(SETTING))


def test_the_ratio_is_the_median_of_neighbouring_runs_and_not_the_ratio_of_the_medians() -> None:
    ours, theirs = map(sample, (10.0, 20.0, 90.0)), map(sample, (10.0, 5.0, 30.0))
    found = Comparison(WORK, tuple(ours), tuple(theirs))
    assert found.ratios == (1.0, 4.0, 3.0)
    assert found.ratio == 3.0


@pytest.mark.parametrize(("bar", "reached"), [(0.0, True), (1.5, True), (1.6, False)])
def test_a_bar_is_reached_by_the_median(bar: float, reached: bool) -> None:
    assert Comparison(replace(WORK, bar=bar), (sample(3.0),), (sample(2.0),)).reached == reached
