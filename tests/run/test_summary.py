import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from anaphora.run import Run
from anaphora.run.logs import Evaluation, Metric
from anaphora.run.summary import about

STORED = Path(__file__).parents[1] / "runs" / "format-2"

Save = Callable[[Run, int], Path]


def test_a_run_is_described_by_its_best_checkpoint(run: Run) -> None:
    run.metrics.append({"update": 10, "validation": {"loss": 1.5, "bleu": None}, "best": True})
    run.metrics.append({"update": 40, "validation": {"loss": 2.5}, "best": False})
    run.evaluations.append(Evaluation("2026-11-21", "test", "step-10", "0.1.0", (Metric("BLEU", 38.0, "raw"),)))
    found = about(run.path)
    assert (found.task, found.format, found.total_parameters) == ("toy", 2, 9)
    assert found.parameters == {"layer": 9}
    assert found.validation == {"loss": 1.5}
    assert found.fingerprints == {"train": "ab12"}
    assert [one.split for one in found.evaluations] == ["test"]
    assert [(one.name, one.best, one.fault) for one in found.checkpoints] == [
        ("step-40", False, ""),
        ("step-30", False, ""),
        ("step-10", True, ""),
    ]
    assert all(one.bytes > 100 for one in found.checkpoints)
    assert json.loads(json.dumps(found.json()))["total_parameters"] == 9


def test_what_was_counted_is_no_parameter(tmp_path: Path) -> None:
    made = Run.create(tmp_path / "run", {"task": "language-model"}, {}, {})
    weights = {"output.weight": torch.zeros(7, 2), "output.counts.observed": torch.zeros(7, dtype=torch.int64)}
    made.save(1, weights, {}, {})
    found = about(made.path)
    assert found.parameters == {"output": 14} and found.total_parameters == 14


def test_damaged_files_are_among_the_faults_and_without_the_best_checkpoint_the_newest_is_described(run: Run) -> None:
    file = run.path / "checkpoints" / "step-30" / "optimizer.safetensors"
    file.write_bytes(file.read_bytes()[:-2])
    (run.path / "checkpoints" / "step-10" / "manifest.json").unlink()
    run.metrics.append({"update": 40, "validation": {"loss": 2.5}})
    found = about(run.path)
    assert [str(file) in fault for fault in found.faults if "step-30" in fault] == [True]
    assert [one.name for one in found.checkpoints if one.fault] == ["step-30", "step-10"]
    assert found.validation == {"loss": 2.5}


def test_the_card_has_the_last_evaluations_and_the_licence_of_a_known_corpus(tmp_path: Path, save: Save) -> None:
    data = {"corpus": "multi30k", "target": "cs"}
    made = Run.create(tmp_path / "run", {"task": "translate", "data": data}, {}, {"train": "ab12"})
    save(made, 10)
    made.mark_best(10)
    opened = Run.open(made.path)
    opened.use = 'anaphora.load("{path}")'
    for value, checkpoint in ((37.0, "step-10"), (38.0, "step-10"), (39.0, "average")):
        opened.evaluations.append(
            Evaluation("2026-11-21T06:00", "test", checkpoint, "0.1.0", (Metric("BLEU", value, "a|b"),))
        )
    opened.write_card({"loss": 1.5})
    card = (made.path / "card.md").read_text()
    words = ("# run", "translate", 'target = "cs"', "Licence: not stated by its source", "- `data/train`", "ab12")
    for one in (*words, "| validation loss | 1.5000 |", 'anaphora.load("run")'):
        assert one in card
    for value, checkpoint in (("38.0000", "step-10"), ("39.0000", "average")):
        assert f"| test | BLEU | {value} | a, b | {checkpoint} | 2026-11-21 |" in card
    assert "37.0000" not in card


@pytest.mark.parametrize(
    ("name", "usable"), [("optimizer.safetensors", True), ("model.safetensors", False), ("manifest.json", False)]
)
def test_a_run_is_usable_while_a_checkpoint_makes_predictions(tmp_path: Path, name: str, usable: bool) -> None:
    path = shutil.copytree(STORED, tmp_path / "run")
    assert about(path).usable
    for step in (path / "checkpoints").iterdir():
        (step / name).write_bytes(b"")
    found = about(path)
    assert found.usable is usable and len(found.faults) == 1
    assert bool(found.parameters) is usable


@pytest.mark.parametrize("name", ["metrics.jsonl", "evaluations.jsonl"])
def test_a_log_that_is_no_file_is_a_fault_and_nothing_waits_for_it(tmp_path: Path, name: str) -> None:
    path = shutil.copytree(STORED, tmp_path / "run")
    os.mkfifo(path / name)
    found = about(path)
    assert any(name in fault and "regular file" in fault for fault in found.faults) and found.usable
    assert not about(Run.create(tmp_path / "new", {"task": "toy"}, {}).path).usable
