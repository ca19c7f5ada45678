"""``inference.json``: what predictions need of a run, resolved."""

import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.fields.values import Scale
from anaphora.errors import MissingExtraError, RunError
from anaphora.files import DamagedError, json_bytes, seal
from anaphora.run import Run, inference
from anaphora.run.inference import Inference, plain_options
from anaphora.run.summary import about
from anaphora.tasks.runs import inference_of, stored_experiment
from tests.faults.damage import KINDS, Damage

RUNS = Path(__file__).parents[1] / "runs"
TAGGER = Inference(
    format=inference.FORMAT,
    task="tag",
    model="",
    noun="a tagger",
    see="see anaphora predict",
    options={"data": {"language": "en"}},
    network={"kind": "tagger"},
    tensors={"output.weight": "2 x 3 float32"},
    belongs_to={"experiment.toml": "00"},
)
MADE = TAGGER.serialise()
STORED = sorted(file.parent for file in RUNS.glob("**/experiment.toml"))


def older(stored: Path, copy: Path) -> Run:
    """A copy of a stored run as older versions left it."""
    return Run.open(Path(shutil.copytree(stored, copy, ignore=shutil.ignore_patterns(inference.INFERENCE))))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return older(RUNS / "format-2", tmp_path / "run")


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_options_are_read_by_the_names_of_the_experiment(path: Path, tmp_path: Path) -> None:
    run = older(path, tmp_path / "run")
    experiment, options = stored_experiment(run), inference_of(run).experiment(path)
    for table in ("data", "text", "evaluation"):
        for name, value in vars(getattr(options, table, None) or object).items() if hasattr(options, table) else ():
            assert value == getattr(getattr(experiment, table), name)
    assert not hasattr(options, "training") and not hasattr(options.data, "files")


def test_values_that_follow_from_options_come_back_in_their_class() -> None:
    scale = Scale(pen=True, offsets=False, upward=True, mean_D=(1.0, 2.0), deviation_D=(0.5, 1.0))

    class Experiment:
        def __init__(self) -> None:
            self.scale = scale

        def model_dump(self) -> dict[str, Any]:
            return {"task": "trace", "training": {"seed": 1}}

    table = json.loads(json.dumps(plain_options(Experiment(), ())))
    found = TAGGER.with_options({"options": table}).experiment(Path("here"))
    assert vars(found) == {"task": "trace", "scale": scale}
    assert found.with_options({"task": "x"}).task == "x" and found.task == "trace"


@pytest.mark.parametrize("options", [{"scale": {"class": "os"}}, {"scale": 1}, {"scale": {}}])
def test_a_scale_of_another_form_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(DamagedError, match="options of no experiment"):
        TAGGER.with_options({"options": options}).experiment(Path("here"))


def test_it_is_made_once_and_then_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    made = inference_of(run)
    assert made.network and made.tensors["output.bias"] == "450 float32"
    monkeypatch.setattr("anaphora.tasks.runs.load_trained", None)
    assert inference_of(run).with_options({"sha256": ""}) == made.with_options({"sha256": ""})


@pytest.mark.parametrize("change", [{"belongs_to": {}}, {"belongs_to": {"experiment.toml": "0"}}])
def test_one_of_other_options_is_made_anew(run: Run, change: dict[str, Any]) -> None:
    made, file = inference_of(run), run.path / "inference.json"
    file.write_bytes(json_bytes(seal(asdict(made) | change)))
    assert inference_of(run).with_options({"sha256": ""}) == made.with_options({"sha256": ""})
    assert json.loads(file.read_bytes())["format"] == inference.FORMAT


def test_a_changed_one_is_named(run: Run) -> None:
    inference_of(run)
    file = run.path / "inference.json"
    file.write_text(file.read_text().replace("450", "451", 1))
    with pytest.raises(DamagedError, match=r"inference\.json was changed after it was written"):
        inference_of(run)
    assert any("inference.json" in fault for fault in about(run.path).faults)


@given(damage=st.builds(Damage, st.sampled_from(KINDS), st.floats(0, 1, exclude_max=True), st.integers(0, 7)))
def test_any_damage_is_named_or_nothing_else_is_read(damage: Damage, tmp_path_factory: pytest.TempPathFactory) -> None:
    made, path = Inference.parse(MADE, Path("here")), tmp_path_factory.mktemp("damaged")
    (path / "inference.json").write_bytes(damage(MADE))
    try:
        assert inference.read(path) in (made, None)
    except RunError as error:
        assert str(path / "inference.json") in str(error) and "\n" not in str(error)


def test_where_it_has_to_be_made_without_torch_the_extra_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'anaphora\[train\]'"):
        inference_of(run)


def test_a_folder_that_cannot_be_written_to_is_used_all_the_same(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anaphora.files.replace_durably", Mock(side_effect=OSError(30, "Read-only file system")))
    assert inference_of(run).network
    assert not (run.path / "inference.json").exists()
