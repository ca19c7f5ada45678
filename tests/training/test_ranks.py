"""Trainings on one, two and four ranks, in processes of their own: the same order, the same draws, the same weights."""

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import ConfigError, DataError, ReportedError
from anaphora.run import Run
from anaphora.run.weights import as_tensors
from anaphora.training.ranks import ALONE, Ranks
from tests.conftest import AskRanks
from tests.faults.tasks import everything

SIGKILL = 9
TWO = {"training": {"micro_batches": 2}}
SHORT = {"epochs": 1, "validate_every": 2}


@pytest.fixture(scope="module")
def alone(ask_ranks: AskRanks, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What one process leaves of a training with two micro-batches an update."""
    folder = tmp_path_factory.mktemp("alone") / "run"
    ask_ranks(ranks=1, folder=folder, **TWO)
    return everything(folder)


def test_two_ranks_leave_the_bits_of_one(ask_ranks: AskRanks, alone: dict[str, Any], tmp_path: Path) -> None:
    first, second = ask_ranks(ranks=2, folder=tmp_path / "run", **TWO)
    assert first == second and first["reason"] == "epochs"
    assert everything(tmp_path / "run") == alone
    tensors = alone["checkpoints/step-18/optimizer.safetensors"]
    assert b"carry/0/h" in tensors and b"carry/1/h" in tensors  # each micro-batch carries its own state


@pytest.mark.parametrize(("lacking", "optimizer"), [(0, "lazy-adam"), (1, "adam")])
def test_two_ranks_add_up_sparse_gradients_and_may_end_an_epoch_with_fewer_micro_batches_as_one_does(
    ask_ranks: AskRanks, tmp_path: Path, lacking: int, optimizer: str
) -> None:
    training = SHORT | {"micro_batches": 2, "optimizer": optimizer}
    for ranks in (1, 2):
        ask_ranks(ranks=ranks, folder=tmp_path / str(ranks) / "run", lacking=lacking, training=training)
    assert everything(tmp_path / "1" / "run") == everything(tmp_path / "2" / "run")


def test_four_ranks_train_as_one_does(ask_ranks: AskRanks, tmp_path: Path) -> None:
    for ranks in (1, 4):
        ask_ranks(ranks=ranks, folder=tmp_path / str(ranks), training=SHORT | {"micro_batches": 4})
    one, four = (Run.open(tmp_path / str(ranks)) for ranks in (1, 4))
    for name, weight in as_tensors(one.load("latest").model).items():
        torch.testing.assert_close(as_tensors(four.load("latest").model)[name], weight, rtol=0, atol=1e-6)
    first, second = ([line.get("tokens") for line in run.metrics.lines()] for run in (one, four))
    assert first == second


@pytest.mark.parametrize(("rank", "ranks_afterwards"), [(0, 1), (1, 2)])
def test_a_training_whose_rank_is_killed_goes_on_to_the_same_bits(
    ask_ranks: AskRanks, alone: dict[str, Any], tmp_path: Path, rank: int, ranks_afterwards: int
) -> None:
    folder = tmp_path / "run"
    answers = ask_ranks(ranks=2, folder=folder, rank=rank, kill_at=9, **TWO)
    assert answers[rank] == {"signal": SIGKILL}
    assert "lost the others" in answers[1 - rank]["message"] and answers[1 - rank]["code"] == 2
    ask_ranks(ranks=ranks_afterwards, folder=folder, **TWO)
    assert everything(folder) == alone


def test_one_rank_that_is_told_to_stop_stops_all(ask_ranks: AskRanks, alone: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    first, second = ask_ranks(ranks=2, folder=folder, rank=1, stop_at=6, **TWO)
    assert first == second and first["reason"] == "stopped" and first["update"] == 5
    assert ask_ranks(ranks=2, folder=folder, **TWO)[1]["reason"] == "epochs"
    assert everything(folder) == alone


def test_a_loss_that_is_not_finite_on_one_rank_is_skipped_by_all(ask_ranks: AskRanks, tmp_path: Path) -> None:
    fragile = {"optimizer": {"kind": "sgd", "learning_rate": 2.0}, "skip_limit": 2, "divergence_retries": 1}
    request = {"training": fragile | {"micro_batches": 2}, "rank": 1, "fragile": 1.2}
    first, second = ask_ranks(ranks=2, folder=tmp_path / "run", **request)
    assert first["message"].startswith("Training diverged") and first["code"] == 3
    assert second == {"message": "", "code": 3}  # it is reported once
    assert any("fallback" in line for line in Run.open(tmp_path / "run").metrics.lines())


@pytest.mark.parametrize("broken", [4, 5])
def test_a_fault_of_one_rank_is_reported_by_the_first(ask_ranks: AskRanks, tmp_path: Path, broken: int) -> None:
    first, second = ask_ranks(ranks=2, folder=tmp_path / "run", broken=broken, **TWO)
    assert first["message"].removeprefix("Rank 1: ") == f"Batch {broken} cannot be read." and first["code"] == 2
    assert second == {"message": "", "code": 2}


class Recorded(Ranks):
    """A rank among others whose answers are given."""

    def __init__(self, rank: int, others: list[Any]) -> None:
        self.rank, self.size, self._others, self.noted = rank, len(others), others, list[str]()

    def note_fault(self, message: str) -> None:
        self.noted.append(message)

    def all_gather(self, value: Any) -> list[Any]:
        return [value if rank == self.rank else other for rank, other in enumerate(self._others)]


def test_a_process_alone_exchanges_nothing() -> None:
    assert ALONE.all_gather("value") == ALONE.run_on_all(lambda: "value") == ["value"]
    assert ALONE.run_on_each(list) == ALONE.run_on_first(list) == ALONE.broadcast(list) == ALONE.in_turn(list) == []
    with pytest.raises(DataError, match=r"^its own$"):
        ALONE.run_on_all(lambda: (_ for _ in ()).throw(DataError("its own")))


def test_a_fault_elsewhere_is_raised_here_with_its_exit_code() -> None:
    first, second = (Recorded(rank, [([], None), ([], ("wrong", 3))]) for rank in (0, 1))
    with pytest.raises(ReportedError, match=r"^Rank 1: wrong$") as raised:
        first.run_on_all(lambda: 5)
    assert raised.value.exit_code == 3

    def fail() -> None:
        raise DataError("wrong")

    with pytest.raises(ReportedError, match=r"^$"):
        second.run_on_all(fail)
    assert first.noted == second.noted == ["Rank 1: wrong"]


def test_what_differs_between_ranks_is_named() -> None:
    ranks = Recorded(0, [None, {"training.seed": 2, "data": "a"}])
    ranks.run_on_each = lambda act: act()  # type: ignore[method-assign]
    with pytest.raises(ConfigError, match=r"training\.seed is 1 on rank 0 and 2 on rank 1"):
        ranks.check_same({"training.seed": 1, "data": "a"})


@given(st.integers(1, 9), st.integers(1, 9))
def test_every_micro_batch_belongs_to_one_rank(size: int, each: int) -> None:
    numbers = [number for rank in range(size) for number in Recorded(rank, [None] * size).numbers(size * each)]
    assert numbers == list(range(size * each))
