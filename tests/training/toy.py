"""A tiny carried language model over made-up ids, and a program that trains it in processes that may be killed.

    python -m tests.training.toy          reads one JSON request a line, answers each with one JSON line

Every request runs in a process forked from this one, which has imported everything and computed nothing: a killed
training and its resumption share no more than two runs of a command do, and each costs milliseconds.
"""

import importlib
import json
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from anaphora.batch import Batch, Ids
from anaphora.kernels.device import keep_freed_memory
from anaphora.nn.embedding import Embedding, TableConfig
from anaphora.nn.randomness import apply_dropout
from anaphora.protocols import Carry, Loss
from anaphora.run import Run
from anaphora.training.config import TrainingConfig
from anaphora.training.loop import train

SYMBOLS, WIDTH, ROWS, STEPS = 11, 7, 3, 5
EXPERIMENT = {"task": "toy", "training": {"seed": 3}}
TRAINING = {
    "epochs": 3,
    "validate_every": 4,
    "save_every": 3,
    "seed": 3,
    "schedule": {"kind": "plateau", "patience": 1},
}


class ToyModel(torch.nn.Module):
    """One Elman layer with dropout, whose output layer is tied to one of two embeddings and whose state is carried."""

    def __init__(self) -> None:
        super().__init__()
        source = torch.Generator().manual_seed(5)
        self.embedding = torch.nn.Embedding(SYMBOLS, WIDTH)
        self.own = Embedding(TableConfig(size=WIDTH), SYMBOLS, "own")
        self.recurrent = torch.nn.Linear(2 * WIDTH, WIDTH)
        self.output = torch.nn.Linear(WIDTH, SYMBOLS)
        self.output.weight = self.embedding.weight
        with torch.no_grad():
            for weight in self.parameters():
                weight.copy_(torch.randn(weight.shape, generator=source) * 0.3)

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        batch = batch.to(self.output.weight.device)
        ids_BT = batch.input_ids.ids_BT
        x_BTD = apply_dropout(self.embedding(ids_BT) + self.own(ids_BT), "toy", 0.2, self.training)
        h_BD = carry["h"] * batch.carry_mask_B[:, None] if carry else x_BTD.new_zeros(len(x_BTD), WIDTH)
        total = x_BTD.new_zeros(())
        for step in range(STEPS):
            h_BD = torch.tanh(self.recurrent(torch.cat([x_BTD[:, step], h_BD], dim=1)))
            targets_B = batch.target_ids.ids_BT[:, step]
            total = total + torch.nn.functional.cross_entropy(self.output(h_BD), targets_B, reduction="sum")
        return Loss(total, batch.target_ids.ids_BT.numel()), {"h": h_BD.detach()}


class ToyBatches:
    """Windows of a noisy cycle through the ids, drawn again every epoch."""

    def __init__(self, count: int = 6) -> None:
        self.count = count

    def epoch(self, number: int) -> Sequence[Batch]:
        return list(self._windows(number))

    def _windows(self, number: int) -> Iterator[Batch]:
        source = torch.Generator().manual_seed(number)
        strides_B = torch.randint(1, 4, (ROWS, 1), generator=source)
        ids_BT = (torch.arange(self.count * STEPS + 1) * strides_B) % (SYMBOLS - 4) + 4
        for position in range(self.count):
            start = position * STEPS
            yield _batch(ids_BT[:, start : start + STEPS + 1].numpy(), continues=position > 0)


def _batch(ids_BT: Any, continues: bool) -> Batch:
    lengths_B = np.full(ROWS, STEPS)
    return Batch(
        inputs=Ids(ids_BT[:, :-1], lengths_B),
        targets=Ids(ids_BT[:, 1:], lengths_B),
        example_ids_B=np.arange(ROWS),
        carry_mask_B=np.full(ROWS, continues),
    )


def validate(model: torch.nn.Module) -> dict[str, float]:
    """The mean loss of a held-out epoch, in a jagged disguise so that not every validation is the best one."""
    total, count, carry = 0.0, 0, None
    for batch in ToyBatches().epoch(1000):
        loss, carry = model(batch, carry)
        total, count = total + float(loss.sum), count + loss.count
    mean = total / count
    return {"loss": mean, "jagged": (mean * 1000) % 1}


def make_fragile(model: torch.nn.Module, bound: float) -> None:
    """Let ``model`` lose its mind in training as soon as a weight is larger than ``bound``: its loss is then NaN."""

    def hook(module: torch.nn.Module, inputs: Any, output: tuple[Loss, Carry]) -> tuple[Loss, Carry]:
        loss, carry = output
        broken = module.training and any(float(weight.detach().abs().max()) > bound for weight in module.parameters())
        return (Loss(loss.sum * float("nan"), loss.count) if broken else loss), carry

    model.register_forward_hook(hook)


def conduct(folder: str, training: dict[str, Any], fragile: float) -> None:
    """Start or resume a training in ``folder``."""
    torch.set_num_threads(1)
    path = Path(folder)
    run = Run.open(path) if path.exists() else Run.create(path, EXPERIMENT, {})
    model = ToyModel()
    if fragile:
        make_fragile(model, fragile)
    train(model, ToyBatches(), TrainingConfig.parse(TRAINING | training, "test"), run, validate)


WRITE = os.write
OPERATIONS = ("open", "write", "fsync", "close", "mkdir", "rename", "replace", "unlink", "rmdir", "truncate")


def count_operations(kill_at: int) -> list[int]:
    """Count every file operation from now on, and be killed just before number ``kill_at`` (0: never)."""
    counted = [0]

    def guarded(operation: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            counted[0] += 1
            if counted[0] == kill_at:
                if operation is originals["write"]:  # half of it reaches the disk
                    operation(args[0], bytes(args[1])[: len(args[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return operation(*args, **options)

        return call

    originals = {name: getattr(os, name) for name in OPERATIONS}
    for name, operation in originals.items():
        setattr(os, name, guarded(operation))
    return counted


def page_faults() -> int:
    """Those of asking for a large block a few times, and freeing it."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(4):
        torch.empty(9_000_000).fill_(1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Carry out one request, and say how it went."""
    if request.get("keeps_freed_memory"):
        given_back, known = page_faults(), keep_freed_memory()
        for _ in range(5):
            page_faults()
        return {"given_back": given_back, "known": known, "kept": page_faults()}
    counted = count_operations(request.get("kill_at", 0))
    try:
        if request.get("file_limit"):
            resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_limit"],) * 2)
        conduct(request["folder"], request.get("training", {}), request.get("fragile", 0.0))
    except Exception as error:
        return {"error": type(error).__name__, "message": str(error)}
    return {"operations": counted[0]}


def fork(answer: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """Answer in a process of its own; what is returned waits for that, and returns it or the signal that killed it."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        WRITE(writing, json.dumps(answer()).encode())
        os._exit(0)
    os.close(writing)

    def wait() -> dict[str, Any]:
        with open(reading, "rb") as pipe:
            message = pipe.read()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        found: dict[str, Any] = {"signal": -status} if status < 0 else json.loads(message)
        return found

    return wait


def serve(answer: Callable[[dict[str, Any]], Any]) -> None:
    """Answer requests from standard input, one JSON object a line."""
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    importlib.import_module("torch._dynamo")  # which the first optimizer of a process would import, for two seconds
    serve(lambda request: fork(lambda: answer(request))())
