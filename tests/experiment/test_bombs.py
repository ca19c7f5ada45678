"""Options and files that ask for more memory than there is are refused before it is taken."""

import os
import resource
from pathlib import Path

import pytest
import tomli_w
import torch

from anaphora.errors import ConfigError, RunError
from anaphora.experiment import conduct, memory
from anaphora.experiment.reading import read_experiment
from anaphora.run import Run
from anaphora.tasks.base import ExperimentBase
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
        conduct.train(experiment, tmp_path / "run")
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
    conduct.train(wide, tmp_path / "run")
    model = torch.nn.Linear(100, 100)
    with pytest.raises(ConfigError, match=r"GiB for a batch of 40,000,000 tokens.*lower training.batch_tokens = 5"):
        memory.check_memory(model, wide, [50], 40, 40_000_000)


@pytest.mark.parametrize("setting", ["encoder.size=65537", "encoder.layers=65", "embedding.size=1000000000000"])
def test_sizes_and_layers_have_upper_bounds(translator: ExperimentBase, setting: str) -> None:
    with pytest.raises(ConfigError, match=f"mine.toml: {setting.partition('=')[0]} should be at most"):
        read_experiment(tomli_w.dumps(translator.tables()), "mine.toml", settings=[setting])


def test_loading_takes_memory_for_the_weights_that_are_there_alone(translator: ExperimentBase, tmp_path: Path) -> None:
    conduct.train(translator, tmp_path / "run")
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
    conduct.train(translator, path)
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
