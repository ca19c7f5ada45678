import pytest
import torch

from anaphora.errors import ShapeError
from anaphora.search.scoring import score

from .naive import Make, MakeBatch


def test_a_score_is_the_sum_of_the_log_probabilities_of_its_symbols(automaton: Make, batch: MakeBatch) -> None:
    stepper = automaton(size=6)
    sources, targets = [[4, 7], [5], [3, 3, 9]], [[2, 3, 1], [1], [5, 1, 4, 4]]
    for source, target, found in zip(sources, targets, score(stepper, batch(sources, targets)), strict=True):
        memory, state, _ = stepper.start(batch([source]))
        total, last = 0.0, stepper.bos
        for symbol in target:
            log_probs, _, state, *_ = stepper.advance(memory, state, torch.tensor([last]))
            total, last = total + log_probs[0, symbol].item(), symbol
        assert found.score == total
        assert found.finished == (target[-1] == stepper.eos)
        assert [*found.ids, *([stepper.eos] if found.finished else [])] == target


def test_without_targets_there_is_nothing_to_score(automaton: Make, batch: MakeBatch) -> None:
    with pytest.raises(ShapeError, match="inputs alone"):
        score(automaton(), batch([[4]]))
