"""A translator beside a language model: their scores add up, and nothing depends on the batch."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from anaphora.errors import ConfigError
from anaphora.protocols import VocabularyInfo
from anaphora.search.ensemble import Fused
from anaphora.search.scoring import score
from tests.networks import build
from tests.searches import beam

from ..batches import pair_batch

SYMBOLS = VocabularyInfo(11, 0, 1, 2, 3)
SMALL = {"embedding": {"size": 8}, "encoder": {"size": 8}, "decoder": {"size": 8}}
SOURCES = [[4, 5, 6, 3], [8, 4, 7, 3], [5, 5, 5, 3]]


def made(task: str, tables: dict[str, Any], seed: int) -> Any:
    symbols = dict.fromkeys(("source", "target", "text"), SYMBOLS)
    model: Any = build(task, tables, symbols, "test.toml")
    model.initialise(seed)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(3)  # so that outputs end and differ
    return model.eval()


def translator() -> Any:
    return made("translate", SMALL, 1).stepper()


def language_model(reads: str = "stream") -> Any:
    tables = {"embedding": {"size": 8}, "recurrence": {"size": 8}, "reads": reads}
    return made("language-model", tables, 2).stepper()


@pytest.mark.parametrize("reads", ["stream", "sentences"])
def test_a_score_is_the_sum_of_both(reads: str) -> None:
    model, targets = language_model(reads), [[5, 6, 3], [7, 3], [4, 4, 4, 3]]
    fused = score(Fused(translator(), model, 0.3), pair_batch(SOURCES, targets))
    alone = score(translator(), pair_batch(SOURCES, targets))
    own = score(model, pair_batch([[model.bos]] * 3, targets))
    for together, one, other in zip(fused, alone, own, strict=True):
        assert together.score == pytest.approx(one.score + 0.3 * other.score, rel=1e-6)
        assert together.weights is not None and one.weights is not None
        assert torch.equal(together.weights, one.weights)


def test_what_is_found_does_not_depend_on_the_batch_and_scores_as_it_was_found() -> None:
    fused = Fused(translator(), language_model(), 0.5)
    found = beam(fused, pair_batch(SOURCES), beam=4, max_length=8)
    for source, hypotheses in zip(SOURCES, found, strict=True):
        assert beam(fused, pair_batch([source]), beam=4, max_length=8) == [hypotheses]
        for hypothesis in hypotheses:
            ids = [*hypothesis.ids, *([SYMBOLS.eos] if hypothesis.finished else [])]
            assert score(fused, pair_batch([source], [ids]))[0].score == pytest.approx(hypothesis.score, rel=1e-12)


def test_the_least_weight_changes_nothing() -> None:
    found = beam(Fused(translator(), language_model(), 1e-30), pair_batch(SOURCES), beam=3, max_length=8)
    plain = beam(translator(), pair_batch(SOURCES), beam=3, max_length=8)
    assert [[one.ids for one in some] for some in found] == [[one.ids for one in some] for some in plain]


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_a_weight_is_above_nothing(weight: float) -> None:
    with pytest.raises(ConfigError, match="a finite weight above 0"):
        Fused(translator(), language_model(), weight)


def test_other_symbols_are_refused(automaton: Callable[..., Any]) -> None:
    with pytest.raises(ConfigError, match="but they have 5 and 11"):
        Fused(translator(), automaton(), 0.2)
