"""Runs of any task are compared by every metric that they have in common."""

from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora.cli.compare import markdown
from anaphora.errors import ConfigError, DataError
from anaphora.events import Event, silent
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.tasks.comparison import Row, System, Table, compare_runs
from anaphora.tasks.evaluation import Request, Text

from .conftest import shown

Trained = Callable[..., Path]
ALIGNER = Path(__file__).parents[1] / "runs" / "kinds-1" / "aligner"
NEW = "line 7 of the book\nand more\n"


def compared(*runs: Path, text: str = "", **options: int) -> Table:
    lines = Text("new", text.splitlines()) if text else None
    return compare_runs(list(runs), Request(text=lines, keep=False), silent, samples=50, **options)


def test_seeds_of_one_experiment_are_one_system_and_the_first_run_is_the_baseline(trained: Trained) -> None:
    plain = trained("language-model", "training.epochs=1")
    seeds = [trained("language-model", f"training.seed={seed}") for seed in (2, 3)]
    table = compared(seeds[0], plain, seeds[1], text=NEW)
    first, second = (row for row in table.rows if row.metric == "bits per character")
    assert (first.system.runs, second.system.runs) == (tuple(seeds), (plain,))
    assert first.value == pytest.approx(sum(first.values) / 2) and first.deviation is not None
    assert first.against_first is None and second.against_first is not None
    assert second.against_first.difference == pytest.approx(second.value - first.value)
    single = compared(*seeds, text=NEW)
    assert {len(row.system.runs) for row in single.rows} == {1}
    assert "a run stands for one seed" in markdown(single)[-1]


def test_a_metric_that_runs_do_not_share_is_left_out_with_a_note(trained: Trained) -> None:
    words = trained("language-model", "text.tokenizer=word", "text.min_count=1")
    runs, events = [trained("language-model"), words], list[Event]()
    table = compare_runs(runs, Request(text=Text("new", ["line 7 of the book"]), keep=False), events.append, samples=10)
    assert {row.metric for row in table.rows} == {"bits per character", "bits per byte", "perplexity per word"}
    assert any("Left out" in str(event) and "perplexity" in str(event) for event in events)


def test_what_cannot_be_compared_is_one_clear_error(trained: Trained) -> None:
    run = trained("language-model")
    with pytest.raises(ConfigError, match="two runs or more"):
        compared(run)
    with pytest.raises(ConfigError, match="named twice"):
        compared(run, run.parent / "." / "run")
    with pytest.raises(ConfigError, match=r"is a language model and .* is an aligner"):
        compared(run, ALIGNER)


def test_runs_with_different_test_splits_need_a_text(
    trained: Trained, tmp_path: Path, tiny_language_model: Path, toy_book: Path
) -> None:
    toy_book.write_text(toy_book.read_text().replace("little", "large"))
    train(read_experiment(tiny_language_model.read_text(), "tiny.toml", data=[toy_book]), tmp_path / "other")
    first, second = trained("language-model"), tmp_path / "other"
    with pytest.raises(DataError, match="different test data"):
        compared(first, second)
    assert compared(first, second, text="line 3\n").rows


def test_the_table_is_markdown_with_a_row_for_every_run(trained_copy: Trained, tmp_path: Path) -> None:
    runs = [trained_copy("language-model", f"training.epochs={epochs}") for epochs in (1, 2, 3)]
    table = tmp_path / "table.md"
    shown("compare", *runs, "--samples", "20", "--output", table)
    heads, rule, *rows = [line for line in table.read_text().splitlines() if line.startswith("|")]
    assert set(rule) == {"|", "-"} and "p (randomisation)" in heads
    assert len({len(line) for line in (heads, rule, *rows)}) == 1
    perplexities = [row for row in rows if " perplexity (lower is better) " in row]
    assert len(perplexities) == 1 and sum(str(runs[2]) in row for row in rows) == len(rows) / 3


def test_all_values_of_a_metric_have_as_many_decimals() -> None:
    rows = (
        Row("test", "BLEU", "", "higher", System(name, (Path(name),)), (value,), None, None)
        for name, value in (("a", 100.0), ("b", 0.0), ("c", 0.25))
    )
    printed = markdown(Table(tuple(rows), 10, 1))
    assert [line.split("|")[4].strip() for line in printed[2:5]] == ["100.00", "0.00", "0.25"]
