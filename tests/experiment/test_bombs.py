"""Options and files that ask for more memory than there is are refused before it is taken."""

import os
import resource
from pathlib import Path

import pytest
import tomli_w
import torch
from annotated_types import Le, Lt

from anaphora.config import options_of
from anaphora.errors import ConfigError, RunError
from anaphora.experiment import memory, run_training
from anaphora.run import Run
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.registry import TASKS, find_tasks
from anaphora.tasks.runs import experiment_of, load_trained
from tests.conftest import Trained

from .runs import changed, tables_within

GIB = 1 << 30


def taken() -> int:
    """Bytes that this process has taken at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize(
    ("kind", "setting"), [("translator", "encoder.size=65536"), ("language_model", "embedding.size=65000")]
)
def test_a_network_that_takes_more_than_is_free_is_refused_before_it_is_made(
    kind: str, setting: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda device: GIB // 100)
    experiment = changed(request.getfixturevalue(kind), setting)
    before = taken()
    with pytest.raises(ConfigError, match=r"estimated to take .* GiB .* but 0\.0 GiB are free: lower") as refused:
        run_training.train(experiment, tmp_path / "run")
    assert setting.replace("=", " = ") in str(refused.value)
    assert taken() - before < GIB / 2 and not (tmp_path / "run").exists()


def test_a_batch_of_more_than_is_free_is_refused_unless_the_text_is_shorter(
    translator: ExperimentBase, tmp_path: Path
) -> None:
    wide = changed(translator, "training.batch_tokens=50000000", "training.epochs=1")
    run_training.train(wide, tmp_path / "run")
    model = torch.nn.Linear(100, 100)
    with pytest.raises(ConfigError, match=r"GiB for a batch of 40,000,000 tokens.*lower training.batch_tokens = 5"):
        memory.check_memory(model, wide, [50], 40, 40_000_000)


TIMES_AND_TRIES = {
    *("epochs", "patience", "validate_every", "save_every", "keep", "skip_limit", "divergence_retries", "seed"),
    *("interval", "from_epoch", "warmup", "after", "updates", "model1_iterations", "hmm_iterations"),
    *("min_count", "max_word_pairs"),  # which leave something out
}
"""Whole numbers that take no memory, however large."""


@pytest.mark.parametrize("name", TASKS)
def test_every_whole_number_that_sizes_something_has_an_upper_bound(name: str) -> None:
    tables = {table for task in find_tasks(name) for table in tables_within(task.experiment)}
    unbounded = {
        f"{table.__name__}.{option}"
        for table in tables
        for option, field in options_of(table).items()
        if field.annotation is int and option not in TIMES_AND_TRIES
        if not any(isinstance(one, Le | Lt) for one in field.metadata)
    }
    assert not unbounded and len(tables) > 5


def test_loading_takes_memory_for_the_weights_that_are_there_alone(trained_copy: Trained) -> None:
    run = trained_copy("translator")
    tables = experiment_of(run).tables()
    for part in ("embedding", "encoder", "decoder"):
        tables[part]["size"] = 60_000
    (run / "experiment.toml").write_text(tomli_w.dumps(tables))
    before = taken()
    with pytest.raises(RunError, match=r"model.safetensors: .* should be .* but is"):
        load_trained(run)
    assert taken() - before < GIB / 2


@pytest.mark.parametrize("name", ["experiment.toml", "best", "vocabulary/joint"])
def test_a_file_of_a_run_that_grew_is_never_taken_into_memory(trained_copy: Trained, name: str) -> None:
    run = trained_copy("translator", 'text={tokenizer="bpe",size=300}')
    os.truncate(run / name, 2**40)
    before = taken()
    if name == "best":
        assert Run.open(run).load().update  # the newest stands in
    else:
        with pytest.raises(RunError, match=Path(name).name):
            load_trained(run)
    assert taken() - before < GIB / 2
