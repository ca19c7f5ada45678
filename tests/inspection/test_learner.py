"""Each task asks for what was read exactly so many steps before."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from anaphora.inspection.learner import CLOSE, COPIED, SYMBOLS, TASKS, Sequences

distances = st.integers(3, 20)
seeds = st.integers(0, 1000)


def drawn(task: str, distance: int, seed: int) -> Sequences:
    return TASKS[task].draw(distance, 6, torch.Generator().manual_seed(seed))


@given(distances, seeds)
def test_copy_asks_for_each_symbol_at_its_distance(distance: int, seed: int) -> None:
    found = drawn("copy", distance, seed)
    first = len(found.inputs_TBD) - COPIED - distance
    read_ABD = found.inputs_TBD[first : first + COPIED, :, :SYMBOLS]
    assert (read_ABD.argmax(2) == found.targets_AB).all() and (read_ABD.sum(2) == 1).all()
    blanks_TBD = found.inputs_TBD[COPIED:]
    assert not blanks_TBD[:, :, :SYMBOLS].any() and blanks_TBD[:, :, SYMBOLS].sum(0).eq(1).all()


@given(distances, seeds)
def test_recall_asks_for_the_marked_symbol_among_others(distance: int, seed: int) -> None:
    found = drawn("recall", distance, seed)
    marks_TB, cues_TB = found.inputs_TBD[:, :, SYMBOLS], found.inputs_TBD[:, :, SYMBOLS + 1]
    assert marks_TB.sum(0).eq(1).all() and cues_TB[-1].eq(1).all() and cues_TB.sum() == cues_TB.shape[1]
    assert (found.inputs_TBD[-1 - distance, :, :SYMBOLS].argmax(1) == found.targets_AB[0]).all()
    assert found.inputs_TBD[:distance, :, :SYMBOLS].sum(2).eq(1).all()


@given(distances, seeds)
def test_adding_asks_for_the_sum_of_one_number_of_each_half(distance: int, seed: int) -> None:
    found = drawn("adding", distance, seed)
    numbers_TB, marks_TB = found.inputs_TBD.unbind(2)
    assert marks_TB[: distance // 2].sum(0).eq(1).all() and marks_TB[distance // 2 :].sum(0).eq(1).all()
    torch.testing.assert_close(found.targets_AB[0], (numbers_TB * marks_TB).sum(0))
    task = TASKS["adding"]
    answers_ABO = (found.targets_AB + 0.9 * CLOSE).unsqueeze(2)
    assert task.accuracy(answers_ABO, found.targets_AB) == 1
    assert task.accuracy(answers_ABO + 0.2 * CLOSE, found.targets_AB) == 0
