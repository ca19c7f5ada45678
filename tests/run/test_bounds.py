import hashlib
from collections.abc import Callable
from pathlib import Path

from anaphora.events import Event
from anaphora.run import Run
from anaphora.run.folder import set_bounds

Save = Callable[[Run, int], Path]


def test_bounds_may_change_without_a_word_and_are_written_beside_all_else(run: Run) -> None:
    latest, events, before = run.load("latest"), list[Event](), run.experiment
    set_bounds(run, {"task": "other", "training": {"epochs": 4, "minutes": 7.5, "betas": []}}, latest)
    reopened = Run.open(run.path)
    for opened in (run, reopened):
        assert opened.experiment == before | {"training": before["training"] | {"epochs": 4, "minutes": 7.5}}
    assert reopened.format == run.format
    assert reopened.load("latest", events.append).update == 40 and not events
    assert run.changed_fingerprints(latest) == Run.open(run.path, {"train": "ab12"}).changed_fingerprints(latest) == []


def test_a_checkpoint_that_knows_its_experiment_by_the_bytes_of_the_file_keeps_it(run: Run, save: Save) -> None:
    content, events = (run.path / "experiment.toml").read_bytes(), list[Event]()
    run.fingerprints["experiment.toml"] = hashlib.sha256(content).hexdigest()
    save(run, 50)
    reopened = Run.open(run.path, {"train": "ab12"})
    older = reopened.load("latest", events.append)
    assert older.update == 50 and not events
    assert reopened.changed_fingerprints(older) == []
    set_bounds(reopened, {"training": {"epochs": 4}}, older)
    assert (run.path / "experiment.toml").read_bytes() == content
