"""Runs of every format load for ever; those of a later one are refused."""

import json
import shutil
from pathlib import Path

import pytest

from anaphora.errors import RunError
from anaphora.events import Event
from anaphora.experiment.run_training import train
from anaphora.formats.pharaoh import to_pharaoh
from anaphora.run import Run, upgrade
from anaphora.run.manifest import FORMAT
from anaphora.run.summary import about
from anaphora.run.upgrade import UPGRADES, upgraded
from anaphora.tasks.alignment import AlignmentPredictor
from anaphora.tasks.language_model import LanguageModelPredictor
from anaphora.tasks.runs import experiment_of, load, weights_of_runs
from anaphora.tasks.translation import TranslationPredictor

STORED = Path(__file__).parents[1] / "runs"


def test_every_older_format_has_an_upgrade_and_every_format_a_stored_run() -> None:
    assert set(UPGRADES) == set(range(1, FORMAT))
    assert {folder.name for folder in STORED.glob("format-*")} == {f"format-{n}" for n in range(1, FORMAT + 1)}


@pytest.mark.parametrize("name", [f"format-{number}" for number in range(1, FORMAT + 1)])
def test_a_stored_run_translates_as_it_did(name: str) -> None:
    events: list[Event] = []
    translator = load(STORED / name, report=events.append)
    assert isinstance(translator, TranslationPredictor) and not events
    expected = json.loads((STORED / name / "translations.json").read_text())
    found = translator.translate([line["source"] for line in expected])
    assert [output.text for output in found] == [line["text"] for line in expected]
    assert [output.score for output in found] == pytest.approx([line["score"] for line in expected], rel=1e-4)
    assert about(STORED / name, weights_of_runs).format == int(name.removeprefix("format-"))


KINDS = pytest.mark.parametrize(
    "stored", [STORED / f"kinds-{number}" for number in range(1, FORMAT + 1)], ids=lambda path: path.name
)


@pytest.mark.parametrize("stem", ["kinds", "halfway"])
def test_every_format_has_a_stored_run_of_every_kind(stem: str) -> None:
    assert {folder.name for folder in STORED.glob(f"{stem}-*")} == {f"{stem}-{n}" for n in range(1, FORMAT + 1)}


@KINDS
@pytest.mark.parametrize("kind", ["language-model", "counts", "mixture"])
def test_a_stored_language_model_predicts_as_it_did(stored: Path, kind: str) -> None:
    events: list[Event] = []
    model = load(stored / kind, report=events.append)
    assert isinstance(model, LanguageModelPredictor) and not events
    expected = json.loads((stored / "figures.json").read_text())
    found = [line.log10 for line in model.score_lines(expected["lines"])]
    assert found == pytest.approx(expected[kind], rel=1e-4)


@KINDS
def test_a_stored_aligner_links_as_it_did(stored: Path) -> None:
    events: list[Event] = []
    aligner = load(stored / "aligner", report=events.append)
    assert isinstance(aligner, AlignmentPredictor) and not events
    expected = json.loads((stored / "figures.json").read_text())
    found = aligner.align(expected["sources"], expected["targets"])
    assert [to_pharaoh(links) for links in found] == expected["aligner"]


@KINDS
def test_a_stored_training_goes_on_to_where_it_would_have_ended(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(stored, tmp_path / "stored")
    monkeypatch.chdir(tmp_path / "stored")
    run = Path("language-model")
    outcome = train(experiment_of(run), run, resume=True)
    expected = json.loads(Path("figures.json").read_text())["resumed"]
    assert (outcome.reason, outcome.update) == ("epochs", expected["update"])
    assert outcome.metrics == pytest.approx(expected["metrics"], rel=1e-4)


def test_upgrades_are_taken_one_format_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade, "FORMAT", 3)
    steps = {1: lambda table: table | {"steps": [1]}, 2: lambda table: table | {"steps": [*table["steps"], 2]}}
    monkeypatch.setattr(upgrade, "UPGRADES", steps)
    assert upgraded({"task": "toy"}, 1) == {"task": "toy", "steps": [1, 2]}
    assert upgraded({"steps": []}, 2) == {"steps": [2]}
    assert upgraded({"task": "toy"}, 3) == {"task": "toy"}


@pytest.mark.parametrize("number", [FORMAT + 1, FORMAT + 100])
def test_a_run_of_a_later_format_is_refused_with_both_numbers(number: int, tmp_path: Path) -> None:
    path = shutil.copytree(STORED / f"format-{FORMAT}", tmp_path / "run")
    toml = path / "experiment.toml"
    toml.write_text(toml.read_text().replace(f"format = {FORMAT}", f"format = {number}", 1))
    with pytest.raises(RunError, match=rf"format {number}, but .* up to {FORMAT}: upgrade Anaphora"):
        Run.open(path)
