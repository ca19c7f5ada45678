import hashlib
from collections.abc import Callable
from pathlib import Path

from anaphora.events import Event
from anaphora.run import Run
from anaphora.run.folder import set_bounds

Save = Callable[[Run, int], Path]


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
