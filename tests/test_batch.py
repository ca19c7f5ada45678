"""Batches: padding, and what moves to a device."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from anaphora.batch import Batch, Constraints, Grid, Ids, Items, Labels, Supervision, Values, pad
from anaphora.errors import ShapeError

META = torch.device("meta")
CPU = torch.device("cpu")
LENGTHS = np.array([3, 1])
IDS = Ids(np.arange(6).reshape(2, 3), LENGTHS)
ITEMS = [
    IDS,
    Values(np.zeros((2, 3, 4)), LENGTHS),
    Grid(np.zeros((2, 5, 4))),
    Labels(np.array([1, 0])),
    Labels(np.array([[0.0, 1.0], [1.0, 1.0]])),
]
EVERY_ITEM = pytest.mark.parametrize("items", ITEMS, ids=lambda items: type(items).__name__)
SUPERVISION = Supervision(np.ones(2), np.zeros((2, 3, 3)), 0.5, np.arange(9))
ON_THE_CPU = {"inputs.lengths_B", "targets.lengths_B", "example_ids_B"} | {
    f"constraints.{name}.lengths_B" for name in ("candidates", "prefixes")
}


def batch(inputs: Items = IDS, targets: Items | None = IDS) -> Batch:
    example_ids_B, carry_mask_B = np.array([7, 4]), np.array([True, False])
    return Batch(inputs, targets, example_ids_B, carry_mask_B, SUPERVISION, Constraints(IDS, IDS))


def arrays(value: object, prefix: str = "") -> dict[str, Any]:
    """Every array or tensor of a value and of the values in it, by its dotted name."""
    found: dict[str, Any] = {}
    for field in fields(value):  # type: ignore[arg-type]
        held, name = getattr(value, field.name), f"{prefix}{field.name}"
        if isinstance(held, Tensor | np.ndarray):
            found[name] = held
        elif hasattr(held, "__dataclass_fields__"):
            found |= arrays(held, f"{name}.")
    return found


def test_all_that_is_computed_with_moves_and_lengths_and_example_ids_stay() -> None:
    moved = arrays(batch().to(META))
    assert moved.keys() == arrays(batch()).keys()
    assert {name for name, tensor in moved.items() if tensor.device == CPU} == ON_THE_CPU
    assert {tensor.device for tensor in moved.values()} == {META, CPU}
    assert batch().to(META).supervision.learning_rate_factor == 0.5
    bare = Batch.of_rows([0, 1], IDS).to(META)
    assert bare.size == 2 and bare.supervision == Supervision() and bare.constraints == Constraints()
    with pytest.raises(ShapeError, match="inputs alone"):
        _ = bare.target_ids


@EVERY_ITEM
def test_items_of_every_kind_move_with_their_batch_and_a_model_of_ids_refuses_all_but_ids(items: Items) -> None:
    given = batch(items, items)
    moved = given.to(META)
    for ours in (moved.inputs, moved.targets):
        assert type(ours) is type(items)
        assert {name for name, tensor in arrays(ours).items() if tensor.device == CPU} <= {"lengths_B"}
        assert [tensor.shape for tensor in arrays(ours).values()] == [t.shape for t in arrays(items).values()]
    if isinstance(items, Ids):
        assert given.input_ids is given.target_ids is items
        assert items.mask_BT.tolist() == [[True, True, True], [True, False, False]]
        assert torch.equal(items.to(CPU).mask_BT, torch.from_numpy(items.mask_BT))
        return
    for side in ("input_ids", "target_ids"):
        with pytest.raises(ShapeError, match=f"are {type(items).__name__}: use"):
            getattr(given, side)


def test_moving_to_where_it_is_copies_nothing() -> None:
    given = batch()
    one = given.to(CPU)
    assert all(np.shares_memory(arrays(one)[name], array) for name, array in arrays(given).items())
    again = arrays(one.to(CPU))
    assert all(again[name] is tensor for name, tensor in arrays(one).items())


@given(
    rows=st.lists(st.lists(st.integers(4, 99), min_size=1, max_size=20), max_size=12),
    value=st.integers(0, 3),
    end=st.none() | st.just(3),
    multiple=st.sampled_from([1, 8, 16]),
)
def test_a_padded_row_is_row_end_and_padding(rows: list[list[int]], value: int, end: int | None, multiple: int) -> None:
    padded = pad([np.array(row, "uint16") for row in rows], value=value, end=end, multiple=multiple)
    whole = [row if end is None else [*row, end] for row in rows]
    longest, width = max(map(len, whole), default=0), padded.ids_BT.shape[1]
    assert padded.ids_BT.dtype == padded.lengths_B.dtype == np.int64
    assert padded.lengths_B.tolist() == [len(row) for row in whole]
    assert longest <= width < longest + multiple and width % multiple == 0
    assert padded.ids_BT.tolist() == [[*row, *[value] * (width - len(row))] for row in whole]
