"""What TensorBoard is given: every loss, rate and gradient norm of training, once, also after a resumed run."""

import sys
from pathlib import Path

import numpy as np
import pytest

from anaphora.cli.app import main
from anaphora.errors import MissingExtraError
from anaphora.events import Event, Note, Update, Validated, silent
from anaphora.inspection.board import board
from anaphora.run import Run


def update(number: int, **norms: float) -> Update:
    return Update(number, 1, number, 9, 1, 2.0 / number, 5, 0.1, 3.0, 0.5, gradient_norms=norms)


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Every scalar of a folder: pairs of update and value by name."""
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    found = accumulator.EventAccumulator(str(folder))
    found.Reload()
    return {name: [(one.step, one.value) for one in found.Scalars(name)] for name in found.Tags()["scalars"]}


def report_all(folder: Path, *events: Event) -> list[Event]:
    heard = list[Event]()
    with board(folder, heard.append) as report:
        for event in events:
            report(event)
    return heard


def test_each_event_becomes_its_scalars_and_reaches_the_listener(tmp_path: Path) -> None:
    norms = {"encoder.weights.input0.weight": 3.0, "encoder.weights.input0.bias": 4.0, "table": 1.0}
    events = [Note("begun"), update(1, **norms), Validated(1, 1, {"loss": 1.5, "bleu": 20.0}, True)]
    assert report_all(tmp_path / "board", *events) == events
    expected = {"training/loss": 2.0, "training/learning_rate": 0.1, "gradient_norm/all": 3.0}
    expected |= {"gradient_norm/encoder.input0": 5.0, "gradient_norm/table": 1.0}
    expected |= {"validation/loss": 1.5, "validation/bleu": 20.0}
    found = scalars(tmp_path / "board")
    assert {name: value for name, [(_, value)] in found.items()} == pytest.approx(expected)


def test_a_resumed_training_replaces_what_came_after_its_checkpoint(tmp_path: Path) -> None:
    report_all(tmp_path / "board", Note("no data"))
    assert not (tmp_path / "board").exists()  # nothing is left of a training that never began
    for numbers in ((1, 2, 3, 4), (3, 4, 5)):
        report_all(tmp_path / "board", *map(update, numbers))
    assert [step for step, _ in scalars(tmp_path / "board")["training/loss"]] == [1, 2, 3, 4, 5]


def test_the_command_writes_what_was_logged(tmp_path: Path, toy_book: Path, tiny_language_model: Path) -> None:
    command = ["train", tiny_language_model, "--data", toy_book, "--run", tmp_path / "run"]
    assert main([*map(str, command), "--board", str(tmp_path / "board"), "--set", "training.epochs=1"]) == 0
    lines = [line for line in Run.open(tmp_path / "run").metrics.lines() if "loss" in line]
    found = scalars(tmp_path / "board")
    assert found["training/loss"] == [(line["update"], pytest.approx(line["loss"])) for line in lines]
    assert found["gradient_norm/all"] == [(line["update"], pytest.approx(line["gradient_norm"])) for line in lines]
    squares = np.square([[norm for _, norm in points] for name, points in found.items() if "_norm/" in name])
    assert 2 * squares[0] == pytest.approx(squares.sum(0))  # that of all is first, and the sum of those of the layers


def test_a_missing_extra_is_answered_with_the_pip_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'anaphora\[board\]'"), board(tmp_path, silent):
        pass
