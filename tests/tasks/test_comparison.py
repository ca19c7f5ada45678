"""Runs of any task are compared by every metric that they have in common."""

from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora.cli.app import main
from anaphora.cli.compare import markdown
from anaphora.errors import ConfigError, DataError
from anaphora.events import Event, silent
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.tasks.comparison import Row, System, Table, compare_runs
from anaphora.tasks.evaluation import Request, Text
from tests.faults.tasks import SAMPLES

Trains = Callable[..., Path]


@pytest.fixture
def run_of(tiny_language_model: Path, toy_book: Path, tmp_path: Path) -> Trains:
    """Trains a language model with settings into a folder of that name."""

    def trained(name: str, *settings: str, data: Path = toy_book) -> Path:
        text = tiny_language_model.read_text()
        train(read_experiment(text, "tiny.toml", list(settings), data=[data]), tmp_path / name)
        return tmp_path / name

    return trained


def compared(*runs: Path, text: str = "", **options: int) -> Table:
    lines = Text("new", text.splitlines()) if text else None
    return compare_runs(list(runs), Request(text=lines, keep=False), silent, samples=50, **options)


def test_seeds_of_one_experiment_are_one_system_and_the_first_run_is_the_baseline(run_of: Trains) -> None:
    plain = run_of("plain", "training.epochs=1")
    seeds = [run_of(f"seed-{seed}", f"training.seed={seed}") for seed in (2, 3)]
    table = compared(seeds[0], plain, seeds[1], text="line 7 of the book\nand more\n")
    first, second = (row for row in table.rows if row.metric == "bits per character")
    assert (first.system.runs, second.system.runs) == (tuple(seeds), (plain,))
    assert first.value == pytest.approx(sum(first.values) / 2) and first.deviation is not None
    assert first.against_first is None and second.against_first is not None
    assert second.against_first.difference == pytest.approx(second.value - first.value)
    alone = compared(*seeds, text="line 7 of the book\n")
    assert {len(row.system.runs) for row in alone.rows} == {1}


def test_a_metric_that_runs_do_not_share_is_left_out_with_a_note(run_of: Trains) -> None:
    runs, events = [run_of("characters"), run_of("words", "text.tokenizer=word", "text.min_count=1")], list[Event]()
    lines = Text("new", ["line 7 of the book"])
    table = compare_runs(runs, Request(text=lines, keep=False), events.append, samples=10)
    assert {row.metric for row in table.rows} == {"bits per character", "bits per byte", "perplexity per word"}
    assert any("Left out" in str(event) and "perplexity" in str(event) for event in events)


def test_what_cannot_be_compared_is_one_clear_error(run_of: Trains, tmp_path: Path, toy_pairs: Path) -> None:
    run = run_of("run")
    with pytest.raises(ConfigError, match="two runs or more"):
        compared(run)
    with pytest.raises(ConfigError, match="named twice"):
        compared(run, run.parent / "." / "run")
    sample = next(sample for sample in SAMPLES if sample.name == "align")
    sample.write(tmp_path / "aligner")
    other = tmp_path / "aligner" / "run"
    text = (tmp_path / "aligner" / "experiment.toml").read_text()
    train(read_experiment(text, "a.toml", data=[tmp_path / "aligner" / "data"], source="en", target="fr"), other)
    with pytest.raises(ConfigError, match=r"is a language model and .* is an aligner"):
        compared(run, other)


def test_runs_with_different_test_splits_need_a_text(run_of: Trains, tmp_path: Path, toy_book: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text(toy_book.read_text().replace("little", "large"))
    first, second = run_of("first"), run_of("second", data=other)
    with pytest.raises(DataError, match="different test data"):
        compared(first, second)
    assert compared(first, second, text="line 3\n").rows


def test_the_table_is_markdown_with_a_row_for_every_run(
    run_of: Trains, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [str(run_of(name, f"training.epochs={epochs}")) for name, epochs in (("a", 1), ("b", 2), ("c", 3))]
    table = tmp_path / "table.md"
    assert main(["compare", *runs, "--samples", "20", "--output", str(table)]) == 0
    heads, rule, *rows = [line for line in table.read_text().splitlines() if line.startswith("|")]
    assert set(rule) == {"|", "-"} and "p (randomisation)" in heads
    assert len({len(line) for line in (heads, rule, *rows)}) == 1
    perplexities = [row for row in rows if " perplexity (lower is better) " in row]
    assert len(perplexities) == 1 and sum(runs[2] in row for row in rows) == len(rows) / 3


def test_all_values_of_a_metric_have_as_many_decimals() -> None:
    rows = (
        Row("test", "BLEU", "", "higher", System(name, (Path(name),)), (value,), None, None)
        for name, value in (("a", 100.0), ("b", 0.0), ("c", 0.25))
    )
    printed = markdown(Table(tuple(rows), 10, 1))
    assert [line.split("|")[4].strip() for line in printed[2:5]] == ["100.00", "0.00", "0.25"]
