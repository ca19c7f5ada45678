from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from anaphora.run.evaluations import Evaluation, EvaluationLog, Figure


def evaluation(part: str, value: float = 38.1) -> Evaluation:
    figure = Figure("BLEU", value, "raw; nrefs:1|case:mixed")
    return Evaluation("2026-11-21T06:00:00+00:00", part, "step-40", "0.1.0", (figure,))


@given(st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.floats(allow_nan=False))))
def test_evaluations_come_back_as_they_were_added(tmp_path_factory, found: list[tuple[str, float]]) -> None:  # type: ignore[no-untyped-def]
    log = EvaluationLog(tmp_path_factory.mktemp("log") / "evaluations.jsonl")
    for part, value in found:
        log.append(evaluation(part, value))
    assert log.lines() == [evaluation(part, value) for part, value in found]


@given(st.integers(1, 60))
def test_half_a_line_swallows_no_other(tmp_path_factory, kept: int) -> None:  # type: ignore[no-untyped-def]
    log = EvaluationLog(tmp_path_factory.mktemp("log") / "evaluations.jsonl")
    log.append(evaluation("first"))
    whole = log.path.read_bytes()
    log.path.write_bytes(whole + whole[:kept])
    log.append(evaluation("second"))
    assert [line.part for line in log.lines()] == ["first", "second"]


def test_writers_that_add_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "evaluations.jsonl"
    names = [[f"{writer}-{number}" * 50 for number in range(200)] for writer in "abc"]

    def write(parts: list[str]) -> None:
        for part in parts:
            EvaluationLog(path).append(evaluation(part))

    with ThreadPoolExecutor() as pool:
        list(pool.map(write, names))
    assert sorted(line.part for line in EvaluationLog(path).lines()) == sorted(
        part for parts in names for part in parts
    )


def test_a_run_never_scored_has_no_evaluations(tmp_path: Path) -> None:
    assert EvaluationLog(tmp_path / "evaluations.jsonl").lines() == []
