"""A task is one file and one line of the registry."""

import json
from pathlib import Path

import pytest

import anaphora
from anaphora.cli.app import main
from anaphora.tasks import registry
from anaphora.tasks.base import ExperimentBase


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, toy_book: Path) -> Path:
    """The toy is registered; a folder with its data."""
    monkeypatch.setitem(registry.TASKS, "count-letters", "tests.tasks.toy")
    folder = tmp_path / "book"
    folder.mkdir()
    lines = toy_book.read_text().splitlines(keepends=True)
    for name, chosen in (("train", lines[:30]), ("val", lines[30:35]), ("test", lines[35:])):
        (folder / f"{name}.txt").write_text("".join(chosen))
    monkeypatch.chdir(tmp_path)
    return folder


def test_a_task_trains_resumes_evaluates_and_predicts(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin = ["train", "letter-counts", "--data", str(toy)]
    assert main([*begin, "--run", "whole"]) == 0
    assert "Next: echo 'Your text.' | anaphora score whole\n" in capsys.readouterr().err
    assert main([*begin, "--run", "parts", "--set", "training.epochs=1"]) == 0
    assert main(["train", "--resume", "--run", "parts", "--set", "training.epochs=3"]) == 0
    whole, parts = (anaphora.load(name) for name in ("whole", "parts"))
    assert whole.model.scores.tolist() == parts.model.scores.tolist()
    found = list(whole.predict(iter(["line", "zz"])))
    assert len(found) == 2 and found[0] > -20
    capsys.readouterr()
    assert main(["evaluate", "whole", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["splits"]["test"]["nats"] < 0
    assert main(["evaluate", "whole", "--beam", "3"]) == 2
    assert "whole is a letter counter, which has no use for a beam" in capsys.readouterr().err
    assert main(["score", "whole", str(toy / "test.txt")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5


def test_a_task_shows_up_in_settings_recipes_check_and_info(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", "letters"]) == 0
    assert "start = 0.0" in capsys.readouterr().out
    assert main(["recipes"]) == 0
    assert "letter-counts" in capsys.readouterr().out
    assert main(["check", "letter-counts", "--data", str(toy), "--trial", "0"]) == 0
    assert main(["train", "letter-counts", "--data", str(toy), "--run", "run", "--set", "letters.start=-1.0"]) == 2
    assert "letters.start" in capsys.readouterr().err
    assert main(["train", "letter-counts", "--data", str(toy), "--run", "run", "--set", "start.run=other"]) == 2
    assert "letters start from no other run" in capsys.readouterr().err
    assert main(["train", "letter-counts", "--data", str(toy), "--run", "run", "--set", "letters.start=1.0"]) == 0
    capsys.readouterr()
    assert main(["info", "run"]) == 0
    shown = capsys.readouterr().out
    assert "count-letters" in shown and "letters.start=1.0" in shown
    assert "letters.predict" in Path("run/card.md").read_text()


def test_only_what_is_registered_is_imported(tmp_path: Path) -> None:
    for task in ("os", "anaphora.tasks.translation", "tests.tasks.toy"):
        with pytest.raises(anaphora.AnaphoraError, match=f"task '{task}' is unknown"):
            registry.parse({"task": task}, "x")


def test_every_experiment_of_a_task_is_told_by_its_name() -> None:
    for task in registry.every_task():
        assert issubclass(task.experiment, ExperimentBase)
        assert registry.named_in({"task": task.name} | ({"model": task.model} if task.model else {}), "x") is task
