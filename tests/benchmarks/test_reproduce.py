"""Systems compared like for like: what is trained, that nothing is trained twice, and what the tables say."""

import json
from pathlib import Path
from typing import Literal

import pytest

from anaphora.errors import ConfigError
from anaphora.events import silent
from benchmarks.reproduce import page, queue, table
from benchmarks.reproduce.queue import Result
from benchmarks.reproduce.table import Finding, System, Table


def small(folder: Path, **changes: object) -> Table:
    """Two language models of a few numbers on a few lines."""
    for part in ("train", "valid", "test"):
        (folder / f"{part}.txt").write_text("a b c d a b c d\n" * 30, encoding="utf-8")
    settings = (f'data.files=["{folder}"]', "training.epochs=1", "recurrence.size=8", "embedding.size=8")
    systems = (
        System(name="gru", recipe="character-lm", settings=("recurrence.cell=gru",)),
        System(name="elman", recipe="character-lm", settings=("recurrence.cell=elman",)),
    )
    return Table(title="Units", seeds=(1, 2), settings=settings, systems=systems).model_copy(update=changes)


def test_every_training_of_a_table_has_a_key_of_its_own_that_stays(tmp_path: Path) -> None:
    keys = [job.key for job in table.jobs(small(tmp_path))]
    assert len(set(keys)) == 4
    assert keys == [job.key for job in table.jobs(small(tmp_path))]


def test_what_has_a_result_is_not_trained_again_and_what_was_stopped_is_gone_on_with(tmp_path: Path) -> None:
    one, said = small(tmp_path), list[str]()

    def work_off(stop_after: int = 10**9) -> int:
        asked = iter(range(10**9))
        found = queue.work_off(
            "units",
            one,
            "a machine",
            said.append,
            silent,
            stop=lambda: next(asked) >= stop_after,
            results=tmp_path / "results",
            runs=tmp_path / "runs",
        )
        return len(found)

    first = work_off(stop_after=3)
    assert first < 4 and len(list((tmp_path / "runs").iterdir())) == 1
    assert work_off() == 4 and len(queue.left(one, queue.results_of(tmp_path / "results" / "units.jsonl"))) == 0
    begun = len(said)
    assert work_off() == 4 and len(said) == begun
    assert not list((tmp_path / "runs").iterdir())
    lines = [json.loads(line) for line in (tmp_path / "results" / "units.jsonl").read_text().splitlines()]
    assert [(line["system"], line["seed"]) for line in lines] == [("gru", 1), ("elman", 1), ("gru", 2), ("elman", 2)]
    assert all(line["figures"]["perplexity"] > 1 and line["figures"]["updates"] > 0 for line in lines)


def result(system: str, seed: int, bleu: float) -> Result:
    return Result(
        f"{system}{seed}", system, seed, {"bleu": bleu, "bleu, source 1-10 words": bleu + 1}, "a machine", "2020-02-02"
    )


@pytest.mark.parametrize(
    ("wanted", "others", "verdict"),
    [
        ("higher", (30.0, 29.0), "yes"),
        ("lower", (30.0, 29.0), "no"),
        ("higher", (32.0, 33.0), "no"),
        ("higher", (30.0, 33.0), "by some seeds only"),
        ("higher", (30.0,), "open"),
        ("same", (31.5, 32.5), "yes"),
        ("same", (33.0, 34.0), "no"),
    ],
)
def test_a_finding_holds_if_every_seed_says_so_or_if_seeds_differ_as_much(
    wanted: Literal["higher", "lower", "same"], others: tuple[float, ...], verdict: str, tmp_path: Path
) -> None:
    finding = Finding(claim="gates help", system="gru", beside="elman", wanted=wanted)
    results = [result("gru", 1, 31.0), result("gru", 2, 32.0)]
    results += [result("elman", seed, bleu) for seed, bleu in enumerate(others, 1)]
    written = page.page(small(tmp_path, findings=(finding,)), results)
    assert written.splitlines()[-1].endswith(f"| {verdict} |")
    assert "| gru | 2 | 31.5 ± 0.7 |" in written and "| source 1-10 words |" in written


def test_a_finding_about_a_system_that_is_not_there_is_refused(tmp_path: Path) -> None:
    tables = small(tmp_path).model_dump() | {"findings": [{"claim": "x", "system": "gru", "beside": "elmen"}]}
    with pytest.raises(ConfigError, match="Did you mean 'elman'"):
        Table.parse(tables, "here")


def test_an_unknown_table_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="table"):
        table.read("no-such-table")


@pytest.mark.parametrize("name", table.names())
def test_every_table_that_comes_along_can_be_read(name: str) -> None:
    assert list(table.jobs(table.read(name)))
