"""A model card may be passed on: it names no folder of the machine that it was written on."""

from pathlib import Path

import pytest

from anaphora.cli.app import main
from tests.faults.tasks import SAMPLES, Sample

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("sample", [pytest.param(sample, id=sample.name) for sample in SAMPLES])
def test_no_card_names_a_folder(sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    sample.write(work)
    monkeypatch.chdir(work)
    places = [work / part if part in ("data", "run", "experiment.toml") else part for part in sample.training()]
    assert main([str(part) for part in places]) == 0
    main(["evaluate", str(work / "run")])  # some need a text of their own
    card = (work / "run" / "card.md").read_text(encoding="utf-8")
    assert "## Data" in card and str(tmp_path) not in card
