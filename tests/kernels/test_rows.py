"""The layout without padding: every step of every sentence has one row, and nothing else has."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from anaphora.kernels.rows import Rows

LENGTHS = st.lists(st.integers(1, 6), min_size=1, max_size=6)
DEVICE = torch.device("cpu")


def grid(lengths: list[int], steps: int) -> torch.Tensor:
    """Every place holds its step and its sentence, two numbers."""
    step, sentence = torch.meshgrid(torch.arange(steps), torch.arange(len(lengths)), indexing="ij")
    return torch.stack([step, sentence], dim=-1).float()


@given(LENGTHS, st.integers(0, 2))
def test_rows_are_the_steps_of_the_sentences_longest_first(lengths: list[int], spare: int) -> None:
    steps = max(lengths) + spare
    rows = Rows(torch.tensor(lengths), steps, DEVICE)
    order = sorted(range(len(lengths)), key=lambda b: -lengths[b])
    expected = [[t, b] for t in range(max(lengths)) for b in order if t < lengths[b]]
    assert rows.of_batch(grid(lengths, steps)).tolist() == expected
    assert len(rows) == sum(lengths)
    assert rows.active == [sum(t < length for length in lengths) for t in range(max(lengths))]
    assert rows.order_B[rows.back_B].tolist() == list(range(len(lengths)))


@given(LENGTHS, st.integers(0, 2))
def test_a_block_there_and_back_is_itself_with_zeros_behind_the_ends(lengths: list[int], spare: int) -> None:
    steps = max(lengths) + spare
    rows, block = Rows(torch.tensor(lengths), steps, DEVICE), grid(lengths, steps) + 1
    open_TB1 = (torch.arange(steps).unsqueeze(1) < torch.tensor(lengths)).unsqueeze(-1)
    there = rows.of_batch(block)
    assert torch.equal(rows.to_batch(there), block * open_TB1)
    assert torch.equal(rows.to_grid(there), (block * open_TB1)[:, rows.order_B])
    assert torch.equal(rows.of_grid(rows.to_grid(there)), there)


@given(LENGTHS)
def test_each_row_knows_where_its_sentence_stood_before_and_where_it_ends(lengths: list[int]) -> None:
    rows = Rows(torch.tensor(lengths), max(lengths), DEVICE)
    there = rows.of_batch(grid(lengths, max(lengths))).tolist()
    buffer = [[-1, b] for b in rows.order_B.tolist()] + there
    assert [buffer[place] for place in rows.before_R.tolist()] == [[t - 1, b] for t, b in there]
    assert [there[row] for row in rows.last_B.tolist()] == [[lengths[b] - 1, b] for b in rows.order_B.tolist()]


@pytest.mark.parametrize("lengths", [[3, 3], [4]])
def test_a_batch_without_padding_is_not_copied_on_its_way_in(lengths: list[int]) -> None:
    rows, block = Rows(torch.tensor(lengths), max(lengths), DEVICE), grid(lengths, max(lengths))
    assert rows.of_batch(block).data_ptr() == block.data_ptr()
    assert rows.to_batch(rows.of_batch(block)).data_ptr() != block.data_ptr()
