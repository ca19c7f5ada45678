import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.run.card import render
from anaphora.run.logs import Evaluation, EvaluationLog, Metric, newest


def evaluation(part: str, value: float | None = 38.1) -> Evaluation:
    figure = Metric("BLEU", value, "raw; nrefs:1|case:mixed")
    return Evaluation("2026-11-21T06:00:00+00:00", part, "step-40", "0.1.0", (figure,))


@given(st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.floats())))
def test_evaluations_come_back_as_they_were_added_but_for_what_is_not_finite(
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
