"""A text as sentences: each line once an epoch, by itself, between its marks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.batch import Batch
from anaphora.data.running_text import TextSentences
from anaphora.errors import DataError
from anaphora.protocols import VocabularyInfo

SYMBOLS = VocabularyInfo(40, pad=0, unk=1, bos=2, eos=3)
LINES = st.lists(st.lists(st.integers(4, 39), max_size=12), min_size=1, max_size=30)


def sentences(lines: list[list[int]], budget: int = 20, seed: int = 1, longest: int = 0) -> TextSentences:
    ids = np.array([3, *(unit for line in lines for unit in [*line, 3])], dtype=np.uint16)
    return TextSentences(ids, SYMBOLS, batch_tokens=budget, seed=seed, longest=longest)


def read(batch: Batch) -> dict[int, list[int]]:
    """What each line of a batch predicts, its input being checked on the way."""
    assert not batch.carry_mask_B.any()
    found = {}
    numbers, inputs, targets = batch.example_ids_B.tolist(), batch.input_ids.ids_BT, batch.target_ids
    for number, before, units, length in zip(numbers, inputs, targets.ids_BT, targets.lengths_B, strict=True):
        row = units[:length].tolist()
        assert before[:length].tolist() == [2, *row[:-1]]
        assert not before[length:].any() and not units[length:].any()
        found[number] = row
    return found


@given(LINES, st.integers(1, 40))
def test_every_line_is_read_once_an_epoch_from_its_begin_to_its_end(lines: list[list[int]], budget: int) -> None:
    for epoch in 1, 2:
        batches = [read(batch) for batch in sentences(lines, budget).epoch(epoch)]
        together = {number: row for batch in batches for number, row in batch.items()}
        assert sum(map(len, batches)) == len(lines)
        assert [together[number] for number in range(len(lines))] == [[*line, 3] for line in lines]
        for batch in batches:
            assert len(batch) == 1 or len(batch) * max(map(len, batch.values())) <= budget


@given(LINES, st.integers(1, 12))
def test_long_lines_are_left_out_and_counted(lines: list[list[int]], longest: int) -> None:
    kept = {number for number, line in enumerate(lines) if len(line) <= longest}
    if not kept:
        with pytest.raises(DataError, match=f"more than {longest} tokens?: raise data.max_length"):
            sentences(lines, longest=longest)
        return
    made = sentences(lines, longest=longest)
    assert {number for batch in made.epoch(1) for number in read(batch)} == kept
    assert made.left_out == len(lines) - len(kept)
