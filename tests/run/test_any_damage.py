"""Whatever happens to one file of a run: it is named, or what is read is what was written."""

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import AnaphoraError
from anaphora.events import Event
from anaphora.run import Run
from anaphora.run.folder import identity
from anaphora.tasks.runs import load_trained
from tests.faults.damage import KINDS, Damage

STORED = Path(__file__).parents[1] / "runs" / "format-2"

CHANGES = st.builds(
    Damage,
    st.sampled_from(KINDS),
    st.floats(0, 1, exclude_max=True),
    st.integers(0, 7),
    st.binary(min_size=1, max_size=8),
)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A run with two checkpoints, the newer one the best."""
    path = shutil.copytree(STORED, tmp_path_factory.mktemp("damage") / "run")
    run = Run.open(path)
    only = run.load("best")
    run.save(only.update + 1, {name: tensor + 1 for name, tensor in only.model.items()}, {"o": torch.ones(3)}, {"a": 1})
    run.save(only.update + 2, {name: tensor + 2 for name, tensor in only.model.items()}, {"o": torch.ones(3)}, {"a": 2})
    run.mark_best(only.update + 2)
    yield run


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "state.json", "manifest.json"])
@given(change=CHANGES)
def test_a_changed_file_of_a_checkpoint_is_named_and_the_one_before_it_used(
    stored: Run, name: str, change: Damage
) -> None:
    newest = stored.checkpoints()[-1]
    file = stored.path / "checkpoints" / f"step-{newest}" / name
    content = file.read_bytes()
    events: list[Event] = []
    try:
        file.write_bytes(change(content))
        found = stored.load("best", events.append, for_training=True)
    except AnaphoraError as error:  # a manifest may have become one of a later format, which is no damage
        assert str(file) in str(error) and "format" in str(error) and name == "manifest.json"
        return
    finally:
        file.write_bytes(content)
    if found.update == newest:
        # white space, say, between the words of a manifest that is otherwise what it was
        assert change(content) == content or name == "manifest.json"
        assert found.state == {"a": 2} and not events
    else:
        assert found.update == newest - 1 and str(file) in str(events[0])


def tables(content: bytes) -> dict[str, Any]:
    return tomllib.loads(content.decode())


@pytest.mark.parametrize("name", ["experiment.toml", "vocabulary/vocabulary.json", "vocabulary/joint", "best"])
@given(change=CHANGES)
def test_a_changed_file_of_the_run_is_named_or_read_as_it_was(stored: Run, name: str, change: Damage) -> None:
    file = stored.path / name
    content = file.read_bytes()
    changed = change(content)
    events: list[Event] = []
    try:
        file.write_bytes(changed)
        model = load_trained(stored.path, report=events.append).model
    except AnaphoraError as error:
        assert Path(name).name in str(error) or "vocabulary" in str(error)
        return
    finally:
        file.write_bytes(content)
    assert model is not None
    if name == "best":
        return  # any checkpoint that it names is whole; where it names none, the newest is used
    if name == "experiment.toml" and identity(tables(changed)) == identity(tables(content)):
        return  # white space, or a bound, which people may change
    assert changed == content or any(file.name in str(event) for event in events)
