"""New bounds for a run that goes on, written where a person looks for them."""

from collections.abc import Mapping
from typing import Any

import tomli_w

from anaphora import files
from anaphora.run.checkpoint import Checkpoint
from anaphora.run.folder import Run
from anaphora.run.identity import with_bounds
from anaphora.run.layout import EXPERIMENT, store


def set_bounds(run: Run, experiment: Mapping[str, Any], since: Checkpoint | None) -> None:
    """Write the bounds of the tables ``experiment`` into ``experiment.toml``, which is the old or the new one.

    Where the checkpoint ``since`` is of a version that knew the file by its bytes, it stays as it is. Raises RunError
    when the folder is in use or cannot be written to.
    """
    if since is not None and since.fingerprints.get(EXPERIMENT) != run.fingerprints[EXPERIMENT]:
        return
    file = run.path / EXPERIMENT
    with run.lock():
        table = with_bounds(files.parse_toml(files.read(file).decode("utf-8")), experiment)
        store(file, tomli_w.dumps(table).encode())
    run.experiment = with_bounds(run.experiment, experiment)
