"""Translators that copy, and those that attend to one position at once: one model however it is used."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from anaphora.batch import pad
from anaphora.errors import ConfigError
from anaphora.models.translator import Translator
from anaphora.protocols import FeaturedVocabularyInfo
from anaphora.search.ensemble import Ensemble
from anaphora.search.request import SearchRequest
from anaphora.search.sampling import Sampling
from anaphora.search.scoring import score
from anaphora.search.search import search
from tests.networks import build, made

from .four_pairs import ALL, SYMBOLS, assert_an_update_helps, assert_naive_reading, assert_one_model, batch

COPIES: dict[str, Any] = {"output": {"kind": "pointer-generator"}}
HARD: dict[str, Any] = {"attention": {"kind": "hard-monotonic", "jumps": 2}, "decoder": {"input_feeding": False}}
TABLES: dict[str, dict[str, Any]] = {
    "copies": COPIES,
    "copies with the context in the state": COPIES | {"attention": {"query": "current", "context": "state"}},
    "tied": {"output": {"kind": "pointer-generator", "tied": True}, "embedding": {"size": 24}},
    "sampled inputs": COPIES | {"decoder": {"scheduled_sampling": {"kind": "linear", "updates": 1}}},
    "hard": HARD,
    "hard without jumps": HARD | {"attention": {"kind": "hard-monotonic", "order": 0}},
    "hard, any order": HARD | {"attention": {"kind": "hard-monotonic", "monotonic": False, "score": "concat"}},
    "hard with features": HARD | {"features": True},
    "copies with features": COPIES | {"features": True},
    "soft with features": {"decoder": {"layers": 2}, "features": True},
    "hard with dropout": HARD | {"decoder": {"input_feeding": False, "dropout": 0.2, "layers": 2}},
}


def make(name: str) -> Translator:
    sizes = {"embedding": {"size": 8}, "encoder": {"size": 12}, "decoder": {"size": 24}}
    given = {**TABLES[name]}
    symbols = FeaturedVocabularyInfo(*SYMBOLS) if given.pop("features", False) else SYMBOLS
    tables = {table: sizes.get(table, {}) | given.get(table, {}) for table in sizes | given}
    return made(Translator, "translate", tables, symbols)


@pytest.mark.parametrize("name", TABLES)
def test_it_is_one_model_trained_or_stepped_alone_or_in_any_batch(name: str) -> None:
    assert_an_update_helps(make(name))
    assert_one_model(make(name))
    if name == "soft with features":  # they enter every step as if they stood behind each word
        assert_naive_reading(make(name))


@pytest.mark.parametrize("name", ["copies", "hard with features"])
def test_greedy_search_samples_and_ensembles_write_with_forced_scores(name: str) -> None:
    stepper = make(name).stepper()
    for request in (
        SearchRequest(max_length=4),
        SearchRequest(max_length=4, sampling=Sampling(seed=1)),
        SearchRequest(max_length=4, beam=2, n=2),
    ):
        for number, own in enumerate(search(stepper, ALL, request)):
            for one in own:
                targets = pad([one.ids], end=SYMBOLS.eos if one.finished else None)
                [forced] = score(stepper, replace(batch([number]), targets=targets))
                assert forced.score == one.score and one.weights is not None and forced.weights is not None
                np.testing.assert_array_equal(forced.weights, one.weights)
    twice = Ensemble([stepper, make(name).stepper()])
    for alone, together in zip(score(stepper, ALL), score(twice, ALL), strict=True):
        assert together.score == pytest.approx(alone.score, rel=1e-5)


def test_alignments_are_those_of_the_whole_output_and_never_go_back() -> None:
    stepper = make("hard").stepper()
    for found in score(stepper, ALL):
        assert found.weights is not None
        np.testing.assert_allclose(found.weights.sum(1), 1, rtol=1e-5)
        reached = found.weights.cumsum(1)
        assert (np.diff(reached, axis=0) < 1e-6).all()  # no prefix of the source gains
    # the last word decides where the first came from
    one, other = (score(stepper, replace(batch([0]), targets=pad([[4, 5, last]])))[0] for last in (3, 9))
    assert one.weights is not None and other.weights is not None and not np.allclose(one.weights[0], other.weights[0])


def test_rows_without_weight_have_no_gradient() -> None:
    for name in ("copies", "hard"):
        model, weights_B = make(name), np.array([0.0, 2.0, 0.0, 0.0], np.float32)
        weighted = replace(ALL, supervision=replace(ALL.supervision, weights_B=weights_B))
        found = torch.autograd.grad(model(weighted)[0].sum, list(model.parameters()), materialize_grads=True)
        alone = torch.autograd.grad(2 * model(batch([1]))[0].sum, list(model.parameters()), materialize_grads=True)
        torch.testing.assert_close(found, alone, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (HARD | {"decoder": {}}, "decoder.input_feeding"),
        (HARD | {"output": {"kind": "adaptive"}}, "output.kind"),
        (HARD | {"output": {"label_smoothing": 0.1}}, "output.label_smoothing"),
        (HARD | {"guided_alignment": "learn"}, "guided_alignment"),
        (HARD | {"attention": {"kind": "hard-monotonic", "score": "hybrid"}}, "attention.score"),
        (HARD | {"attention": {"kind": "hard-monotonic", "order": 0, "jumps": 3}}, "jumps"),
        (COPIES | {"attention": "none"}, "output.kind"),
        (COPIES | {"attention": {"kind": "gaussian-window"}}, "output.kind"),
    ],
)
def test_options_that_do_not_go_together_are_refused(tables: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build("translate", tables, dict.fromkeys(("source", "target"), SYMBOLS))


def test_copying_needs_one_vocabulary() -> None:
    for task, target in (("translate", SYMBOLS._replace(size=24)), ("language-model", SYMBOLS)):
        with pytest.raises(ConfigError, match="pointer-generator"):
            build(task, COPIES, {"source": SYMBOLS, "target": target, "text": SYMBOLS})
