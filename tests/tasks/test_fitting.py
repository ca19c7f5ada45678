"""A model that is fitted in one go, and a process that is killed around its one checkpoint."""

from pathlib import Path

from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.tasks.runs import experiment_of


def test_what_is_missing_around_a_checkpoint_is_put_in_order(count_model: str, toy_book: Path, tmp_path: Path) -> None:
    path = tmp_path / "run"
    train(read_experiment(count_model, "counts.toml", data=[toy_book]), path)
    for name in ("latest", "best"):
        (path / name).unlink()
    (path / "checkpoints" / ".unfinished-half").mkdir()
    train(experiment_of(path), path, resume=True)
    assert {(path / name).read_text() for name in ("latest", "best")} == {"step-1\n"}
    assert [entry.name for entry in (path / "checkpoints").iterdir()] == ["step-1"]
