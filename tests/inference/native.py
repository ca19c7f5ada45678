"""Networks opened from their descriptions, beside the modules of torch that they are of."""

import json
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import torch

from anaphora.batch import Batch
from anaphora.inference.network import open_network
from anaphora.models.description import describe
from anaphora.run.weights import tensors_of

Array = np.ndarray[Any, Any]
NEAR = {"rtol": 1e-5, "atol": 1e-5}


def opened(model: torch.nn.Module) -> Any:
    """A network from its description, as a file has it."""
    weights = {name: np.ascontiguousarray(tensor.numpy()) for name, tensor in tensors_of(model).items()}
    return open_network(json.loads(json.dumps(describe(model))), weights)


def rows_of(value: Any, rows: slice) -> Any:
    """Some rows of a batch, or of one of its values, without steps that none of them has."""
    if isinstance(value, np.ndarray):
        return value[rows]
    if is_dataclass(value) and not isinstance(value, type):
        whole = ("characters_NL", "lengths_N")
        found = {field.name: getattr(value, field.name) for field in fields(value) if field.name not in whole}
        found = {name: rows_of(one, rows) for name, one in found.items()}
        if "lengths_B" in found:
            steps = int(found["lengths_B"].max())
            found |= {name: one[:, :steps] for name, one in found.items() if name.endswith(("_BT", "_BTD"))}
        return replace(value, **found)
    return value


def stepped(stepper: Any, batch: Batch, ids_TN: Array, hypotheses: int = 2) -> list[Array]:
    """What a stepper answers for each sentence's ``hypotheses``, step by step: ln p, attention and states."""
    start = stepper.start(batch)
    rows_N = np.arange(len(start.memory_lengths_B)).repeat(hypotheses)
    memory, state, found = start.memory, stepper.select(start.state, rows_N), list[Array]()
    for ids_N in ids_TN:
        step = stepper.advance(memory, state, ids_N)
        state = stepper.select(step.state, np.arange(len(rows_N)))
        blocks = step.log_probs_NV, step.weights_NS, step.states_NH
        found += [np.asarray(block).copy() for block in blocks if block is not None]
    return found


def assert_near(found: Any, wanted: Any) -> None:
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), **NEAR)


def assert_stepper(native: Any, model: Any, batch: Batch, ids_TN: Array) -> None:
    """Both answer alike, and each sentence as it does alone."""
    wanted = stepped(model.stepper(), batch, ids_TN)
    found = stepped(native.stepper(), batch, ids_TN)
    assert_near(found, wanted)
    for row in range(batch.size):
        rows = slice(2 * row, 2 * row + 2)
        for one, alone in zip(
            found, stepped(native.stepper(), rows_of(batch, slice(row, row + 1)), ids_TN[:, rows]), strict=True
        ):
            np.testing.assert_array_equal(one[rows, : alone.shape[1]], alone)
