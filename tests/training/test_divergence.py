"""Losses, gradients and weights that are not finite: skipped, gone back from, and at last given up on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from anaphora.batch import Batch
from anaphora.errors import DivergedError
from anaphora.events import Note, Update
from anaphora.protocols import Loss
from anaphora.training.loop import Outcome
from tests.training import toy

from .conftest import Session, weights_of


class Patient(Session):
    """A toy training whose batches of chosen updates are marked, for ``spoil`` to make them go wrong."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.with_key: set[int] = set()
        self.validate = lambda model: {"loss": 1.0}

    def epoch(self, number: int) -> Sequence[Batch]:
        batches: list[Batch] = list(toy.ToyBatches().epoch(number))
        for position, batch in enumerate(batches):
            if (number - 1) * len(batches) + position + 1 in self.with_key:
                batch.example_ids_B.fill(-(number - 1) * len(batches) - position - 1)
        return batches

    def spoil(self, updates: set[int], where: str = "loss", times: int = 1000) -> None:
        """Let each of ``updates`` give a NaN loss, or NaN gradients alone, the first this many ``times``."""
        self.with_key, left = updates, dict.fromkeys(updates, times)

        def hook(module: torch.nn.Module, inputs: tuple[Batch, Any], output: Any) -> Any:
            update = -int(inputs[0].example_ids_B[0])
            if not left.get(update):
                return output
            left[update] -= 1
            loss, carry = output
            if where == "loss":
                return Loss(loss.sum * float("nan"), loss.count), carry
            zero = module.get_parameter("recurrent.bias").sum() * 0
            return Loss(loss.sum + torch.sqrt(zero), loss.count), carry  # the slope of the root at 0 is infinite

        self.model.register_forward_hook(hook)

    def train(self, batches: Any = None, **training: Any) -> Outcome:
        return super().train(batches or self, **{"save_every": 0, **training})

    def updates(self) -> list[tuple[int, float]]:
        return [(event.update, event.rate) for event in self.of(Update)]


@pytest.fixture
def patient(tmp_path: Path) -> Patient:
    torch.set_num_threads(1)
    return Patient(tmp_path / "run")


@pytest.mark.parametrize("where", ["loss", "gradient"])
def test_an_update_that_is_not_finite_is_skipped_and_leaves_the_weights_alone(patient: Patient, where: str) -> None:
    patient.spoil({3}, where)
    seen: list[dict[str, torch.Tensor]] = []
    carried: list[bool] = []
    patient.model.register_forward_pre_hook(lambda module, inputs: seen.append(weights_of(module)))
    patient.model.register_forward_pre_hook(lambda module, inputs: carried.append(inputs[1] is not None))
    outcome = patient.train(epochs=1, validate_every=100)
    assert outcome.skipped == 1 and outcome.update == 6
    assert carried == [False, True, True, False, True, True]  # nothing is carried on from the skipped one
    assert [update for update, _ in patient.updates()] == [1, 2, 4, 5, 6]
    [told] = [note for note in patient.of(Note) if note.warning]
    assert told.text.startswith("Update 3 is left out: ") and ("nan" in told.text or "inf" in told.text)
    assert all(torch.equal(seen[2][name], seen[3][name]) for name in seen[2])
    assert any(not torch.equal(seen[1][name], seen[2][name]) for name in seen[1])
    assert any("skipped" in line and line["update"] == 3 for line in patient.run.metrics.lines())


def test_a_training_that_is_told_to_stop_by_a_skipped_update_is_saved(patient: Patient) -> None:
    patient.spoil({3})
    patient.stop_when_asked(4)
    outcome = patient.train(epochs=2, validate_every=100)
    assert (outcome.reason, outcome.update, outcome.skipped) == ("stopped", 3, 1)
    assert patient.run.checkpoints() == [3]


