"""A task is one file and one line of the registry."""

from pathlib import Path

import pytest

import anaphora
from anaphora.tasks import registry
from anaphora.tasks.base import ExperimentBase

from .conftest import set_all, shown


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, toy_book: Path) -> Path:
    """The toy is registered; a text for it."""
    monkeypatch.setitem(registry.TASKS, "count-letters", "tests.tasks.toy")
    monkeypatch.chdir(tmp_path)
    return toy_book


def test_a_task_trains_resumes_evaluates_and_predicts(toy: Path) -> None:
    begin = ["train", "letter-counts", "--data", toy]
    assert "Next: echo 'Your text.' | anaphora score whole\n" in shown(*begin, "--run", "whole").err
    shown(*begin, "--run", "parts", *set_all("training.epochs=1"))
    shown("train", "--resume", "--run", "parts", *set_all("training.epochs=3"))
    whole, parts = (anaphora.load(name) for name in ("whole", "parts"))
    assert whole.model.scores.tolist() == parts.model.scores.tolist()
    found = list(whole.predict(iter(["line", "zz"])))
    assert len(found) == 2 and found[0] > -20
    assert shown("evaluate", "whole", "--json").split["nats"] < 0
    refused = shown("evaluate", "whole", "--beam", "3", code=2).err
    assert "whole is a letter counter, which has no use for a beam" in refused
    assert len(shown("score", "whole", toy).lines) == 40


def test_a_task_shows_up_in_settings_recipes_check_and_info(toy: Path) -> None:
    assert "start = 0.0" in shown("settings", "letters").out
    assert "letter-counts" in shown("recipes").out
    shown("check", "letter-counts", "--data", toy, "--trial", "0")
    begin = ["train", "letter-counts", "--data", toy, "--run", "run", "--set"]
    assert "letters.start" in shown(*begin, "letters.start=-1.0", code=2).err
    shown(*begin, "letters.start=1.0")
    info = shown("info", "run").out
    assert "count-letters" in info and "letters.start=1.0" in info
    assert "letters.predict" in Path("run/card.md").read_text()


def test_only_what_is_registered_is_imported() -> None:
    for task in ("os", "anaphora.tasks.translation", "tests.tasks.toy"):
        with pytest.raises(anaphora.AnaphoraError, match=f"task '{task}' is unknown"):
            registry.parse({"task": task}, "x")


def test_every_experiment_of_a_task_is_told_by_its_name() -> None:
    for task in registry.every_task():
        assert issubclass(task.experiment, ExperimentBase)
        assert registry.named_in({"task": task.name} | ({"model": task.model} if task.model else {}), "x") is task
