"""Several models as one: what they expect is averaged, or a language model's score is added to a translator's."""

from typing import Any

import numpy as np
import pytest

from anaphora.batch import Batch
from anaphora.errors import ConfigError
from anaphora.models.language_model import LanguageModel
from anaphora.models.translator import Translator
from anaphora.protocols import Array, VocabularyInfo
from anaphora.search.ensemble import Ensemble, FusedStepper, Mean
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.scoring import score
from tests.networks import made
from tests.searches import beam

from ..batches import pair_batch
from .naive import automaton, written

SOURCE, TARGET = VocabularyInfo(9, 0, 1, 2, 3), VocabularyInfo(11, 0, 1, 2, 3)
SOURCES = [[4, 5, 6, 3], [8, 4, 7, 3], [5, 5, 5, 3]]


SIDES = {"source": SOURCE, "target": TARGET, "text": TARGET}


def translator(seed: int, **tables: Any) -> Any:
    small = {"embedding": {"size": 8}, "encoder": {"size": 8, "cell": "gru"}, "decoder": {"size": 8, "cell": "gru"}}
    return made(Translator, "translate", small | tables, SIDES, seed, factor=3).stepper()


def language_model(reads: str = "stream") -> Any:
    tables = {"embedding": {"size": 8}, "recurrence": {"size": 8}, "reads": reads}
    return made(LanguageModel, "language-model", tables, SIDES, 2, factor=3).stepper()


def found_alone_and_scored(stepper: Any) -> list[tuple[Hypothesis, Batch]]:
    """Outputs with the batches that force them; each is found in any batch, and scores as it was found."""
    pairs = []
    for source, hypotheses in zip(SOURCES, beam(stepper, pair_batch(SOURCES), beam=4, n=3, max_length=8), strict=True):
        assert beam(stepper, pair_batch([source]), beam=4, n=3, max_length=8) == [hypotheses]
        for one, ids in zip(hypotheses, written(hypotheses, TARGET.eos), strict=True):
            given = pair_batch([source], [ids])
            assert score(stepper, given)[0].score == pytest.approx(one.score, rel=1e-12)
            pairs.append((one, given))
    return pairs


def first_step(stepper: Any, sources: list[list[int]]) -> tuple[Array, Array]:
    memory, state, _ = stepper.start(pair_batch(sources))
    step = stepper.advance(memory, state, np.full(len(sources), stepper.bos))
    return step.log_probs_NV, step.weights_NS


@pytest.mark.parametrize("mean", ["arithmetic", "geometric"])
def test_what_members_expect_and_where_they_look_is_averaged(mean: Mean) -> None:
    members = [translator(seed) for seed in (1, 2, 3)]
    together = Ensemble(members, mean)
    expected = [first_step(member, SOURCES) for member in members]
    log_probs, weights = first_step(together, SOURCES)
    rows = np.stack([row.astype(np.float64) for row, _ in expected])
    by_hand = np.log(np.exp(rows).mean(0)) if mean == "arithmetic" else rows.mean(0)
    np.testing.assert_allclose(log_probs, by_hand, rtol=1e-7)
    np.testing.assert_allclose(weights, np.stack([row for _, row in expected]).mean(0), rtol=1e-6)
    if mean == "arithmetic":
        np.testing.assert_allclose(np.exp(log_probs).sum(1), 1.0, rtol=0, atol=1e-6)


@pytest.mark.parametrize("reads", ["stream", "sentences"])
def test_a_score_is_the_sum_of_both(reads: str) -> None:
    model, targets = language_model(reads), [[5, 6, 3], [7, 3], [4, 4, 4, 3]]
    assert found_alone_and_scored(FusedStepper(translator(1), model, 0.5))
    fused = score(FusedStepper(translator(1), model, 0.3), pair_batch(SOURCES, targets))
    alone = score(translator(1), pair_batch(SOURCES, targets))
    own = score(model, pair_batch([[model.bos]] * 3, targets))
    for together, one, other in zip(fused, alone, own, strict=True):
        assert together.score == pytest.approx(one.score + 0.3 * other.score, rel=1e-6)
        assert together.weights is not None and one.weights is not None
        assert np.array_equal(together.weights, one.weights)


CONVOLUTION = {"encoder": {"kind": "gated-convolution", "size": 8}, "attention": "none"}
WINDOW = {"attention": {"score": "dot", "window": "local-m"}, "encoder": {"size": 8, "bidirectional": False}}


@pytest.mark.parametrize(
    ("mean", "other"), [("arithmetic", {}), ("geometric", {}), ("arithmetic", CONVOLUTION), ("arithmetic", WINDOW)]
)
def test_what_is_found_does_not_depend_on_the_batch_and_scores_as_it_was_found(
    mean: Mean, other: dict[str, Any]
) -> None:
    """With one vocabulary, whatever reads and whatever writes; attention is averaged where all have it."""
    members = [translator(4), translator(5, **other)]
    for one, given in found_alone_and_scored(Ensemble(members, mean)):
        assert (one.weights is not None) == (other.get("attention") != "none")
        if one.weights is not None:
            each = [score(member, given)[0].weights for member in members]
            assert np.allclose(one.weights, sum(each) / 2, atol=1e-6)  # type: ignore[arg-type, operator]


def test_what_cannot_be_combined_is_refused() -> None:
    with pytest.raises(ConfigError, match="one has 11 and another 5"):
        Ensemble([translator(1), automaton()])
    with pytest.raises(ConfigError, match="but they have 5 and 11"):
        FusedStepper(translator(1), automaton(), 0.2)
    for weight in 0.0, -1.0, float("nan"), float("inf"):
        with pytest.raises(ConfigError, match="a finite weight above 0"):
            FusedStepper(translator(1), language_model(), weight)
