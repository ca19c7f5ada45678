"""What may change when a run goes on: where training stops and what carries it there, and where its links lie."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from anaphora.errors import RunError
from anaphora.events import Event, Note
from anaphora.experiment.run_training import train
from anaphora.formats.lines import write_lines
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.registry import parse
from anaphora.tasks.runs import experiment_of

from .test_run_training import changed


def resumed(experiment: ExperimentBase, run: Path) -> list[str]:
    """All that is said where a run goes on."""
    events: list[Event] = []
    train(experiment, run, events.append, resume=True)
    return [event.text for event in events if isinstance(event, Note)]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """So that every part of a training has the same threads, whatever was tested before and is tested next."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize(
    ("bound", "before", "after"),
    [("epochs", 2, 3), ("patience", 5, 3), ("minutes", 0.0, 7.5), ("keep", 2, 4), ("threads", 0, 1)],
)
def test_a_new_bound_is_said_and_is_that_of_the_run_from_then_on(
    bound: str, before: float, after: float, translator: ExperimentBase, tmp_path: Path
) -> None:
    run, other = tmp_path / "run", changed(translator, "training", **{bound: after})
    train(translator, run)
    with pytest.raises(RunError, match=r"begun otherwise: training\.seed was 1 and is 2\. Resume"):
        train(changed(other, "training", seed=2), run, resume=True)
    assert experiment_of(run) == translator
    assert resumed(other, run) == [f"training.{bound} is {after} from here on; it was {before} before."]
    assert experiment_of(run) == other != translator
    assert resumed(experiment_of(run), run) == []


def test_links_may_be_moved_but_not_changed(translator: ExperimentBase, toy_pairs: Path, tmp_path: Path) -> None:
    run, links, moved = tmp_path / "run", tmp_path / "links", tmp_path / "moved"
    write_lines(links, ["0-0"] * 12)
    guided = parse(translator.tables() | {"guided_alignment": {"kind": "file", "file": str(links)}}, "guided.toml")
    elsewhere = changed(guided, "guided_alignment", file=str(moved))
    train(guided, run)
    links.rename(moved)
    assert resumed(elsewhere, run) == [f"guided_alignment.file is the same, and is read from {moved} this time."]
    write_lines(moved, ["0-0"] * 11 + [""])
    with pytest.raises(RunError, match=r"begun otherwise: data/guide has changed\. Resume"):
        train(elsewhere, run, resume=True)
