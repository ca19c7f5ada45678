"""What holds of every task: training resumes, data is checked, and runs are compared by the metrics of evaluation."""

import json
import shutil
from pathlib import Path

import pytest

from anaphora.cli.app import main
from anaphora.run import Run
from tests.faults.tasks import SAMPLES, Sample, everything

EVERY = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
SETTINGS = {
    "classify": ["classes.balanced=true", "training.schedule=constant"],
    "tag": ["output.kind=crf"],
    "transduce": ["training.schedule=constant"],
}
"""Options of the trainings that are resumed."""


@pytest.fixture
def place(sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    sample.write(tmp_path / "place")
    monkeypatch.chdir(tmp_path / "place")
    return tmp_path / "place"


@EVERY
def test_resumed_training_takes_the_same_steps_and_data_is_checked(
    sample: Sample, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = [part for one in SETTINGS.get(sample.name, ()) for part in ("--set", one)]
    begin, found = [*map(str, sample.training()), *settings], []
    for epochs in [["--set", "training.epochs=4"], []] if "epochs" in sample.experiment else [[], []]:
        assert main([*begin, *epochs]) == 0
        if not epochs:
            assert main([*map(str, sample.resuming())]) == 0
        found.append(everything(Path("run")))
        shutil.rmtree("run")
    assert found[0] == found[1]
    capsys.readouterr()
    check = ["check", "experiment.toml", "--data", "data", *sample.options, "--json"]
    assert main([*check, "--trial", "0.1" if "epochs" in sample.experiment else "0"]) == 0
    checked = json.loads(capsys.readouterr().out)
    assert checked["trainable"] and ("epochs" not in sample.experiment or checked["estimate"]["updates"] > 0)


@pytest.mark.parametrize("sample", [one for one in SAMPLES if one.name != "align"], ids=lambda sample: sample.name)
def test_metrics_that_are_compared_are_those_of_evaluation(
    sample: Sample, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(part) for part in sample.training()]) == 0
    assert main(["evaluate", "run"]) == 0
    shutil.copytree("run", "copy")
    capsys.readouterr()
    assert main(["compare", "run", "copy", "--samples", "20", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    [evaluation] = Run.open(Path("run")).evaluations.lines()
    kept = {metric.name: metric.value for metric in evaluation.metrics}
    found = {row["metric"]: row["value"] for row in rows if row["system"] == "run"}
    found.pop("perplexity per word", None)  # which is the perplexity itself where tokens are words
    assert found and found == pytest.approx({name: kept[name] for name in found})
    assert all(row["randomisation_p"] == 1 and row["difference"] == 0 for row in rows if row["system"] == "copy")