@pytest.mark.parametrize("validate_every", [4, 100])
def test_skips_in_a_row_lead_back_to_the_last_checkpoint_or_the_start_with_half_the_rate(
    patient: Patient, validate_every: int
) -> None:
    patient.spoil({5, 6}, times=1)
    seen: list[dict[str, torch.Tensor]] = []
    patient.model.register_forward_pre_hook(lambda module, inputs: seen.append(weights_of(module)))
    outcome = patient.train(epochs=1, validate_every=validate_every, skip_limit=2, schedule="constant")
    back = [(update, 1e-3) for update in range(1, 5)]
    first = 5 if validate_every == 4 else 1
    assert patient.updates() == back + [(update, 5e-4) for update in range(first, 7)]
    assert all(torch.equal(seen[first - 1][name], seen[6][name]) for name in seen[6])
    assert outcome.reason == "epochs"
    [*_, note] = patient.of(Note)
    place = "step-4" if validate_every == 4 else "the start"
    assert note.warning and f"continues from {place} with 0.5 of the learning rate" in note.text
    lines = patient.run.metrics.lines()
    assert [line["update"] for line in lines if "loss" in line] == [1, 2, 3, 4, 5, 6]
    assert [line["rate_factor"] for line in lines if "fallback" in line] == [0.5]


def test_training_gives_up_after_going_back_in_vain_and_keeps_the_good_checkpoint(patient: Patient) -> None:
    patient.spoil({5, 6, 7})
    said = r"update 7: 3 updates in a row .* after each of 2 restarts .* step-4: begin another run .* lower training"
    with pytest.raises(DivergedError, match=said) as caught:
        patient.train(epochs=2, validate_every=4, skip_limit=3, divergence_retries=2)
    assert caught.value.exit_code == 3
    assert patient.run.checkpoints() == [4]
    assert patient.run.load("latest", for_training=True).update == 4


def test_a_new_checkpoint_gives_as_many_tries_again_at_the_lower_rate(patient: Patient) -> None:
    patient.spoil({5, 9}, times=2)
    outcome = patient.train(epochs=2, validate_every=4, skip_limit=1, divergence_retries=2, schedule="constant")
    assert outcome.reason == "epochs"
    assert patient.updates()[-1] == (12, pytest.approx(1e-3 / 16))
    assert patient.run.load("latest").state["cursor"]["fallbacks"] == 4


def test_nothing_is_saved_amid_skipped_updates(patient: Patient) -> None:
    patient.spoil({3, 4}, times=1)
    patient.train(epochs=1, validate_every=100, save_every=2, skip_limit=3)
    assert patient.run.checkpoints() == [2, 6]


def test_weights_that_are_not_finite_are_never_saved(patient: Patient) -> None:
    def hook(*_: Any) -> None:
        with torch.no_grad():
            patient.model.recurrent.bias[0] = float("nan")

    patient.train(epochs=1)
    good = patient.run.checkpoints()
    said = r"recurrent.bias is no longer finite.* the last good checkpoint is step-6"
    with register_optimizer_step_post_hook(hook), pytest.raises(DivergedError, match=said):
        patient.train(epochs=2, validate_every=1)
    assert patient.run.checkpoints() == good


def test_a_training_that_is_told_to_stop_while_its_weights_are_broken_saves_nothing(patient: Patient) -> None:
    patient.spoil({4})

    def poison(*_: Any) -> None:
        if len(patient.updates()) == 2:  # the third step
            with torch.no_grad():
                patient.model.get_parameter("recurrent.bias").fill_(float("nan"))

    patient.stop_when_asked(5)
    with register_optimizer_step_post_hook(poison):
        outcome = patient.train(epochs=2, validate_every=100)
    assert (outcome.reason, outcome.update) == ("stopped", 4)
    assert patient.run.checkpoints() == []


def test_a_validation_that_is_not_finite_amid_skips_is_divergence(patient: Patient) -> None:
    patient.spoil({6}, times=1)
    patient.figures(float("nan"), 1.0, 1.0)
    outcome = patient.train(epochs=1, validate_every=6, schedule="constant")
    assert outcome.reason == "epochs" and outcome.metrics == {"loss": 1.0}
    [_, note] = patient.of(Note)
    assert "validation gave loss nan amid skipped updates" in note.text
    assert [line["update"] for line in patient.run.metrics.lines() if "validation" in line] == [6]
