"""What holds of every task: training resumes, data is checked, and runs are compared by the metrics of evaluation."""

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from torch import Tensor

from anaphora.protocols import Loss
from anaphora.run import Run
from anaphora.training import micro_batches
from anaphora.training.reduction import Reduction, reduce_loss
from tests.faults.tasks import SAMPLES, Sample, everything

from .conftest import set_all, shown

SETTINGS = {
    "classify": set_all("classes.balanced=true", "training.schedule=constant"),
    "tag": set_all("output.kind=crf"),
    "transduce": set_all("training.schedule=constant"),
}
"""Options of the trainings that are resumed."""


class Trained(NamedTuple):
    """A sample that was trained, in a folder of its own."""

    sample: Sample
    folder: Path
    counts: list[tuple[int, int]]
    """Predictions by the loss of each batch, and by the batch."""

    @property
    def makes_updates(self) -> bool:
        return "epochs" in self.sample.experiment


def train(sample: Sample, folder: Path, epochs: int, *others: str) -> None:
    sample.write(folder)
    more = set_all(f"training.epochs={epochs}") if "epochs" in sample.experiment else []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        shown(*sample.training(), *SETTINGS.get(sample.name, ()), *more, *others)


@pytest.fixture(scope="module", params=SAMPLES, ids=lambda sample: sample.name)
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Every sample after four epochs."""
    counts: list[tuple[int, int]] = []

    def counting(loss: Loss, rows: int, predictions: int, reduction: Reduction) -> Tensor:
        counts.append((loss.count, predictions))
        return reduce_loss(loss, rows, predictions, reduction)

    folder = tmp_path_factory.mktemp(request.param.name) / "place"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(micro_batches, "reduce_loss", counting)
        train(request.param, folder, epochs=4)
    return Trained(request.param, folder, counts)


def test_resuming_takes_the_same_steps(trained: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train(trained.sample, tmp_path / "place", epochs=3)
    monkeypatch.chdir(tmp_path / "place")
    shown(*trained.sample.resuming())
    assert everything(tmp_path / "place" / "run") == everything(trained.folder / "run")


def test_a_batch_has_as_many_predictions_as_the_loss_counts(trained: Trained) -> None:
    assert bool(trained.counts) is trained.makes_updates
    assert all(counted == predicted for counted, predicted in trained.counts)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_rows_of_any_length_may_count_alike(sample: Sample, tmp_path: Path) -> None:
    if "epochs" not in sample.experiment or sample.name == "classify":  # a class is one prediction anyway
        pytest.skip("rows have no predictions to average")
    outputs = ("softmax", "crf") if sample.name == "tag" else ("",)
    for number, output in enumerate(outputs):
        settings = ["training.reduction=mean_per_sequence", *([f"output.kind={output}"] if output else [])]
        train(sample, tmp_path / f"{number}", 1, *set_all(*settings))
        assert Run.open(tmp_path / f"{number}" / "run").best()


def test_data_is_checked_by_a_trial(trained: Trained, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trained.folder)
    check = ["check", "experiment.toml", "--data", "data", *trained.sample.options.split(), "--json"]
    found = shown(*check, "--trial", "0.1" if trained.makes_updates else "0").json
    assert found["trainable"] and (not trained.makes_updates or found["estimate"]["updates"] > 0)
    if trained.sample.name not in ("trace", "describe"):
        file = next(Path("data").glob("train.*"))
        content = file.read_text()
        file.write_text(content.replace("adg", "a\adg", 1))  # in the second line, or the first of the second sentence
        [control] = [one for one in shown(*check, "--trial", "0").json["findings"] if one["kind"] == "control"]
        assert [(place["file"], place["line"]) for place in control["places"]] == [
            (str(file.absolute()), content[: content.index("adg")].count("\n") + 1)
        ]
        file.write_text(content)


def test_metrics_that_are_compared_are_those_of_evaluation(trained: Trained, tmp_path: Path) -> None:
    if trained.sample.name == "align":
        pytest.skip("an aligner is not evaluated")
    run, copy = (shutil.copytree(trained.folder / "run", tmp_path / name) for name in ("run", "copy"))
    shown("evaluate", run)
    rows = shown("compare", run, copy, "--samples", "20", "--json").json["rows"]
    [evaluation] = Run.open(run).evaluations.lines()
    kept = {metric.name: metric.value for metric in evaluation.metrics}
    found = {row["metric"]: row["value"] for row in rows if row["system"] == str(run)}
    found.pop("perplexity per word", None)  # which is the perplexity itself where tokens are words
    assert found and found == pytest.approx({name: kept[name] for name in found})
    assert all(row["randomisation_p"] == 1 and row["difference"] == 0 for row in rows if row["system"] == str(copy))
