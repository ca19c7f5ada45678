"""Runs of every format load for ever; those of a later one are refused."""

import json
import shutil
from pathlib import Path

import pytest
import tomli_w

from anaphora.errors import RunError
from anaphora.events import Event
from anaphora.files import parse_toml
from anaphora.formats.pharaoh import to_pharaoh
from anaphora.run.manifest import FORMAT
from anaphora.run.summary import about
from anaphora.tasks.alignment.predictor import AlignmentPredictor
from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.tasks.runs import load, load_trained
from anaphora.tasks.translation.predictor import TranslationPredictor

STORED = Path(__file__).parents[1] / "runs"


def test_every_format_has_a_stored_run_of_every_kind() -> None:
    for stem in ("format", "kinds", "halfway"):
        found = {folder.name for folder in STORED.glob(f"{stem}-*")}
        assert found == {f"{stem}-{number}" for number in range(1, FORMAT + 1)}


@pytest.mark.parametrize("name", [f"format-{number}" for number in range(1, FORMAT + 1)])
def test_a_stored_run_translates_as_it_did(name: str) -> None:
    events: list[Event] = []
    translator = load(STORED / name, report=events.append)
    assert isinstance(translator, TranslationPredictor) and not events
    expected = json.loads((STORED / name / "translations.json").read_text())
    found = translator.translate([line["source"] for line in expected])
    assert [output.text for output in found] == [line["text"] for line in expected]
    assert [output.score for output in found] == pytest.approx([line["score"] for line in expected], rel=1e-4)
    assert about(STORED / name).format == int(name.removeprefix("format-"))


@pytest.mark.parametrize(
    "stored", [STORED / f"kinds-{number}" for number in range(1, FORMAT + 1)], ids=lambda path: path.name
)
@pytest.mark.parametrize("kind", ["language-model", "counts", "mixture", "aligner"])
def test_a_stored_run_of_another_kind_answers_as_it_did(stored: Path, kind: str) -> None:
    events: list[Event] = []
    model, expected = load(stored / kind, report=events.append), json.loads((stored / "figures.json").read_text())
    if isinstance(model, AlignmentPredictor):
        found = model.align(expected["sources"], expected["targets"])
        assert [to_pharaoh(links) for links in found] == expected["aligner"] and not events
    else:
        assert isinstance(model, LanguageModelPredictor) and not events
        scores = [line.log10 for line in model.score_lines(expected["lines"])]
        assert scores == pytest.approx(expected[kind], rel=1e-4)


def test_another_task_than_the_vocabulary_serves_is_refused(tmp_path: Path) -> None:
    run = shutil.copytree(STORED / f"kinds-{FORMAT}" / "language-model", tmp_path / "run")
    file = run / "experiment.toml"
    table = parse_toml(file.read_text())
    file.write_text(tomli_w.dumps({"format": FORMAT, "task": "translate", "text": table["text"]}))
    with pytest.raises(RunError, match="'translate' needs a vocabulary 'source'"):
        load_trained(run)
