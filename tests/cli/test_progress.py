from dataclasses import replace

import pytest

from anaphora.cli import progress
from anaphora.cli.progress import Pace, clock, listening, sentence
from anaphora.events import Event, LastingReport, Note, Progress, Skipped, Update, Validated


def update(number: int) -> Update:
    return Update(number, 1, number, 10, 3, loss=2.0, tokens=100, rate=0.1, gradient_norm=1.0, seconds=0.5)


def test_pace_is_tokens_over_seconds_and_time_left_counts_all_epochs() -> None:
    pace = Pace()
    for number in range(1, 5):
        pace.see(update(number))
    assert (pace.seconds_left, str(pace)) == ((6 + 20) * 0.5, "loss 2.000  200 tokens/s")
    for left, shown in (4.0, 4.0), (-1.0, 0.0):  # the time is up before the epochs are done
        pace.see(replace(update(5), seconds_left=left))
        assert pace.seconds_left == shown
    pace.see(replace(update(7), unit="texts"))
    assert str(pace) == "loss 2.000  200 texts/s"


@pytest.mark.parametrize(("seconds", "shown"), [(0, "0:00"), (59.6, "1:00"), (61, "1:01"), (3725, "1:02:05")])
def test_times_read_like_a_stopwatch(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (Note("Look."), "Look."),
        (Note("Look.", warning=True), "warning: Look."),
        (Skipped("pairs were left out", 1200), "1,200 pairs were left out"),
        (Skipped("pairs were left out", 0), ""),
        (Validated(7, 2, {"loss": 1.5}, True), "epoch 2, update 7: validation loss 1.5  (best so far)"),
        (Validated(7, 2, {}, False, 'Sample: "a"'), 'epoch 2, update 7: validation \n  Sample: "a"'),
        (update(1), ""),
    ],
)
def test_an_event_reads_as_a_sentence_or_is_silent(event: object, text: str) -> None:
    assert sentence(event) == text  # type: ignore[arg-type]


def test_without_a_terminal_lines_are_few_and_plain(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with listening() as report:
        for number in range(1, 10):
            report(update(number))
            report(Progress("encoding", number, 9, "lines"))
        report(Note("Done."))
    assert capsys.readouterr().err == "Done.\n"
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    with listening() as report:
        report(update(4))
        report(Progress("encoding", 1000, 0, "lines"))
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["epoch 1/3, update 4: loss 2.000  200 tokens/s  at most 0:13 left", "encoding: 1,000 lines"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("I/O operation on closed file.")])
def test_a_report_that_cannot_be_written_is_the_last_and_is_noted_once(error: Exception) -> None:
    seen: list[Event] = []

    def report(event: Event) -> None:
        seen.append(event)
        raise error

    lasting, noted = LastingReport(report), list[tuple[int, str]]()
    lasting(Note("before there is a run"))
    lasting.on_failure(lambda update, why: noted.append((update, why)))
    for number in 1, 2:
        lasting(update(number))
    assert len(seen) == 1 and noted == [(1, str(error))]
    error = ValueError("a bug")  # which is raised
    with pytest.raises(ValueError, match="a bug"):
        LastingReport(report)(Note("x"))
