"""Several models as one: what they expect is averaged, and a model beside itself is itself."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from anaphora.errors import ConfigError
from anaphora.protocols import VocabularyInfo
from anaphora.search.ensemble import Ensemble, Mean
from anaphora.search.scoring import score
from tests.networks import build
from tests.searches import beam

from ..batches import pair_batch

SIZE = 11
SOURCE, TARGET = VocabularyInfo(9, 0, 1, 2, 3), VocabularyInfo(SIZE, 0, 1, 2, 3)
BOTH_MEANS = pytest.mark.parametrize("mean", ["arithmetic", "geometric"])


def translator(seed: int, **tables: Any) -> Any:
    small = {"embedding": {"size": 8}, "encoder": {"size": 8, "cell": "gru"}, "decoder": {"size": 8, "cell": "gru"}}
    model: Any = build("translate", small | tables, {"source": SOURCE, "target": TARGET}, "test.toml")
    model.initialise(seed)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(3)  # so that outputs end and differ
    return model.eval()


SOURCES = [[4, 5, 6, 3], [8, 4, 7, 3], [5, 5, 5, 3]]


def first_step(stepper: Any, sources: list[list[int]]) -> tuple[Tensor, Tensor]:
    memory, state, _ = stepper.start(pair_batch(sources))
    step = stepper.advance(memory, state, torch.full((len(sources),), stepper.bos))
    return step.log_probs_NV, step.weights_NS


@BOTH_MEANS
def test_what_members_expect_and_where_they_look_is_averaged(mean: Mean) -> None:
    members = [translator(seed).stepper() for seed in (1, 2, 3)]
    together = Ensemble(members, mean)
    expected = [first_step(member, SOURCES) for member in members]
    log_probs, weights = first_step(together, SOURCES)
    rows = torch.stack([row.double() for row, _ in expected])
    by_hand = rows.exp().mean(0).log() if mean == "arithmetic" else rows.mean(0)
    torch.testing.assert_close(log_probs, by_hand)
    torch.testing.assert_close(weights, torch.stack([row for _, row in expected]).mean(0))
    if mean == "arithmetic":
        torch.testing.assert_close(log_probs.exp().sum(1), torch.ones(3, dtype=torch.float64), rtol=0, atol=1e-6)


@BOTH_MEANS
def test_a_model_beside_itself_is_itself(mean: Mean) -> None:
    alone = translator(1).stepper()
    twice = Ensemble([alone, alone], mean)
    for one, other in zip(
        beam(alone, pair_batch(SOURCES), beam=3, max_length=9),
        beam(twice, pair_batch(SOURCES), beam=3, max_length=9),
        strict=True,
    ):
        assert [found.ids for found in one] == [found.ids for found in other]
        assert [found.score for found in one] == [found.score for found in other]
        assert one[0].weights is not None and other[0].weights is not None
        assert torch.equal(one[0].weights, other[0].weights)


@BOTH_MEANS
def test_what_is_found_does_not_depend_on_the_batch_and_scores_as_it_was_found(mean: Mean) -> None:
    together = Ensemble([translator(seed).stepper() for seed in (4, 5)], mean)
    found = beam(together, pair_batch(SOURCES), beam=4, max_length=8)
    for source, hypotheses in zip(SOURCES, found, strict=True):
        [alone] = beam(together, pair_batch([source]), beam=4, max_length=8)
        assert alone == hypotheses
        for hypothesis in hypotheses:
            ids = [*hypothesis.ids, *([TARGET.eos] if hypothesis.finished else [])]
            [given] = score(together, pair_batch([source], [ids]))
            assert given.score == pytest.approx(hypothesis.score, rel=1e-12)


def test_the_geometric_score_of_an_output_is_the_mean_of_its_scores() -> None:
    members = [translator(seed).stepper() for seed in (1, 2)]
    given = pair_batch(SOURCES[:1], [[5, 6, 3]])
    each = [score(member, given)[0].score for member in members]
    assert score(Ensemble(members, "geometric"), given)[0].score == pytest.approx(sum(each) / 2, rel=1e-6)
    # and the mean of probabilities is never below that of their logarithms
    assert score(Ensemble(members), given)[0].score >= math.fsum(each) / 2 - 1e-9


ARCHITECTURES: dict[str, dict[str, Any]] = {
    "deep LSTM": {"encoder": {"size": 6, "cell": "lstm", "layers": 2}, "decoder": {"size": 6, "cell": "lstm"}},
    "convolution": {"encoder": {"kind": "gated-convolution", "size": 8}, "attention": "none"},
    "window": {"attention": {"score": "dot", "window": "local-m"}, "encoder": {"size": 8, "bidirectional": False}},
    "reversed": {"encoder": {"size": 8, "bidirectional": False, "reversed": True}},
    "without attention": {"attention": "none"},
}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_models_of_other_architectures_are_searched_together(name: str) -> None:
    """With one vocabulary, whatever reads and whatever writes; attention is averaged where all have it."""
    members = [translator(4), translator(5, **ARCHITECTURES[name])]
    together = Ensemble([member.stepper() for member in members])
    found = beam(together, pair_batch(SOURCES), beam=4, n=3, max_length=8)
    attends = ARCHITECTURES[name].get("attention") != "none"
    for source, hypotheses in zip(SOURCES, found, strict=True):
        assert beam(together, pair_batch([source]), beam=4, n=3, max_length=8) == [hypotheses]
        for one in hypotheses:
            ids = [*one.ids, *([TARGET.eos] if one.finished else [])]
            [given] = score(together, pair_batch([source], [ids]))
            assert given.score == pytest.approx(one.score, rel=1e-12)
            assert (one.weights is not None) == attends
            if one.weights is not None:
                each = [score(member.stepper(), pair_batch([source], [ids]))[0].weights for member in members]
                assert torch.allclose(one.weights, sum(each) / 2, atol=1e-6)  # type: ignore[arg-type, operator]


def test_models_of_other_symbols_are_refused() -> None:
    other: Any = build("translate", {}, {"source": SOURCE, "target": VocabularyInfo(12, 0, 1, 2, 3)}, "test.toml")
    with pytest.raises(ConfigError, match="one has 11 and another 12"):
        Ensemble([translator(1).stepper(), other.stepper()])
