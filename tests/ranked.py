"""Trainings on several ranks: processes forked from this one, started as torchrun starts them.

    python -m tests.ranked        reads one JSON request a line, answers each with the list of what every rank said

A request has ``commands``, one for each rank, run in the folders ``at``, or the options of a toy training.
"""

import contextlib
import gc
import importlib
import io
import os
import signal
import socket
import traceback
from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import torch

from anaphora.batch import Batch
from anaphora.cli.app import main
from anaphora.errors import AnaphoraError, DataError
from anaphora.run import Run
from anaphora.run.folder import RunReplica
from anaphora.tasks.registry import TASKS
from anaphora.training.config import TrainingConfig
from anaphora.training.loop import train
from anaphora.training.ranks import join_ranks
from tests.training import toy

COUNT = 6
"""Windows of each stream of the toy in an epoch."""


class ToyStreams:
    """For every micro-batch a stream of its own; at the end of an epoch some may be ``lacking``, one may be broken."""

    def __init__(self, micro_batches: int, lacking: int, broken: int) -> None:
        self._micro_batches, self._lacking, self._broken = micro_batches, lacking, broken

    def epoch(self, number: int) -> Sequence[Batch]:
        streams = [toy.ToyBatches(COUNT).epoch(100 * number + one) for one in range(self._micro_batches)]
        batches = [batch for window in zip(*streams, strict=True) for batch in window]
        return _Epoch(batches[: len(batches) - self._lacking], self._broken)


class _Epoch(list[Batch]):
    def __init__(self, batches: list[Batch], broken: int) -> None:
        super().__init__(batches)
        self._broken = broken

    def __getitem__(self, place: Any) -> Any:
        if place == self._broken:
            raise DataError(f"Batch {place} cannot be read.")
        return super().__getitem__(place)


def train_toy(request: dict[str, Any]) -> dict[str, Any]:
    """Begin or resume a training of the toy, and say how it ended."""
    path, updates = Path(request["folder"]), count(1)
    config = TrainingConfig.parse(toy.TRAINING | request.get("training", {}), "test")
    batches = ToyStreams(config.batches_an_update, request.get("lacking", 0), request.get("broken", -1))
    model = toy.ToyModel()
    with join_ranks() as ranks:
        here = ranks.rank == request.get("rank", -1)  # that something happens to

        def stop() -> bool:
            update = next(updates)
            if here and update == request.get("kill_at"):
                os.kill(os.getpid(), signal.SIGKILL)
            return here and update == request.get("stop_at")

        if here and "fragile" in request:
            toy.make_fragile(model, request["fragile"])
        ranks.run_on_first(lambda: None if path.exists() else Run.create(path, toy.EXPERIMENT, {}))
        run = (Run if ranks.first else RunReplica).open(path)
        outcome = train(model, batches, config, run, toy.validate, stop=stop, ranks=ranks)
        sums = [float(weight.double().sum()) for weight in model.state_dict().values()]
        return {"reason": outcome.reason, "update": outcome.update, "sums": sums}


def give_command(arguments: list[str], at: str) -> dict[str, Any]:
    """Run ``anaphora ARGUMENTS``; its exit code and what it wrote."""
    os.chdir(at)
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = main(arguments)
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}


def answer(request: dict[str, Any], rank: int) -> dict[str, Any]:
    """What one rank does, and says."""
    torch.set_num_threads(1)
    try:
        if "commands" in request:
            return give_command(request["commands"][rank], request["at"][rank])
        return train_toy(request)
    except AnaphoraError as error:
        return {"message": str(error), "code": error.exit_code}
    except BaseException:
        return {"traceback": traceback.format_exc()}


def of_all_ranks(request: dict[str, Any]) -> list[dict[str, Any]]:
    """What each of as many processes as the request has ``ranks`` says, or the signal that killed it."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]

    def answer_at(rank: int) -> dict[str, Any]:
        place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": request["ranks"], "MASTER_PORT": port}
        place |= {"TORCHELASTIC_RESTART_COUNT": request.get("restarts", 0)}
        os.environ.update({name: str(value) for name, value in place.items()})
        os.environ.update(MASTER_ADDR="127.0.0.1", TORCHELASTIC_RUN_ID="test")
        return answer(request, rank)

    waits = [toy.fork(partial(answer_at, rank)) for rank in range(request["ranks"])]
    return [wait() for wait in waits]


if __name__ == "__main__":
    # what every process would import by itself: torch._dynamo is for the first optimizer
    for module in ("torch._dynamo", "anaphora.experiment.run_training", "anaphora.experiment.reading", *TASKS.values()):
        importlib.import_module(module)
    gc.freeze()  # no process looks through it, nor copies the memory that it would mark
    toy.serve(of_all_ranks)
