import os
import resource
from pathlib import Path

import pytest
import tomli_w
import torch

from anaphora.errors import ConfigError, RunError
from anaphora.experiment import memory, run_training
from anaphora.experiment.memory import USUAL, bytes_per_token, fitting_tokens, free_bytes
from anaphora.nn.encoders.gated_convolution import GatedConvolutionConfig
from anaphora.nn.outputs.adaptive import Adaptive
from anaphora.nn.outputs.class_factored import ClassFactored
from anaphora.nn.outputs.full import Full
from anaphora.nn.outputs.hierarchical import Hierarchical
from anaphora.protocols import VocabularyInfo
from anaphora.run import Run
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.runs import experiment_of, load_trained
from tests.conftest import Trained

from .runs import changed

GIB = 1 << 30


def system(root: Path, available: int, groups: str = "", limits: dict[str, tuple[str, str]] | None = None) -> Path:
    """A file system that says this many bytes are free, and what the limits of these control groups are."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text(f"MemTotal: 99999999 kB\nMemFree: 1 kB\nMemAvailable: {available // 1024} kB\n")
    (root / "proc/self/cgroup").write_text(groups)
    for folder, (limit, used) in (limits or {}).items():
        place = root / "sys/fs/cgroup" / folder
        place.mkdir(parents=True, exist_ok=True)
        old = folder.startswith("memory")
        (place / ("memory.limit_in_bytes" if old else "memory.max")).write_text(f"{limit}\n")
        (place / ("memory.usage_in_bytes" if old else "memory.current")).write_text(f"{used}\n")
    return root


def test_without_a_container_the_system_or_the_gpu_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (3 * GIB, 4 * GIB))
    assert 0 < free_bytes(root=tmp_path) < 1 << 60  # which does not say what is free
    assert free_bytes(root=system(tmp_path, 8 * GIB)) == 8 * GIB
    assert free_bytes("cuda", tmp_path) == 3 * GIB
    assert free_bytes() > 0


@pytest.mark.parametrize(
    ("groups", "limits", "free"),
    [
        ("0::/\n", {"": (str(2 * GIB), str(GIB))}, GIB),
        ("0::/\n", {"": ("max", "7")}, 8 * GIB),
        ("0::/a/b\n", {"a": (str(3 * GIB), str(GIB)), "a/b": ("max", str(GIB))}, 2 * GIB),
        ("0::/away/from/here\n", {"": (str(2 * GIB), str(GIB))}, GIB),  # mounted as the root of its own
        ("5:cpu,memory:/x\n1:name=systemd:/x\n", {"memory/x": (str(3 * GIB), str(GIB))}, 2 * GIB),
        ("0::/\n", {"": (str(GIB), str(2 * GIB))}, 0),
    ],
)
def test_container_limits_count(groups: str, limits: dict[str, tuple[str, str]], free: int, tmp_path: Path) -> None:
    assert free_bytes(root=system(tmp_path, 8 * GIB, groups, limits)) == free


def test_a_batch_takes_the_usual_number_or_what_half_of_the_free_memory_holds() -> None:
    model = torch.nn.Sequential(torch.nn.Embedding(50, 20), torch.nn.Linear(20, 30))
    each = bytes_per_token(model, [50], longest=40)
    assert each == 16 * (40 + 20 + 20 + 30)
    weights = 4 * (50 * 20 + 20 * 30 + 30)
    room = 2 * (6 * weights + 1000 * each)
    assert fitting_tokens(model, [50], 40, room) == 1000
    assert fitting_tokens(model, [50], 40, 100 * room) == USUAL
    assert fitting_tokens(model, [50], 40, 0) == 40  # the longest row must go in


def test_an_encoder_that_folds_a_sentence_takes_every_level_of_it() -> None:
    encoder = GatedConvolutionConfig(kind="gated-convolution", size=32, bias=False).build(20)
    short, long = (bytes_per_token(encoder, [], longest=length) for length in (10, 50))
    levels = {10: 5, 50: 25}
    assert long - short >= 2 * 4 * 32 * (levels[50] - levels[10])  # what a level keeps of a position: h and t


@pytest.mark.parametrize("kind", [Full, ClassFactored, Hierarchical, Adaptive])
def test_no_output_keeps_the_scores_of_a_vocabulary(kind: type[Full]) -> None:
    output = kind().build(None, 16, VocabularyInfo(5000, 0, 1, 2, 3))
    wide = sum(weight.shape[1] for weight in output.parameters() if weight.ndim == 2)
    assert bytes_per_token(output, [5000], longest=0) == 16 * wide


# --- what asks for more than there is is refused before it is taken


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


def test_a_batch_beyond_memory_is_refused_where_the_text_fills_it(translator: Experiment, tmp_path: Path) -> None:
    wide = changed(translator, "training.batch_tokens=50000000", "training.epochs=1")
    run_training.train(wide, tmp_path / "run")
    model = torch.nn.Linear(100, 100)
    with pytest.raises(ConfigError, match=r"GiB for a batch of 40,000,000 tokens.*lower training.batch_tokens = 5"):
        memory.check_memory(model, wide, [50], 40, 40_000_000)


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
