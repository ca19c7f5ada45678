"""Batches that a network computes while a command runs.

This is the only file of the comparison that depends on the form of ``Batch``: where that changes, ``rows`` changes, and
no answer does.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from anaphora.batch import Batch, Grid, Ids, Items, Labels, Values

SHOWN = 3


@contextmanager
def watching(see: Callable[[torch.nn.Module, Batch], object]) -> Iterator[None]:
    """Call ``see`` with every network that is given a batch, and the batch, before it computes."""
    depth = 0

    def before(module: torch.nn.Module, arguments: tuple[Any, ...]) -> None:
        nonlocal depth
        if arguments and isinstance(arguments[0], Batch) and not depth:
            see(module, arguments[0])
        depth += 1

    def after(*_: object) -> None:
        nonlocal depth
        depth -= 1

    hooks = register_module_forward_pre_hook(before), register_module_forward_hook(after, always_call=True)
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def batches_seen() -> Iterator[Callable[[], str]]:
    """Collect the batches of training and validation; the value returns them as text, with one line for a batch."""
    found: list[str] = []

    def see(model: torch.nn.Module, batch: Batch) -> None:
        line = f"{'train' if model.training else 'valid'} {rows(batch)}"
        found.append(line if len(found) < SHOWN else hashlib.sha256(line.encode()).hexdigest()[:12])

    with watching(see):
        yield lambda: "\n".join(found)


def rows(batch: Batch) -> str:
    """Return the example, the input and the target of every row without padding, then what else the batch holds."""
    inputs, targets = (_unpadded(value, batch.size) for value in (batch.inputs, batch.targets))
    examples = batch.example_ids_B.tolist()
    columns = zip(examples, inputs, targets, batch.carry_mask_B.tolist(), strict=True)
    more = batch.supervision
    extra = [
        f"{name} {_digest(value) if isinstance(value, torch.Tensor) else value}"
        for name in ("weights_B", "alignments_BTS", "learning_rate_factor", "partition_C")
        if not isinstance(value := getattr(more, name), float | None) or value not in (None, 1.0)
    ]
    each = (f"{number}{'+' * carried}: {read} > {written}" for number, read, written, carried in columns)
    return " | ".join([*each, *extra])


def _unpadded(value: Items | None, count: int) -> list[str]:
    match value:
        case None:
            return [""] * count
        case Ids():
            return [_ids(row[:length]) for row, length in zip(value.ids_BT, value.lengths_B.tolist(), strict=True)]
        case Values():
            found = zip(value.values_BTD, value.lengths_B.tolist(), strict=True)
            return [f"{length} x {_digest(row[:length])}" for row, length in found]
        case Grid():
            return [_digest(row) for row in value.values_BSD]
        case Labels():
            return [str(row) for row in value.classes.tolist()]


def _ids(row: torch.Tensor) -> str:
    return " ".join(map(str, row.tolist()))


def _digest(tensor: torch.Tensor) -> str:
    return hashlib.sha256(tensor.detach().cpu().contiguous().numpy().tobytes()).hexdigest()[:8]
