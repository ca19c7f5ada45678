import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.run.card import render
from anaphora.run.logs import Evaluation, EvaluationLog, Metric, MetricsLog, newest


def evaluation(part: str, value: float | None = 38.1) -> Evaluation:
    figure = Metric("BLEU", value, "raw; nrefs:1|case:mixed")
    return Evaluation("2026-11-21T06:00:00+00:00", part, "step-40", "0.1.0", (figure,))


@given(st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.floats())))
def test_evaluations_come_back_as_added(
    tmp_path_factory: pytest.TempPathFactory, found: list[tuple[str, float]]
) -> None:
    log = EvaluationLog(tmp_path_factory.mktemp("log") / "evaluations.jsonl")
    for part, value in found:
        log.append(evaluation(part, value))
    expected = [evaluation(part, value if math.isfinite(value) else None) for part, value in found]
    assert log.lines() == expected


@given(st.integers(1, 60))
def test_half_a_line_swallows_no_other(tmp_path_factory, kept: int) -> None:  # type: ignore[no-untyped-def]
    log = EvaluationLog(tmp_path_factory.mktemp("log") / "evaluations.jsonl")
    log.append(evaluation("first"))
    whole = log.path.read_bytes()
    log.path.write_bytes(whole + whole[:kept])
    log.append(evaluation("second"))
    assert [line.split for line in log.lines()] == ["first", "second"]


def test_writers_that_add_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "evaluations.jsonl"
    names = [[f"{writer}-{number}" * 50 for number in range(200)] for writer in "abc"]

    def write(parts: list[str]) -> None:
        for part in parts:
            EvaluationLog(path).append(evaluation(part))

    with ThreadPoolExecutor() as pool:
        list(pool.map(write, names))
    assert sorted(line.split for line in EvaluationLog(path).lines()) == sorted(
        part for parts in names for part in parts
    )


def test_lines_of_older_versions_have_figures_that_are_not_finite_and_no_digest(tmp_path: Path) -> None:
    log = EvaluationLog(tmp_path / "evaluations.jsonl")
    log.append(evaluation("text", 1.5))
    text = log.path.read_text()
    for new, old in (("1.5", "Infinity"), ("metrics", "figures"), ("split", "part"), (', "digest": ""', "")):
        text = text.replace(new, old)
    log.path.write_text(text)
    [line] = log.lines()
    assert [figure.shown for figure in line.metrics] == ["not finite"] and log.damaged_lines() == []
    assert "digest" not in text and line.digest == ""


def test_two_texts_of_one_name_are_two_texts() -> None:
    one, other = (
        replace(evaluation("test.en", value), digest=digest) for value, digest in ((1.0, "ab" * 32), (2.0, "cd" * 32))
    )
    assert newest([one, other, replace(one, date="2026-11-22")]) == [other, replace(one, date="2026-11-22")]
    card = render("run", {}, {}, {}, [one, other])
    assert "| test.en (abababab) | BLEU | 1.0000 |" in card and "| test.en (cdcdcdcd) | BLEU | 2.0000 |" in card


def test_metrics_come_back_as_they_were_appended(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path / "metrics.jsonl")
    log.sync()
    log.truncate(3)
    assert log.lines() == []
    lines = [{"update": 1, "loss": 0.1 + 0.2}, {"update": 2, "reason": "größer\n als"}]
    for line in lines:
        log.append(line)
    with pytest.raises(ValueError, match="not JSON compliant"):
        log.append({"update": 1, "loss": float("nan")})
    assert log.lines() == lines


@settings(max_examples=40)
@given(st.lists(st.integers(0, 9)).map(sorted), st.integers(0, 9), st.binary(max_size=20))
def test_truncation_keeps_lines_to_an_update(tmp_path: Path, updates: list[int], last: int, half_a_line: bytes) -> None:
    log = MetricsLog(tmp_path / "metrics.jsonl")
    log.path.unlink(missing_ok=True)
    for update in updates:
        log.append({"update": update})
    with log.path.open("ab") as file:
        file.write(b"{" + half_a_line.replace(b"\n", b""))
    log.truncate(last)
    assert [line["update"] for line in log.lines()] == [update for update in updates if update <= last]
    log.append({"update": 10})
    assert log.lines()[-1] == {"update": 10}


@pytest.mark.parametrize("broken", [b"\0\0", b"{", b"7", b"\xff"])
def test_a_damaged_line_is_passed_over_and_named_and_those_behind_it_stay(tmp_path: Path, broken: bytes) -> None:
    log = MetricsLog(tmp_path / "metrics.jsonl")
    for update in range(1, 6):
        log.append({"update": update})
    lines = log.path.read_bytes().splitlines()
    log.path.write_bytes(b"\n".join([lines[0], broken, *lines[2:]]) + b"\n")
    assert log.damaged_lines() == [2]
    log.truncate(4)
    assert [line["update"] for line in log.lines()] == [1, 3, 4] and log.damaged_lines() == [2]
