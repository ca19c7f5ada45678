"""Options and files that ask for more memory than there is are refused before it is taken."""

import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import tomli_w
import torch
from annotated_types import Le, Lt
from pydantic import BaseModel

from anaphora.errors import ConfigError, RunError
from anaphora.experiment import memory, run_training
from anaphora.experiment.reading import read_experiment
from anaphora.run import Run
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.registry import TASKS, tasks_named
from anaphora.tasks.runs import load_trained

GIB = 1 << 30


def taken() -> int:
    """Bytes that this process has taken at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize(
    ("kind", "setting", "key"),
    [
        ("translator", "encoder.size=65536", "encoder.size = 65536"),
        ("language_model", "embedding.size=65000", "embedding.size = 65000"),
    ],
)
def test_a_network_that_takes_more_than_is_free_is_refused_before_it_is_made(
    kind: str, setting: str, key: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small: ExperimentBase = request.getfixturevalue(kind)
    monkeypatch.setattr(memory, "free_bytes", lambda device: GIB // 100)
    experiment = read_experiment(tomli_w.dumps(small.tables()), "mine.toml", settings=[setting])
    before = taken()
    with pytest.raises(ConfigError, match=r"estimated to take .* GiB .* but 0\.0 GiB are free: lower") as refused:
        run_training.train(experiment, tmp_path / "run")
    assert key in str(refused.value)
    assert taken() - before < GIB / 2 and not (tmp_path / "run").exists()


def test_a_batch_of_more_than_is_free_is_refused_unless_the_text_is_shorter(
    translator: ExperimentBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = read_experiment(
        tomli_w.dumps(translator.tables()),
        "mine.toml",
        settings=["training.batch_tokens=50000000", "training.epochs=1"],
    )
    run_training.train(wide, tmp_path / "run")
    model = torch.nn.Linear(100, 100)
    with pytest.raises(ConfigError, match=r"GiB for a batch of 40,000,000 tokens.*lower training.batch_tokens = 5"):
        memory.check_memory(model, wide, [50], 40, 40_000_000)


@pytest.mark.parametrize("setting", ["encoder.size=65537", "encoder.layers=65", "embedding.size=1000000000000"])
def test_sizes_and_layers_have_upper_bounds(translator: ExperimentBase, setting: str) -> None:
    with pytest.raises(ConfigError, match=f"mine.toml: {setting.partition('=')[0]} should be at most"):
        read_experiment(tomli_w.dumps(translator.tables()), "mine.toml", settings=[setting])


def tables_within(table: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """A table of options, and all that may be in it."""
    yield table
    waiting: list[Any] = [field.annotation for field in table.model_fields.values()]
    while waiting:
        annotation = waiting.pop()
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield from tables_within(annotation)
        waiting.extend(get_args(annotation))


TIMES_AND_TRIES = {
    *("epochs", "patience", "validate_every", "save_every", "keep", "skip_limit", "divergence_retries", "seed"),
    *("interval", "from_epoch", "warmup", "after", "updates", "model1_iterations", "hmm_iterations"),
    *("min_count", "max_word_pairs"),  # which leave something out
}
"""Whole numbers that take no memory, however large."""


@pytest.mark.parametrize("name", TASKS)
def test_every_whole_number_that_sizes_something_has_an_upper_bound(name: str) -> None:
    tables = {table for task in tasks_named(name) for table in tables_within(task.experiment)}
    unbounded = {
        f"{table.__name__}.{option}"
        for table in tables
        for option, field in table.model_fields.items()
        if field.annotation is int and option not in TIMES_AND_TRIES
        if not any(isinstance(one, Le | Lt) for one in field.metadata)
    }
    assert not unbounded and len(tables) > 5


def test_loading_takes_memory_for_the_weights_that_are_there_alone(translator: ExperimentBase, tmp_path: Path) -> None:
    run_training.train(translator, tmp_path / "run")
    toml = tmp_path / "run" / "experiment.toml"
    table = translator.tables()
    for part in ("embedding", "encoder", "decoder"):
        table[part]["size"] = 60_000
    toml.write_text(tomli_w.dumps(table))
    before = taken()
    with pytest.raises(RunError, match=r"model.safetensors: .* should be .* but is"):
        load_trained(tmp_path / "run")
    assert taken() - before < GIB / 2


@pytest.mark.parametrize("name", ["experiment.toml", "best", "vocabulary/vocabulary.json", "vocabulary/joint"])
@pytest.mark.parametrize("size", [2**21, 2**40])
def test_a_file_of_a_run_that_grew_is_never_taken_into_memory(
    translator: ExperimentBase, tmp_path: Path, name: str, size: int
) -> None:
    path = tmp_path / "run"
    run_training.train(translator, path)
    names = {file.name for file in (path / "vocabulary").iterdir()}
    file = path / name.replace("joint", next(iter(names - {"vocabulary.json"})))
    os.truncate(file, size)
    before = taken()
    if name == "best":
        assert Run.open(path).load().update  # the newest stands in
    else:
        with pytest.raises(RunError, match=file.name):
            load_trained(path)
    assert taken() - before < GIB / 2
