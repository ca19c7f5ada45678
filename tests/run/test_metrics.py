from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anaphora.run.logs import MetricsLog


def test_lines_come_back_as_they_were_appended(tmp_path: Path) -> None:
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


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(st.integers(0, 9)).map(sorted), st.integers(0, 9), st.binary(max_size=20))
def test_truncation_keeps_exactly_the_whole_lines_up_to_an_update(
    tmp_path: Path, updates: list[int], last: int, half_a_line: bytes
) -> None:
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
