"""Runs of every format load for ever; those of a later one are refused."""

import json
import shutil
from pathlib import Path

import pytest

from anaphora.errors import RunError
from anaphora.events import Event
from anaphora.pipeline import Translator, load
from anaphora.run import Run, upgrade
from anaphora.run.about import about
from anaphora.run.manifest import FORMAT
from anaphora.run.upgrade import UPGRADES, upgraded

STORED = Path(__file__).parents[1] / "runs"


def test_every_older_format_has_an_upgrade_and_every_format_a_stored_run() -> None:
    assert set(UPGRADES) == set(range(1, FORMAT))
    assert {folder.name for folder in STORED.glob("format-*")} == {f"format-{n}" for n in range(1, FORMAT + 1)}


@pytest.mark.parametrize("name", [f"format-{number}" for number in range(1, FORMAT + 1)])
def test_a_stored_run_translates_as_it_did(name: str) -> None:
    events: list[Event] = []
    translator = load(STORED / name, report=events.append)
    assert isinstance(translator, Translator) and not events
    expected = json.loads((STORED / name / "translations.json").read_text())
    found = translator.translate([line["source"] for line in expected])
    assert [output.text for output in found] == [line["text"] for line in expected]
    assert [output.score for output in found] == pytest.approx([line["score"] for line in expected], rel=1e-4)
    assert about(STORED / name).format == int(name.removeprefix("format-"))


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
